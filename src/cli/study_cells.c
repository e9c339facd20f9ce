// The cells of a study; see study.h. Each is a process of this program with the cell's own command line, so that the command which repeats
// a cell is the one that made it. What a cell says is shown only if it fails.
#include "cli/study.h"
#include "base/process.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE = 2048 };

typedef struct CellJob {
  const StudyCell *cell;
  int messages; // a file in memory
  double began;
} CellJob;

typedef struct CellCrew {
  const CellWishes *wishes;
  const StudyCell **waiting;
  uint32_t count, started, ended;
  CellJob *jobs; // by cell that was started
  Pool pool;
  double began, told;
  int code;
  bool shows; // stderr is a terminal
} CellCrew;

static const char *cell_path(const StudyCell *cell, const char *folder, Text *out) {
  text_add(out, "%s/%s", folder, cell->file);
  return out->at;
}

// A run's file appears when it is whole; a campaign's journal says itself whether it is complete.
bool cell_is_done(const StudyCell *cell, const char *folder) {
  Text path = {0};
  bool done = access(cell_path(cell, folder, &path), F_OK) == 0;
  if (done && cell->part->section == SECTION_CAMPAIGN) {
    Diags ignored = {0};
    Journal *journal = journal_read(path.at, &ignored);
    done = journal != NULL && journal_state(journal).complete;
    if (journal != NULL) journal_close(journal);
    diags_free(&ignored);
  }
  text_free(&path);
  return done;
}

// Beside the cells, since a cell's own file is the same whenever and wherever it was run.
static void times_path(const StudyCell *cell, const char *folder, Text *out) {
  text_add(out, "%s/times/%016llx", folder, (unsigned long long)cell->hash);
}

double cell_seconds(const StudyCell *cell, const char *folder) {
  Text path = {0};
  times_path(cell, folder, &path);
  FILE *file = fopen(path.at, "re");
  double seconds = -1;
  if (file != NULL && fscanf(file, "%lf", &seconds) != 1) seconds = -1;
  if (file != NULL) fclose(file);
  text_free(&path);
  return seconds;
}

// A time that cannot be written is only not known later.
static void keep_seconds(const StudyCell *cell, const char *folder, double seconds) {
  Text path = {0};
  times_path(cell, folder, &path);
  FILE *file = fopen(path.at, "we");
  if (file != NULL) {
    fprintf(file, "%.2f\n", seconds);
    fclose(file);
  }
  text_free(&path);
}

// ---- One cell ------------------------------------------------------------------------------------------------------------

static _Noreturn void become_cell(const CellCrew *crew, const StudyCell *cell, int messages, uint32_t jobs) {
  Text path = {0};
  char count[16];
  const char *words[512] = {"redoubt"};
  uint32_t at = 1;
  for (uint32_t i = 0; i < cell->words.count && at < COUNT_OF(words) - 8; i++) words[at++] = cell->words.items[i];
  cell_path(cell, crew->wishes->folder, &path);
  words[at++] = "--quiet";
  Text option = {0};
  if (cell->part->section == SECTION_RUN) {
    text_add(&option, "--json=%s", path.at);
    words[at++] = option.at;
  } else {
    snprintf(count, sizeof count, "%u", jobs);
    text_add(&option, "--golden=%s/golden", crew->wishes->folder);
    words[at++] = option.at;
    words[at++] = "-o";
    words[at++] = path.at;
    words[at++] = "-j";
    words[at++] = count;
  }
  words[at] = NULL;
  interrupt_release();
  dup2(messages, STDERR_FILENO);
  dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  char *const *arguments = (char *const *)(uintptr_t)words;
  execv("/proc/self/exe", arguments);
  _exit(EXIT_INTERNAL);
}

static void start_cell(CellCrew *crew) {
  CellJob *job = &crew->jobs[crew->started];
  const StudyCell *cell = crew->waiting[crew->started];
  uint32_t left = crew->count - crew->started, jobs = crew->wishes->jobs;
  *job = (CellJob){.cell = cell, .messages = memfd_create("messages", MFD_CLOEXEC), .began = host_seconds()};
  PoolWish wish = {.tag = crew->started, .dies_by = SIGTERM};
  PoolSide side = job->messages < 0 ? POOL_FAILED : pool_start(&crew->pool, &wish, NULL);
  if (side == POOL_CHILD) become_cell(crew, cell, job->messages, left >= jobs ? 1 : max_u32(1, jobs / left));
  if (side == POOL_PARENT) {
    crew->started++;
    return;
  }
  message_error("cannot start a process: %s", strerror(errno));
  crew->code = EXIT_INTERNAL;
}

