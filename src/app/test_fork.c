// Forking a program for a fault: what the two processes share is taken apart, or there is no second one. The test is the
// forking process and the campaign's at once: it adopts what was forked.
#include "app/app.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Fixture {
  AppExchange *exchange;
  char folder[64], path[128];
} Fixture;

static const char *in_folder(Fixture *fixture, const char *name) {
  snprintf(fixture->path, sizeof fixture->path, "%s/%s", fixture->folder, name);
  return fixture->path;
}

static void write_file(Fixture *fixture, const char *name, const char *text) {
  FILE *file = fopen(in_folder(fixture, name), "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void assert_file(Fixture *fixture, const char *name, const char *text) {
  char bytes[256] = "";
  FILE *file = fopen(in_folder(fixture, name), "r");
  if (text == NULL) {
    assert_null(file);
    return;
  }
  assert_non_null(file);
  assert_int_equal(fread(bytes, 1, sizeof bytes - 1, file), strlen(text));
  fclose(file);
  assert_string_equal(bytes, text);
}

static int set_up(void **state) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  void *memory = mmap(NULL, sizeof(AppExchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (fixture == NULL || memory == MAP_FAILED) return -1;
  fixture->exchange = memory;
  fixture->exchange->place_count = 1;
  fixture->exchange->cpu_seconds = 60;
  sem_init(&fixture->exchange->room, 1, 1);
  snprintf(fixture->folder, sizeof fixture->folder, "%s/redoubt-XXXXXX", P_tmpdir);
  if (mkdtemp(fixture->folder) == NULL) return -1;
  snprintf(fixture->exchange->temporary, sizeof fixture->exchange->temporary, "%s", fixture->folder);
  fixture->exchange->campaign = getpid();
  write_file(fixture, "output0", "before ");
  fixture->exchange->runs[0].output = open(in_folder(fixture, "output0"), O_RDWR);
  fixture->exchange->runs[1].output = open(in_folder(fixture, "output1"), O_RDWR | O_CREAT, 0600);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  Fixture *fixture = *state;
  static const char *const names[] = {"output0", "output1", "log", "result", ("result" APP_FOLDER "/aside")};
  for (size_t i = 0; i < COUNT_OF(names); i++) unlink(in_folder(fixture, names[i]));
  rmdir(in_folder(fixture, "result" APP_FOLDER));
  close(fixture->exchange->runs[0].output);
  close(fixture->exchange->runs[1].output);
  if (rmdir(fixture->folder) != 0) return -1; // nothing else is left there
  munmap(fixture->exchange, sizeof *fixture->exchange);
  free(fixture);
  return 0;
}

// Its exit code; the place is free again.
static int adopt(AppExchange *exchange) {
  int status = -1;
  assert_true(exchange->runs[1].pid > 0);
  assert_int_equal(waitpid(exchange->runs[1].pid, &status, 0), exchange->runs[1].pid);
  exchange->runs[1].pid = 0;
  sem_post(&exchange->room);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool put(int file, const char *text) { return write(file, text, strlen(text)) == (ssize_t)strlen(text); }

static void test_files_are_apart(void **state) {
  Fixture *fixture = *state;
  AppExchange *exchange = fixture->exchange;
  write_file(fixture, "log", "12345678");
  int output = open(in_folder(fixture, "output0"), O_WRONLY), twin = dup(output);
  int log = open(in_folder(fixture, "log"), O_RDONLY | O_CLOEXEC);
  char bytes[5] = "";
  assert_int_equal(lseek(output, 0, SEEK_END), 7);
  assert_int_equal(read(log, bytes, 2), 2);
  int other = open(in_folder(fixture, "result"), O_RDWR | O_CREAT, 0640);
  assert_true(put(other, "other "));
  unlink(fixture->path);
  exchange->runs[0].inside = 3;
  if (app_fork(exchange, 7) != NULL) { // what goes wrong here is told by the exit code
    bool good = put(output, "child ") && put(twin, "too") && read(log, bytes, 4) == 4 && memcmp(bytes, "3456", 4) == 0;
    good = good && put(other, "child") && lseek(other, 0, SEEK_SET) == 0 && read(other, bytes, 5) == 5 && memcmp(bytes, "other", 5) == 0;
    good = good && (fcntl(log, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(output, F_GETFD) & FD_CLOEXEC) == 0;
    _exit(good ? 42 : 1);
  }
  assert_int_equal(exchange->runs[1].draw, 7);
  assert_int_equal(exchange->runs[1].inside, 3);
  assert_true(put(output, "parent"));
  assert_int_equal(adopt(exchange), 42);
  assert_file(fixture, "output0", "before parent");
  assert_file(fixture, "output1", "before child too");
  assert_int_equal(read(log, bytes, 2), 2);
  assert_memory_equal(bytes, "34", 2);
  assert_int_equal(lseek(other, 0, SEEK_CUR), 6);
  assert_int_equal(lseek(other, 0, SEEK_END), 6);
  close(output);
  close(twin);
  close(log);
  close(other);
}

// The file of the forking process moves aside, open or not; what is written meanwhile is under the file's own name.
static void test_outputs(void **state) {
  Fixture *fixture = *state;
  AppExchange *exchange = fixture->exchange;
  exchange->kept_count = 2;
  snprintf(exchange->kept[0], APP_PATH, "%s", in_folder(fixture, "result"));
  snprintf(exchange->kept[1], APP_PATH, "%s", in_folder(fixture, "absent"));
  assert_int_equal(mkdir(in_folder(fixture, "result" APP_FOLDER), 0700), 0);
  int result = open(in_folder(fixture, "result"), O_WRONLY | O_CREAT, 0600);
  assert_true(put(result, "begun "));
  sem_post(&exchange->room); // the test cannot adopt while it waits for that
  if (app_fork(exchange, 0) != NULL) _exit(put(result, "child") ? 0 : 1);
  assert_int_equal(adopt(exchange), 0);
  assert_file(fixture, "result", "begun child");
  assert_file(fixture, "absent", NULL);
  assert_true(put(result, "ended"));
  assert_file(fixture, "result" APP_FOLDER "/aside", "begun ended");
  close(result);
}

static void assert_not_forked(AppExchange *exchange) {
  int room = -1;
  if (app_fork(exchange, 0) != NULL) _exit(0);
  assert_int_equal(exchange->runs[1].pid, 0);
  sem_getvalue(&exchange->room, &room);
  assert_int_equal(room, 1);
}

static void *wait_on(void *barrier) {
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  return NULL;
}

static void test_threads(void **state) {
  pthread_barrier_t barrier;
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  assert_int_equal(pthread_create(&thread, NULL, wait_on, &barrier), 0);
  pthread_barrier_wait(&barrier);
  assert_not_forked(((Fixture *)*state)->exchange);
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
}

// And the output files are back where they were.
static void test_pipes(void **state) {
  Fixture *fixture = *state;
  AppExchange *exchange = fixture->exchange;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  write_file(fixture, "result", "mine");
  exchange->kept_count = 1;
  snprintf(exchange->kept[0], APP_PATH, "%s", in_folder(fixture, "result"));
  assert_int_equal(mkdir(in_folder(fixture, "result" APP_FOLDER), 0700), 0);
  assert_not_forked(exchange);
  assert_file(fixture, "result", "mine");
  close(ends[0]);
  close(ends[1]);
}

static void test_shared_memory(void **state) {
  void *shared = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  assert_not_forked(((Fixture *)*state)->exchange);
  munmap(shared, 1);
}

static void note_child(int sign) { (void)sign; }

// A program that waits for children of its own hears of none.
static void test_nothing_is_heard(void **state) {
  AppExchange *exchange = ((Fixture *)*state)->exchange;
  sigset_t child, pending;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  signal(SIGCHLD, note_child);
  sigprocmask(SIG_BLOCK, &child, NULL);
  if (app_fork(exchange, 0) != NULL) pause(); // until it is killed: its own end is not what is heard
  sigpending(&pending);
  assert_false(sigismember(&pending, SIGCHLD));
  assert_true(exchange->runs[1].pid > 0);
  kill(exchange->runs[1].pid, SIGKILL);
  assert_int_equal(adopt(exchange), -1);
  sigprocmask(SIG_UNBLOCK, &child, NULL);
  signal(SIGCHLD, SIG_DFL);
}

static void test_arguments(void **state) {
  (void)state;
  char *const arguments[] = {"./a b", "output=x", "two\nlines \\n", "", NULL};
  const char *const outputs[] = {"argument=y"};
  AppChoice choice = {.arguments = arguments, .outputs = outputs, .output_count = 1, .temporary = P_tmpdir};
  Arena *arena = arena_new();
  Diags diags = {0};
  Target *target = target_app(arena, &choice, NULL, &diags);
  AppWishes wishes;
  assert_non_null(target);
  assert_true(target_app_read(target->arguments, arena, &wishes));
  assert_int_equal(wishes.arguments.count, 4);
  for (uint32_t i = 0; i < 4; i++) assert_string_equal(wishes.arguments.items[i], arguments[i]);
  assert_int_equal(wishes.outputs.count, 1);
  assert_string_equal(wishes.outputs.items[0], outputs[0]);
  assert_false(target_app_read("size=tiny\nseed=1\n", arena, &wishes));
  target_app_free(target);
  arena_free(arena);
}

static int run_all_tests(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_files_are_apart, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_outputs, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_threads, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_pipes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_shared_memory, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_nothing_is_heard, set_up, tear_down),
      cmocka_unit_test(test_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

// Whoever starts the tests reads what they print through a pipe, which is what cannot be forked: a process without any.
static int run_apart(int output) {
  int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  for (int file = STDERR_FILENO + 1; file < 1024; file++) close(file);
  int code = run_all_tests();
  fflush(NULL);
  return code;
}

int main(void) {
  FILE *output = tmpfile();
  if (output == NULL) return 1;
  pid_t pid = fork();
  if (pid == 0) _exit(run_apart(fileno(output)));
  int status = -1;
  if (waitpid(pid, &status, 0) != pid) return 1;
  rewind(output);
  for (int letter; (letter = fgetc(output)) != EOF;) putchar(letter);
  fclose(output);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
