// Output files of programs: whatever runs do to them, and however a campaign ends, users have afterwards what they had before.
#include "app/originals.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct Fixture {
  char folder[PATH_MAX], path[PATH_MAX + 64];
  Arena *arena;
  Originals originals;
  Diags diags;
  char said[1024];
} Fixture;

static void note_said(void *context, const char *text) {
  Fixture *fixture = context;
  size_t length = strlen(fixture->said);
  snprintf(fixture->said + length, sizeof fixture->said - length, "%s\n", text);
}

static int set_up(void **state) {
  Fixture *fixture = calloc(1, sizeof *fixture);
  char name[] = P_tmpdir "/redoubt-XXXXXX";
  if (fixture == NULL || mkdtemp(name) == NULL || realpath(name, fixture->folder) == NULL || chdir(name) != 0) return -1;
  fixture->arena = arena_new();
  fixture->originals = (Originals){.arena = fixture->arena, .say = note_said, .context = fixture};
  *state = fixture;
  return 0;
}

// Nothing may be left but what a test has made: it removes that itself.
static int tear_down(void **state) {
  Fixture *fixture = *state;
  int result = chdir("/") == 0 ? rmdir(fixture->folder) : -1;
  arena_free(fixture->arena);
  diags_free(&fixture->diags);
  free(fixture);
  return result;
}

static void put(const char *name, const char *text) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void assert_text(const char *name, const char *text) {
  char bytes[256] = "";
  FILE *file = fopen(name, "r");
  if (text == NULL) {
    assert_null(file);
    return;
  }
  assert_non_null(file);
  size_t count = fread(bytes, 1, sizeof bytes - 1, file);
  fclose(file);
  assert_int_equal(count, strlen(text));
  assert_string_equal(bytes, text);
}

static void assert_link(const char *name, const char *text) {
  char bytes[256] = "";
  assert_int_equal(readlink(name, bytes, sizeof bytes - 1), (ssize_t)strlen(text));
  assert_string_equal(bytes, text);
}

static bool take(Fixture *fixture, const char *name) {
  const char *path = arena_format(fixture->arena, "%s/%s", fixture->folder, name);
  return originals_take(&fixture->originals, path, &fixture->diags);
}

static void assert_refused(Fixture *fixture, const char *name, const char *why) {
  assert_false(take(fixture, name));
  assert_int_equal(fixture->diags.count, 1);
  assert_non_null(strstr(fixture->diags.items[0].text, why));
  originals_give_back(&fixture->originals);
}

