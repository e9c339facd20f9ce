// Processes: what they tell arrives whole, each end is seen once, and nobody outlives its parent.
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct Message {
  uint64_t tag, turn;
  char filler[512];
} Message;

static _Noreturn void tell_twice(int to, uint64_t tag) {
  for (uint64_t turn = 0; turn < 2; turn++) {
    Message message = {.tag = tag, .turn = turn};
    if (!pipe_write(to, &message, sizeof message)) _exit(99);
  }
  _exit((int)tag);
}

// Jobs that tell: messages of one come in order, its end after them; whoever has ended gives its place to the last.
static void test_telling(void **state) {
  (void)state;
  enum { JOBS = 5 };
  Pool pool = {.running = 0};
  uint64_t turns[JOBS] = {0};
  bool ended[JOBS] = {false};
  for (uint64_t i = 0; i < JOBS; i++) {
    int to = -1;
    PoolSide side = pool_start(&pool, &(PoolWish){.tag = i, .tells = true, .dies_by = SIGKILL, .seconds = 60}, &to);
    if (side == POOL_CHILD) tell_twice(to, i);
    assert_int_equal(side, POOL_PARENT);
  }
  while (pool.running > 0) {
    PoolJob *job = pool_wait(&pool);
    if (job == NULL) continue;
    Message message;
    uint64_t tag = job->tag;
    assert_true(tag < JOBS && !ended[tag]);
    if (pipe_read(job->from, &message, sizeof message)) {
      assert_int_equal(message.tag, tag);
      assert_int_equal(message.turn, turns[tag]++);
    } else {
      int status = pool_end(&pool, job);
      assert_true(WIFEXITED(status) && WEXITSTATUS(status) == (int)tag);
      ended[tag] = true;
    }
  }
  for (uint32_t i = 0; i < JOBS; i++) assert_true(ended[i] && turns[i] == 2);
}

// Jobs that do not: only their end is seen.
static void test_ends(void **state) {
  (void)state;
  enum { JOBS = 4 };
  Pool pool = {.running = 0};
  uint32_t seen = 0;
  for (uint64_t i = 0; i < JOBS; i++) {
    PoolSide side = pool_start(&pool, &(PoolWish){.tag = i, .dies_by = SIGKILL}, NULL);
    if (side == POOL_CHILD) _exit(10 + (int)i);
    assert_int_equal(side, POOL_PARENT);
  }
  while (pool.running > 0) {
    PoolJob *job = pool_wait(&pool);
    if (job == NULL) continue;
    uint64_t tag = job->tag;
    int status = pool_end(&pool, job);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 10 + (int)tag);
    seen |= 1u << tag;
  }
  assert_int_equal(seen, 0xF);
  assert_null(pool_wait(&pool));
}