static bool is_good_code(const StudyCell *cell, int code) {
  return code == EXIT_OK || (cell->may_fail && (code == EXIT_CHECK_FAILED || code == EXIT_TRAPPED));
}

static void end_cell(CellCrew *crew, CellJob *job, int status) {
  char text[MESSAGE + 1] = "";
  bool good = WIFEXITED(status) && is_good_code(job->cell, WEXITSTATUS(status));
  ssize_t length = pread(job->messages, text, MESSAGE, 0);
  text[length > 0 ? length : 0] = '\0';
  close(job->messages);
  crew->ended++;
  Text path = {0};
  bool is_run = job->cell->part->section == SECTION_RUN; // a journal goes on; a run that failed has results that nobody shall take for good
  if (!good && is_run) unlink(cell_path(job->cell, crew->wishes->folder, &path));
  text_free(&path);
  if (good) keep_seconds(job->cell, crew->wishes->folder, host_seconds() - job->began);
  if (good || crew->code >= EXIT_SIGNAL) return;
  Text command = {0};
  study_command(job->cell, &command);
  if (crew->shows) fputs("\r\033[K", stderr);
  message_error("[%s %s] failed: %s", study_section_names[job->cell->part->section], job->cell->part->name, command.at);
  fputs(text, stderr);
  text_free(&command);
  if (crew->code == EXIT_OK) crew->code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
}

// ---- All of them ---------------------------------------------------------------------------------------------------------

static void show(CellCrew *crew) {
  double now = host_seconds();
  if (!crew->shows || now - crew->told < 0.2) return;
  crew->told = now;
  Text left = {0};
  if (crew->ended > 0) duration_format((now - crew->began) / crew->ended * (crew->count - crew->ended), &left);
  fprintf(stderr, "\r\033[K%u of %u cells%s%s%s", crew->ended, crew->count, crew->ended > 0 ? ", " : "", crew->ended > 0 ? left.at : "",
          crew->ended > 0 ? " left" : "");
  fflush(stderr);
  text_free(&left);
}

static bool has_room(const CellCrew *crew) {
  return crew->code == EXIT_OK && crew->started < crew->count && crew->pool.running < min_u32(crew->wishes->jobs, MOST_JOBS);
}

static void look(CellCrew *crew) {
  PoolJob *ended = has_room(crew) ? NULL : pool_wait(&crew->pool);
  if (ended != NULL) {
    CellJob *job = &crew->jobs[ended->tag];
    end_cell(crew, job, pool_end(&crew->pool, ended));
  }
  int signal_number = interrupt_take();
  if (signal_number > 0) pool_signal(&crew->pool, SIGTERM);
  if (signal_number > 0) crew->code = EXIT_SIGNAL + signal_number;
}

int cells_run(const StudyCells *cells, const CellWishes *wishes) {
  Arena *arena = arena_new();
  CellCrew *crew = ARENA_NEW(arena, CellCrew);
  *crew = (CellCrew){.wishes = wishes, .waiting = ARENA_ARRAY(arena, const StudyCell *, cells->items.count + 1), .began = host_seconds()};
  crew->shows = !wishes->quiet && isatty(STDERR_FILENO) != 0;
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *cell = &cells->items.items[i];
    bool is_ours = i % wishes->shards == wishes->shard;
    if (is_ours && !cell_is_done(cell, wishes->folder)) crew->waiting[crew->count++] = cell;
  }
  crew->jobs = ARENA_ARRAY(arena, CellJob, crew->count + 1);
  interrupt_hold();
  while (crew->ended < crew->started || (crew->code == EXIT_OK && crew->started < crew->count)) {
    if (has_room(crew)) start_cell(crew);
    look(crew);
    show(crew);
  }
  interrupt_release();
  if (crew->shows) fputs("\r\033[K", stderr);
  int code = crew->code;
  arena_free(arena);
  return code;
}