// A campaign in a process of its own, which never comes to give anything back.
static void kill_one(Fixture *fixture, const char *name, const char *garbage) {
  pid_t pid = fork();
  if (pid == 0) {
    bool good = take(fixture, name) && originals_place(&fixture->originals);
    if (garbage != NULL) put(name, garbage);
    _exit(good ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

// ---- Ways that end in order ------------------------------------------------------------------------

// Each run finds the user's bytes, rights and time; the file itself comes back.
static void test_file(void **state) {
  Fixture *fixture = *state;
  struct stat before, copy, after;
  put("result", "mine");
  assert_int_equal(link("result", "twin"), 0);
  assert_int_equal(chmod("result", 0640), 0);
  assert_int_equal(utimensat(AT_FDCWD, "result", (struct timespec[2]){{1000, 0}, {2000, 0}}, 0), 0);
  assert_int_equal(stat("result", &before), 0);
  assert_true(take(fixture, "result"));
  for (int run = 0; run < 2; run++) {
    assert_true(originals_place(&fixture->originals));
    assert_text("result", "mine");
    assert_int_equal(stat("result", &copy), 0);
    assert_int_equal(copy.st_mode, before.st_mode);
    assert_int_equal(copy.st_mtime, 2000);
    put("result", "changed in place");
    assert_text("twin", "mine");
  }
  originals_give_back(&fixture->originals);
  assert_text("result", "mine");
  assert_int_equal(stat("result", &after), 0);
  assert_int_equal(after.st_ino, before.st_ino);
  assert_string_equal(fixture->said, "");
  unlink("result");
  unlink("twin");
}

static void test_absent(void **state) {
  Fixture *fixture = *state;
  assert_true(take(fixture, "result"));
  for (int run = 0; run < 2; run++) {
    assert_true(originals_place(&fixture->originals));
    assert_text("result", NULL);
    put("result", "of a run");
  }
  originals_give_back(&fixture->originals);
  assert_text("result", NULL);
}

// The program writes through the link, or puts a file in its place.
static void test_link(void **state) {
  Fixture *fixture = *state;
  put("file", "mine");
  assert_int_equal(symlink("file", "middle"), 0);
  assert_int_equal(symlink("middle", "result"), 0);
  assert_true(take(fixture, "result"));
  assert_true(take(fixture, "file")); // the same file by two names
  for (int run = 0; run < 2; run++) {
    assert_true(originals_place(&fixture->originals));
    assert_link("result", "middle");
    assert_text("result", "mine");
    put("result", "through the link");
    put("other", "in its place");
    assert_int_equal(rename("other", "result"), 0);
  }
  originals_give_back(&fixture->originals);
  assert_link("result", "middle");
  assert_link("middle", "file");
  assert_text("file", "mine");
  unlink("result");
  unlink("middle");
  unlink("file");
}

static void test_link_to_nothing(void **state) {
  Fixture *fixture = *state;
  assert_int_equal(symlink("file", "result"), 0);
  assert_true(take(fixture, "result"));
  assert_true(originals_place(&fixture->originals));
  put("result", "of a run");
  assert_text("file", "of a run");
  originals_give_back(&fixture->originals);
  assert_link("result", "file");
  assert_text("file", NULL);
  unlink("result");
}

// The program makes the folder.
static void test_late_folder(void **state) {
  Fixture *fixture = *state;
  assert_true(take(fixture, "late/result"));
  assert_true(originals_place(&fixture->originals));
  assert_int_equal(mkdir("late", 0700), 0);
  put("late/result", "of a run");
  assert_true(originals_place(&fixture->originals));
  assert_text("late/result", NULL);
  assert_int_equal(access("late/result.redoubt", F_OK), 0); // it can be forked from now on
  put("late/result", "of a run");
  originals_give_back(&fixture->originals);
  assert_int_equal(rmdir("late"), 0);
}

// ---- Refused: nothing is touched -------------------------------------------------------------------

static void test_refused(void **state) {
  Fixture *fixture = *state;
  assert_int_equal(mkdir("folder", 0700), 0);
  assert_refused(fixture, "folder", "is a folder");
  rmdir("folder");
}

static void test_circle(void **state) {
  Fixture *fixture = *state;
  assert_int_equal(symlink("circle", "circle"), 0);
  assert_refused(fixture, "circle", "link to link");
  assert_link("circle", "circle");
  unlink("circle");
}

static void test_in_the_way(void **state) {
  Fixture *fixture = *state;
  put("result", "mine");
  put("result.redoubt", "mine, too");
  assert_refused(fixture, "result", "is in the way");
  assert_text("result", "mine");
  assert_text("result.redoubt", "mine, too");
  unlink("result");
  unlink("result.redoubt");
}

static void test_folder_in_the_way(void **state) {
  Fixture *fixture = *state;
  assert_int_equal(mkdir("result.redoubt", 0700), 0);
  put("result.redoubt/notes", "mine");
  assert_refused(fixture, "result", "is in the way");
  assert_text("result.redoubt/notes", "mine");
  unlink("result.redoubt/notes");
  assert_true(take(fixture, "result")); // an empty one will do, and stays
  originals_give_back(&fixture->originals);
  assert_int_equal(rmdir("result.redoubt"), 0);
}

static void test_taken(void **state) {
  Fixture *fixture = *state;
  put("result", "mine");
  assert_true(take(fixture, "result"));
  Originals other = {.arena = fixture->arena};
  const char *path = arena_format(fixture->arena, "%s/result", fixture->folder);
  assert_false(originals_take(&other, path, &fixture->diags));
  assert_non_null(strstr(fixture->diags.items[0].text, "another run"));
  originals_give_back(&other);
  originals_give_back(&fixture->originals);
  assert_text("result", "mine");
  unlink("result");
}

// ---- Killed ----------------------------------------------------------------------------------------

static void test_killed(void **state) {
  Fixture *fixture = *state;
  put("result", "mine");
  kill_one(fixture, "result", "garbage");
  assert_text("result", "garbage");
  assert_true(take(fixture, "result"));
  assert_non_null(strstr(fixture->said, "result: put back; a run that was killed had moved it away. What stood in its place is kept as"));
  assert_true(originals_place(&fixture->originals));
  assert_text("result", "mine");
  originals_give_back(&fixture->originals);
  assert_text("result", "mine");
  assert_text("result.left", "garbage"); // who knows whose it is
  unlink("result");
  unlink("result.left");
}

static void test_killed_early(void **state) {
  Fixture *fixture = *state;
  put("result", "mine");
  kill_one(fixture, "result", NULL);
  put("result.left", "of another time");
  assert_true(take(fixture, "result"));
  assert_non_null(strstr(fixture->said, "put back"));
  assert_null(strstr(fixture->said, "in its place"));
  originals_give_back(&fixture->originals);
  assert_text("result", "mine");
  assert_text("result.left", "of another time");
  unlink("result");
  unlink("result.left");
}

static void test_killed_absent(void **state) {
  Fixture *fixture = *state;
  put("result.left", "of another time");
  kill_one(fixture, "result", "garbage");
  assert_true(take(fixture, "result"));
  assert_non_null(strstr(fixture->said, "was left by a run that was killed"));
  assert_true(originals_place(&fixture->originals));
  assert_text("result", NULL);
  originals_give_back(&fixture->originals);
  assert_text("result.left", "of another time");
  assert_text("result.left-2", "garbage");
  unlink("result.left");
  unlink("result.left-2");
}

static void test_killed_link(void **state) {
  Fixture *fixture = *state;
  put("file", "mine");
  assert_int_equal(symlink("file", "result"), 0);
  kill_one(fixture, "result", "garbage");
  unlink("result");
  put("result", "in its place");
  assert_true(take(fixture, "result"));
  originals_give_back(&fixture->originals);
  assert_link("result", "file");
  assert_text("file", "mine");
  assert_text("result.left", "in its place");
  assert_text("file.left", "garbage");
  unlink("result");
  unlink("file");
  unlink("result.left");
  unlink("file.left");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_file, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_link, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_link_to_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_late_folder, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_circle, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_in_the_way, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_folder_in_the_way, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_taken, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_killed_early, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_killed_absent, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_killed_link, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
