// What runs leave behind is found and ended, wherever it has gone, and nothing else is.
#include "app/app.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// A run with this mark that leaves a process of another session behind, which starts others. They hold the pipe; its other end is returned.
static int leave_behind(pid_t campaign, uint32_t seat) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t pid = fork();
  if (pid == 0) {
    app_mark(campaign, seat);
    pid_t server = fork();
    if (server == 0) {
      setsid();
      signal(SIGTERM, SIG_IGN);
      if (fork() == 0) setpgid(0, 0);
      ssize_t told = write(ends[1], "", 1); // one byte from each
      for (; told == 1;) pause();
    }
    _exit(server < 0);
  }
  close(ends[1]);
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  char bytes[2];
  for (int i = 0; i < 2; i++) assert_int_equal(read(ends[0], bytes, 1), 1);
  return ends[0];
}

static bool has_ended(int pipe) { // nobody holds it any more
  char byte;
  return read(pipe, &byte, 1) == 0;
}

static bool is_running(int pipe) {
  struct timeval now = {0};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(pipe, &set);
  return select(pipe + 1, &set, NULL, NULL, &now) == 0; // neither bytes nor an end
}

static void test_one_run(void **state) {
  (void)state;
  int mine = leave_behind(getpid(), 7), other = leave_behind(getpid(), 8);
  assert_int_equal(app_end_left(getpid(), 7), 2);
  assert_true(has_ended(mine));
  assert_true(is_running(other));
  app_end_orphans(); // their campaign lives
  assert_true(is_running(other));
  assert_int_equal(app_end_left(getpid(), 8), 2);
  assert_true(has_ended(other));
  close(mine);
  close(other);
}

static void test_killed_campaign(void **state) {
  (void)state;
  pid_t campaign = fork();
  if (campaign == 0) _exit(0);
  assert_int_equal(waitpid(campaign, NULL, 0), campaign);
  int left = leave_behind(campaign, 1), only_run = leave_behind(campaign, APP_SLOT_RUN);
  assert_true(app_end_orphans() >= 2); // others may be killed just now
  assert_true(has_ended(left));
  assert_true(is_running(only_run)); // 'redoubt run' leaves them to the user
  assert_int_equal(app_end_left(campaign, APP_SLOT_RUN), 2);
  assert_true(has_ended(only_run));
  close(left);
  close(only_run);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_run), cmocka_unit_test(test_killed_campaign)};
  prctl(PR_SET_CHILD_SUBREAPER, 1); // as a campaign
  return cmocka_run_group_tests(tests, NULL, NULL);
}
