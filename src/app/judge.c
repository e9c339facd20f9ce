// What a run of a CUDA program with a fault has come to. Its results are judged first: what the host copied back, standard output and the
// files that the user names. Programs that check their results and say so must fare like those that do not: what the program itself says only
// tells a wrong result that it rejects from one that it accepts.
//
// It says so by its exit code, another than without faults: it rejects. Or lines of standard output that say that all is well: fewer of
// them, it rejects; the very same, it accepts. If they are as many but other lines ("2 of 3 tests passed"), nobody can tell.
#include "app/app_internal.h"
#include "base/process.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- Copies ----------------------------------------------------------------------------------------

static uint64_t *find_kind(const AppCopies *copies, uint64_t kind) {
  uint64_t at = kind % APP_MOST_KINDS;
  while (copies->kinds[at] != 0 && copies->kinds[at] != kind) at = (at + 1) % APP_MOST_KINDS;
  return (uint64_t *)&copies->kinds[at];
}

void app_copies_add(AppCopies *copies, uint64_t from, uint64_t bytes, uint64_t hash) {
  uint64_t kind = hash_bytes((uint64_t[2]){from, bytes}, 2 * sizeof(uint64_t), 0) | 1; // never 0
  uint64_t *at = find_kind(copies, kind);
  if (*at == 0 && copies->kind_count < APP_MOST_KINDS / 2) {
    *at = kind;
    copies->kind_count++;
  }
  if (copies->count < APP_MOST_COPIES) copies->hashes[copies->count] = hash;
  copies->count++;
  copies->last = kind;
}

bool app_copies_reach(const AppCopies *copies, const AppCopies *golden) {
  bool all = copies->last == golden->last;
  for (uint32_t i = 0; i < APP_MOST_KINDS && all; i++) all = golden->kinds[i] == 0 || *find_kind(copies, golden->kinds[i]) != 0;
  bool is_known = golden->kind_count < APP_MOST_KINDS / 2; // all kinds of the run without faults are there
  return all && (is_known || copies->count >= golden->count);
}

// ---- The program's own word ------------------------------------------------------------------------

static const char *const good_words[] = {"pass",         "passed",    "ok",      "success",  "successful",
                                         "successfully", "succeeded", "correct", "verified", "match"};

static bool is_good_word(const char *word, size_t length) {
  for (size_t i = 0; i < COUNT_OF(good_words); i++) {
    if (strlen(good_words[i]) == length && strncasecmp(good_words[i], word, length) == 0) return true;
  }
  return false;
}

// "Test PASSED", "result = ok", but not "not ok".
static bool is_good_line(const char *line, size_t length) {
  bool after_not = false;
  for (size_t i = 0; i < length;) {
    size_t end = i;
    while (end < length && (isalnum((unsigned char)line[end]) || line[end] == '_')) end++;
    if (end > i && !after_not && is_good_word(line + i, end - i)) return true;
    if (end > i) after_not = end - i == 3 && strncasecmp(line + i, "not", 3) == 0;
    i = end + (end == i);
  }
  return false;
}

uint32_t app_good_lines(const AppMask *mask, const char *path, Text *lines) {
  uint32_t count = 0;
  AppMask all_lines = *mask; // the program's word counts even where its output is not compared
  all_lines.all = false;
  MaskedLines at;
  masked_lines_open(&at, &all_lines, path);
  while (masked_lines_next(&at)) {
    if (!is_good_line(at.line, at.length)) continue;
    text_add_bytes(lines, at.line, at.length);
    count++;
  }
  masked_lines_close(&at);
  return count;
}

// Of a wrong result with the right exit code.
static Outcome ask_output(const AppTarget *own, const AppRun *run) {
  char path[APP_FILE_PATH];
  if (own->good_line_count == 0) return OUTCOME_SDC;
  Text lines = {0};
  uint32_t count = app_good_lines(&own->mask, app_file_path(getpid(), run->output, path), &lines);
  bool same = lines.length == own->good_lines.length && memcmp(lines.at, own->good_lines.at, lines.length) == 0;
  text_free(&lines);
  if (count < own->good_line_count) return OUTCOME_SDC_CRITICAL;
  return same ? OUTCOME_SDC_TOLERABLE : OUTCOME_SDC;
}

