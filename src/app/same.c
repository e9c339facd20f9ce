// A program that is to be judged does the same in every run without faults. If it does not, users are told what differs: the exit code, a
// line of standard output or of a file, a copy from the device, or the time.
#include "app/app_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Two runs --------------------------------------------------------------------------------------

static void add_copies(const AppCopies *before, const AppCopies *now, Text *out) {
  uint64_t at = 0, most = min_u64(min_u64(before->count, now->count), APP_MOST_COPIES);
  while (at < most && before->hashes[at] == now->hashes[at]) at++;
  if (at < most) text_add(out, "copy %" PRIu64 " of %" PRIu64 " from the device has other bytes", at + 1, before->count);
  else if (before->count != now->count)
    text_add(out, "there are %" PRIu64 " copies from the device, then %" PRIu64, before->count, now->count);
  else text_add(out, "a copy after the first %d from the device has other bytes", APP_MOST_COPIES);
}

static void add_files(const AppTarget *own, const AppResult *now, Text *out) {
  char path[APP_FILE_PATH];
  for (uint32_t i = 0; i < own->choice.output_count; i++) {
    if (now->file[i] == own->golden.file[i]) continue;
    bool was = own->golden_files[i] >= 0, is = access(own->outputs[i], F_OK) == 0;
    if (was != is) text_add(out, "%s %s", own->choice.outputs[i], was ? "was written, then was not" : "was not written, then was");
    else app_first_difference(app_file_path(getpid(), own->golden_files[i], path), own->outputs[i], own->choice.outputs[i], out);
    return;
  }
}

// Numbers that vary are masked from now on, in both.
static bool same_output(AppTarget *own, const AppExchange *exchange, AppResult *now, Text *what) {
  char paths[2][APP_FILE_PATH];
  if (now->output == own->golden.output) return true;
  app_file_path(getpid(), own->golden_output, paths[0]);
  app_file_path(getpid(), exchange->runs[0].output, paths[1]);
  if (!app_mask_learn(&own->mask, paths[0], paths[1], what)) return false;
  own->golden.output = now->output = app_mask_hash(&own->mask, paths[0], 1);
  text_free(&own->good_lines);
  own->good_line_count = app_good_lines(&own->mask, paths[0], &own->good_lines);
  return true;
}

bool app_check_same(AppTarget *own, const AppExchange *exchange, AppResult *now, Diags *diags) {
  const AppResult *before = &own->golden;
  Text what = {0};
  if (now->status != before->status) {
    text_add(&what, "the exit code is %d, then %d", WEXITSTATUS(before->status), WEXITSTATUS(now->status));
  } else if (!same_output(own, exchange, now, &what)) {
    text_add(&what, ". '--ignore PATTERN' leaves out lines that match a regular expression, '--ignore-output' all of it");
  } else if (now->files != before->files) {
    add_files(own, now, &what);
  } else if (now->seen != before->seen) {
    add_copies(&own->copies, &exchange->copies, &what);
  } else if (now->cycles != before->cycles) {
    text_add(&what, "it takes %" PRIu64 " cycles, then %" PRIu64, before->cycles, now->cycles);
  }
  if (what.length == 0) return true;
  diags_add(diags, NULL, 0, 0, "%s: two runs without faults differ: %s. What faults do could not be told from that",
            own->choice.arguments[0], what.at);
  text_free(&what);
  return false;
}

void app_say_masked(AppTarget *own) {
  char path[APP_FILE_PATH];
  Text lines = {0};
  app_mask_tell(&own->mask, app_file_path(getpid(), own->golden_output, path), &lines);
  if (lines.length > 0 && own->choice.say != NULL)
    own->choice.say(
        own->choice.context,
        arena_format(own->arena, "numbers that vary between runs without faults are not compared, in these lines:%s", lines.at));
  text_free(&lines);
}

// ---- The first -------------------------------------------------------------------------------------

// A copy without a name; -1: there is no such file.
static int keep_file(const AppTarget *own, const char *path) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  if (file == NULL) return -1;
  int copy = app_temporary(own->choice.temporary);
  bool good = copy >= 0 && fstat(fileno(file), &info) == 0 && app_copy_bytes(fileno(file), copy, info.st_size);
  fclose(file);
  if (!good && copy >= 0) close(copy);
  return good ? copy : -1;
}

// Else a name that is misspelt would hide wrong files.
static void say_missing(const AppTarget *own, const char *output) {
  if (own->choice.say != NULL)
    own->choice.say(own->choice.context,
                    arena_format(own->arena, "--output %s: the program does not write it without faults; is the name right?", output));
}

void app_keep_golden(AppTarget *own, const AppExchange *exchange, const AppResult *result) {
  char path[APP_FILE_PATH];
  own->golden = *result;
  if (own->has_golden) return;
  own->has_golden = true;
  own->copies = exchange->copies;
  own->tolerances = exchange->tolerances;
  own->good_line_count = app_good_lines(&own->mask, app_file_path(getpid(), exchange->runs[0].output, path), &own->good_lines);
  own->golden_output = own->seats[0].output; // the next run has another
  own->seats[0].output = -1;
  for (uint32_t i = 0; i < own->choice.output_count; i++) {
    own->golden_files[i] = keep_file(own, own->outputs[i]);
    if (own->golden_files[i] < 0) say_missing(own, own->choice.outputs[i]);
  }
}

void app_forget_golden(AppTarget *own) {
  text_free(&own->good_lines);
  if (!own->has_golden) return;
  close(own->golden_output);
  for (uint32_t i = 0; i < own->choice.output_count; i++) {
    if (own->golden_files[i] >= 0) close(own->golden_files[i]);
  }
}