static void test_signalled(void **state) {
  (void)state;
  Pool pool = {.running = 0};
  for (uint32_t i = 0; i < 3; i++) {
    int to;
    if (pool_start(&pool, &(PoolWish){.tells = true, .dies_by = SIGKILL}, &to) == POOL_CHILD) {
      for (;;) pause();
    }
  }
  assert_int_equal(pool.running, 3);
  assert_null(pool_wait(&pool)); // nobody says anything: it is time to look up
  pool_signal(&pool, SIGKILL);
  while (pool.running > 0) {
    int status = pool_end(&pool, &pool.jobs[0]);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
}

static void test_full(void **state) {
  (void)state;
  Pool *pool = calloc(1, sizeof *pool);
  pool->running = MOST_JOBS;
  assert_int_equal(pool_start(pool, &(PoolWish){.tells = true}, NULL), POOL_FAILED);
  assert_int_equal(errno, EAGAIN);
  free(pool);
}

// The child of a process that ends does so, too: its end of a pipe closes.
static void test_dies_with_parent(void **state) {
  (void)state;
  int ends[2];
  char byte;
  assert_int_equal(pipe(ends), 0);
  pid_t middle = process_fork(SIGKILL);
  if (middle == 0) {
    pid_t inner = process_fork(SIGKILL);
    if (inner == 0 && write(ends[1], "x", 1) == 1) {
      for (;;) pause();
    }
    _exit(read(ends[0], &byte, 1) == 1 ? 3 : 4); // once the inner one has begun
  }
  close(ends[1]);
  assert_int_equal(WEXITSTATUS(process_end(middle)), 3);
  assert_false(pipe_read(ends[0], &byte, 1));
  close(ends[0]);
}

static _Noreturn void work(void) {
  for (volatile uint64_t i = 0;; i++) continue;
}

// How long it is silent at most, within 25 looks.
static uint32_t silence_of(pid_t pid) {
  ProcessWatch watch = {0};
  uint32_t most = 0;
  for (uint32_t i = 0; i < 25; i++) {
    usleep(LOOK_UP_MS * 1000);
    most = max_u32(most, process_silence(&watch, pid));
  }
  kill(pid, SIGKILL);
  process_end(pid);
  return most;
}

// Who waits for one that works is not silent.
static void test_silence(void **state) {
  (void)state;
  pid_t idle = process_fork(SIGKILL);
  if (idle == 0) {
    for (;;) pause();
  }
  assert_int_equal(silence_of(idle), 1); // at the first look it had started
  pid_t busy = process_fork(SIGKILL);
  if (busy == 0) work();
  assert_int_equal(silence_of(busy), 0);
  pid_t waiting = process_fork(SIGKILL);
  if (waiting == 0) {
    pid_t other = process_fork(SIGKILL);
    if (other == 0) work();
    _exit(process_end(other));
  }
  assert_int_equal(silence_of(waiting), 0);
}

// One that never says anything is ended, whatever it was meant to tell.
static void test_silent_job(void **state) {
  (void)state;
  for (int tells = 0; tells < 2; tells++) {
    Pool pool = {.patience = 1};
    int to;
    if (pool_start(&pool, &(PoolWish){.tells = tells != 0, .dies_by = SIGKILL}, &to) == POOL_CHILD) {
      for (;;) raise(SIGSTOP);
    }
    PoolJob *job = NULL;
    for (uint32_t i = 0; job == NULL && i < 100; i++) job = pool_wait(&pool);
    assert_non_null(job);
    assert_int_equal(pool_end(&pool, job), SILENT_END);
  }
}

// And one that has closed its pipe, but does not end.
static void test_silent_end(void **state) {
  (void)state;
  Pool pool = {.patience = 1};
  int to = -1;
  if (pool_start(&pool, &(PoolWish){.tells = true, .dies_by = SIGKILL}, &to) == POOL_CHILD) {
    close(to);
    for (;;) pause();
  }
  PoolJob *job = NULL;
  for (uint32_t i = 0; job == NULL && i < 100; i++) job = pool_wait(&pool);
  assert_non_null(job);
  assert_int_equal(pool_end(&pool, job), SILENT_END);
}

// What it has said before is there.
static void test_read(void **state) {
  (void)state;
  for (int hangs = 0; hangs < 2; hangs++) {
    int ends[2];
    Text text = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t pid = process_fork(SIGKILL);
    if (pid == 0) {
      if (write(ends[1], "said", 4) != 4) _exit(1);
      while (hangs) pause();
      _exit(5);
    }
    close(ends[1]);
    int status = process_read(pid, ends[0], 1, &text);
    assert_int_equal(status, hangs ? SILENT_END : 5 << 8);
    assert_int_equal(text.length, 4);
    text_free(&text);
    close(ends[0]);
  }
}

static void test_notes(void **state) {
  (void)state;
  char note[128];
  process_end_note(SIGXCPU, note, sizeof note);
  assert_non_null(strstr(note, "hung"));
  process_end_note(SILENT_END, note, sizeof note);
  assert_non_null(strstr(note, "did nothing"));
  process_end_note(SIGSEGV, note, sizeof note);
  assert_non_null(strstr(note, "ended by signal 11"));
  process_end_note(7 << 8, note, sizeof note);
  assert_non_null(strstr(note, "exit code 7"));
}

// A program that is started gets the standard files alone, also where there are many others, and gaps between them.
static void test_files(void **state) {
  (void)state;
  pid_t pid = process_fork(SIGKILL);
  if (pid == 0) {
    int files[2] = {-1, -1}, high = -1;
    if (pipe(files) != 0 || (high = dup2(files[0], 200)) != 200) _exit(2);
    process_keep_files();
    bool ours_stay = ((fcntl(files[0], F_GETFD) & fcntl(files[1], F_GETFD) & fcntl(high, F_GETFD)) & FD_CLOEXEC) != 0;
    bool standard_go = fcntl(STDOUT_FILENO, F_GETFD) == 0 && fcntl(STDERR_FILENO, F_GETFD) == 0;
    _exit(ours_stay && standard_go ? 0 : 1);
  }
  assert_int_equal(process_end(pid), 0);
}

int main(void) {
  alarm(120); // whatever should end and does not
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_telling), cmocka_unit_test(test_ends),       cmocka_unit_test(test_signalled),
      cmocka_unit_test(test_full),    cmocka_unit_test(test_notes),      cmocka_unit_test(test_dies_with_parent),
      cmocka_unit_test(test_silence), cmocka_unit_test(test_silent_job), cmocka_unit_test(test_silent_end),
      cmocka_unit_test(test_read),    cmocka_unit_test(test_files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
