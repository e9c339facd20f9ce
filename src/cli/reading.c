// See reading.h.
#include "cli/reading.h"
#include "cli/cli.h"

#include <sys/stat.h>

// Figures that stand side by side have one confidence.
static void agree(Reading *reading) {
  bool same = true;
  for (uint32_t i = 1; i < reading->count; i++) same = same && reading->reports[i]->confidence == reading->reports[0]->confidence;
  for (uint32_t i = 0; i < reading->count && !same; i++) reading->reports[i]->confidence = REPORT_CONFIDENCE;
}

bool reading_open(Reading *reading, char **paths, uint32_t count, const ReportOptions *options, Diags *diags) {
  *reading = (Reading){.arena = arena_new(), .count = count};
  reading->journals = ARENA_ARRAY(reading->arena, Journal *, count + 1);
  reading->reports = ARENA_ARRAY(reading->arena, Report *, count + 1);
  bool good = true;
  for (uint32_t i = 0; i < count && good; i++) {
    reading->journals[i] = journal_read(paths[i], diags);
    good = reading->journals[i] != NULL;
    if (good) reading->reports[i] = report_read(reading->journals[i], options, diags);
    good = good && reading->reports[i] != NULL;
  }
  if (good) agree(reading);
  return good;
}

void reading_close(Reading *reading) {
  if (reading->arena == NULL) return;
  for (uint32_t i = 0; i < reading->count; i++) {
    report_free(reading->reports[i]);
    journal_close(reading->journals[i]);
  }
  arena_free(reading->arena);
}

int reading_code(const Reading *reading) {
  int code = EXIT_OK;
  for (uint32_t i = 0; i < reading->count; i++) {
    if (reading->reports[i]->withheld && code == EXIT_OK) code = EXIT_UNFINISHED;
    if (reading->reports[i]->all.counts[OUTCOME_INTERNAL] > 0) code = EXIT_INTERNAL;
  }
  return code;
}

bool reading_whole(const Reading *reading, Diags *diags) {
  bool whole = true;
  for (uint32_t i = 0; i < reading->count; i++) whole = report_is_whole(reading->reports[i], diags) && whole;
  return whole;
}

void reading_say_internal(const Reading *reading) {
  for (uint32_t i = 0; i < reading->count; i++) {
    uint64_t internal = reading->reports[i]->all.counts[OUTCOME_INTERNAL];
    if (internal == 0) continue;
    message_error("INTERNAL ERROR: %llu simulations of %s failed in Redoubt itself: no figure of this campaign can be trusted",
                  (unsigned long long)internal, journal_path(reading->journals[i]));
  }
}

bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}