// ---- Outcomes --------------------------------------------------------------------------------------

// The program has come to its end, with results.
static Outcome compare(const AppTarget *own, const AppRun *run, const AppResult *result, Record *record) {
  const AppResult *golden = &own->golden;
  bool output = result->output != golden->output, files = result->files != golden->files, seen = result->seen != golden->seen;
  bool rejects = result->status != golden->status;
  Text note = {0};
  record->cycles = result->cycles;
  record->wrong = (uint64_t)output + files + seen;
  if (record->wrong == 0 && !rejects && result->is_tolerated) {
    snprintf(record->note, sizeof record->note, "results are off, but within the tolerance");
    record->wrong = 1;
    return OUTCOME_TOLERATED;
  }
  if (record->wrong == 0 && !rejects) {
    if (run->corrected > 0) return OUTCOME_CORRECTED;
    return result->cycles == golden->cycles ? OUTCOME_MASKED : OUTCOME_PERFORMANCE;
  }
  text_add(&note, "wrong:%s%s%s", output ? " standard output," : "", files ? " files," : "", seen ? " data copied back," : "");
  if (rejects) text_add(&note, " exit code %d", WEXITSTATUS(result->status));
  else note.length--;
  snprintf(record->note, sizeof record->note, "%.*s", (int)note.length, note.at);
  text_free(&note);
  if (record->wrong == 0) record->wrong = 1; // all that is known of the results is what the program says
  return rejects ? OUTCOME_SDC_CRITICAL : ask_output(own, run);
}

// The program was ended, or gave up before its results were there; NULL: it did not.
static const char *why_no_results(const AppTarget *own, const AppRun *run, int status) {
  if (WIFSIGNALED(status)) return "the program was ended by signal";
  if (run->finished == 0) return "the program ended in haste, with code";
  if (status != own->golden.status && !run->delivered) return "the program ended before its results were copied back, with code";
  return NULL;
}

Outcome app_judge(const AppTarget *own, const AppExchange *exchange, const AppRun *run, const AppResult *result, Record *record) {
  int status = result->status, sign = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  record->settled = SETTLED_RUN;
  record->cycles = own->golden.cycles;
  if (run->stop == APP_SETTLED) {
    record->settled = SETTLED_HASH;
    return run->corrected > 0 ? OUTCOME_CORRECTED : OUTCOME_MASKED;
  }
  if (run->stop == APP_TIMED_OUT || sign == SIGXCPU) {
    snprintf(record->note, sizeof record->note, "still running at the limit");
    record->cycles = exchange->limit;
    return OUTCOME_TIMEOUT;
  }
  if (run->stop == APP_SILENT) {
    snprintf(record->note, sizeof record->note, "the program did nothing for %u s: it waits without end", own->patience);
    record->cycles = exchange->limit;
    return OUTCOME_TIMEOUT;
  }
  if (run->stop == APP_ELSEWHERE) {
    snprintf(record->note, sizeof record->note, "the program has started itself again, or another that uses the device");
    return OUTCOME_DUE_HOST;
  }
  if ((sign != 0 && run->inside > 0) || exchange->has_time == 0) {
    if (sign != 0) process_end_note(status, record->note, sizeof record->note);
    else snprintf(record->note, sizeof record->note, "the program did not come to use its device");
    return OUTCOME_INTERNAL;
  }
  if (run->finished != 0) record->cycles = result->cycles;
  if (run->trap != TRAP_NONE) {
    snprintf(record->note, sizeof record->note, "%s", trap_info[run->trap % TRAP_COUNT].text);
    return target_trap_outcome((TrapKind)run->trap);
  }
  const char *why = why_no_results(own, run, status);
  if (why == NULL) return compare(own, run, result, record);
  snprintf(record->note, sizeof record->note, "%s %d", why, sign != 0 ? sign : WEXITSTATUS(status));
  return OUTCOME_DUE_HOST;
}
