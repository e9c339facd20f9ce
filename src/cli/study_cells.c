// The cells of a study; see study.h. Each is a process of this program with the cell's own command line, so that the command which repeats
// a cell is the one that made it. What a cell says is shown only if it fails. Studies may work on one folder at a time: each cell is locked by who runs it.
#include "cli/study.h"
#include "base/process.h"
#include "cli/cell_seal.h"
#include "cli/cli.h"
#include "cli/folder_lock.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 2048 };

typedef struct CellJob {
  const StudyCell *cell;
  int messages; // a file in memory
  int lock;     // the process of the cell has it too
  double began;
} CellJob;

typedef struct CellCrew {
  const CellWishes *wishes;
  const StudyCell **waiting; // a ring
  uint32_t count, first, left, started, ended;
  CellJob *jobs; // by cell that was started
  Pool pool;
  double began, told;
  double again; // others work on all that is left: when to look again
  int code;
  bool shows;      // stderr is a terminal
  bool has_waited; // that others are at work was said
} CellCrew;

static CellName name_of(const StudyCell *cell, const char *folder, Text *path) {
  text_add(path, "%s/%s", folder, cell->file);
  return (CellName){.path = path->at,
                    .is_run = cell->part->section == SECTION_RUN,
                    .words = (const char *const *)cell->words.items,
                    .word_count = cell->words.count,
                    .program = cell->program};
}

bool cell_is_done(const StudyCell *cell, const char *folder) {
  Text path = {0}, why = {0};
  CellName name = name_of(cell, folder, &path);
  bool done = cell_state(&name, &why) == CELL_DONE;
  text_free(&why);
  text_free(&path);
  return done;
}

// Whether it is done; else what is there and does not belong there is gone.
static bool is_done_or_free(const StudyCell *cell, const char *folder) {
  Text path = {0}, why = {0};
  CellName name = name_of(cell, folder, &path);
  CellState state = cell_state(&name, &why);
  if (state == CELL_MISFIT) {
    message_error("%s: cannot be taken for the result of its cell: %s; the cell is run again", path.at, why.at);
    cell_remove(&name);
  }
  text_free(&why);
  text_free(&path);
  return state == CELL_DONE;
}

void cells_remove_misfits(const StudyCells *cells, const char *folder) {
  for (uint32_t i = 0; i < cells->items.count; i++) {
    int lock = folder_lock(folder, lock_of_cell(cells->items.items[i].hash));
    if (lock != LOCK_HELD) is_done_or_free(&cells->items.items[i], folder);
    folder_unlock(lock);
  }
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

// As many words as the cell has. What is said here goes where the cell's own messages go.
static _Noreturn void become_cell(const CellCrew *crew, const CellJob *job, uint32_t jobs) {
  const StudyCell *cell = job->cell;
  Arena *arena = arena_new();
  const char *path = arena_format(arena, "%s/%s", crew->wishes->folder, cell->file);
  VEC(const char *) words = {0};
  *VEC_PUSH(&words, arena) = "redoubt";
  for (uint32_t i = 0; i < cell->words.count; i++) *VEC_PUSH(&words, arena) = cell->words.items[i];
  *VEC_PUSH(&words, arena) = "--quiet";
  if (cell->part->section == SECTION_RUN) {
    *VEC_PUSH(&words, arena) = arena_format(arena, "--json=%s", path);
  } else {
    *VEC_PUSH(&words, arena) = arena_format(arena, "--golden=%s/golden", crew->wishes->folder);
    *VEC_PUSH(&words, arena) = "-o";
    *VEC_PUSH(&words, arena) = path;
    *VEC_PUSH(&words, arena) = "-j";
    *VEC_PUSH(&words, arena) = arena_format(arena, "%u", jobs);
  }
  *VEC_PUSH(&words, arena) = NULL;
  interrupt_release();
  dup2(job->messages, STDERR_FILENO);
  dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  if (job->lock >= 0) fcntl(job->lock, F_SETFD, 0); // held as long as the cell runs, even if the study is killed
  execv("/proc/self/exe", (char *const *)(uintptr_t)words.items);
  message_error("cannot be started: %s", strerror(errno));
  _exit(EXIT_INTERNAL);
}

static void put_back(CellCrew *crew, const StudyCell *cell) { crew->waiting[(crew->first + crew->left++) % crew->count] = cell; }

static const StudyCell *take_first(CellCrew *crew) {
  const StudyCell *cell = crew->waiting[crew->first];
  crew->first = (crew->first + 1) % crew->count;
  crew->left--;
  return cell;
}

// One that is not done, and that nobody else works on; NULL: there is none now.
static const StudyCell *next_cell(CellCrew *crew, int *lock) {
  const char *folder = crew->wishes->folder;
  for (uint32_t tries = crew->left; tries > 0; tries--) {
    const StudyCell *cell = take_first(crew);
    *lock = folder_lock(folder, lock_of_cell(cell->hash));
    if (*lock == LOCK_HELD) {
      put_back(crew, cell);
    } else if (is_done_or_free(cell, folder)) { // somebody else was at work, or two cells are the same command
      folder_unlock(*lock);
      crew->ended++;
    } else {
      return cell;
    }
  }
  crew->again = host_seconds() + LOOK_UP_MS / 1000.0;
  bool is_other = crew->left > 0 && crew->pool.running == 0 && !crew->has_waited;
  if (is_other) message_note(crew->wishes->quiet, "%s: another study is at work there; waiting for %u of its cells", folder, crew->left);
  crew->has_waited |= is_other;
  return NULL;
}

static void start_cell(CellCrew *crew) {
  int lock = LOCK_UNKNOWN;
  const StudyCell *cell = next_cell(crew, &lock);
  if (cell == NULL) return;
  CellJob *job = &crew->jobs[crew->started];
  uint32_t left = crew->left + 1, jobs = crew->wishes->jobs;
  *job = (CellJob){.cell = cell, .messages = memfd_create("messages", MFD_CLOEXEC), .lock = lock, .began = host_seconds()};
  PoolWish wish = {.tag = crew->started, .dies_by = SIGTERM};
  PoolSide side = job->messages < 0 ? POOL_FAILED : pool_start(&crew->pool, &wish, NULL);
  if (side == POOL_CHILD) become_cell(crew, job, left >= jobs ? 1 : max_u32(1, jobs / left));
  if (side == POOL_PARENT) {
    crew->started++;
    return;
  }
  message_error("cannot start a process: %s", strerror(errno));
  folder_unlock(lock);
  crew->code = EXIT_INTERNAL;
}

static bool is_good_code(const StudyCell *cell, int code) {
  return code == EXIT_OK || (cell->may_fail && (code == EXIT_CHECK_FAILED || code == EXIT_TRAPPED));
}

// What a good cell has left gets its seal. A journal goes on; a run that failed has results that nobody shall take for good.
static bool keep_result(const CellCrew *crew, const CellJob *job, bool good) {
  Text path = {0};
  Diags diags = {0};
  CellName name = name_of(job->cell, crew->wishes->folder, &path);
  if (!good && name.is_run) cell_remove(&name);
  good = good && cell_seal(&name, name.path, &diags);
  if (good) keep_seconds(job->cell, crew->wishes->folder, host_seconds() - job->began);
  if (diags.count > 0) message_diags(&diags);
  text_free(&path);
  return good;
}

static void say_failed(const CellCrew *crew, const StudyCell *cell, const char *messages, const char *how) {
  Text command = {0};
  study_command(cell, &command);
  if (crew->shows) fputs("\r\033[K", stderr);
  message_error("[%s %s] failed%s: %s", study_section_names[cell->part->section], cell->part->name, how, command.at);
  fputs(messages, stderr);
  text_free(&command);
}

static void end_cell(CellCrew *crew, CellJob *job, int status) {
  char text[MESSAGE + 1] = "";
  bool good = WIFEXITED(status) && is_good_code(job->cell, WEXITSTATUS(status));
  ssize_t length = pread(job->messages, text, MESSAGE, 0);
  text[length > 0 ? length : 0] = '\0';
  close(job->messages);
  crew->ended++;
  good = keep_result(crew, job, good);
  folder_unlock(job->lock);
  if (good || crew->code >= EXIT_SIGNAL) return;
  say_failed(crew, job->cell, text, status == SILENT_END ? ": it did nothing any more and was ended" : "");
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
  if (crew->code == EXIT_OK) crew->code = code != EXIT_OK ? code : EXIT_BAD_INPUT; // whose result cannot be sealed
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
  return crew->code == EXIT_OK && crew->left > 0 && crew->pool.running < min_u32(crew->wishes->jobs, MOST_JOBS) &&
         host_seconds() >= crew->again;
}

static void look(CellCrew *crew) {
  PoolJob *ended = has_room(crew) ? NULL : pool_wait(&crew->pool);
  if (ended != NULL) {
    CellJob *job = &crew->jobs[ended->tag];
    end_cell(crew, job, pool_end(&crew->pool, ended));
  }
  bool is_idle = crew->pool.running == 0 && crew->code == EXIT_OK && crew->left > 0 && !has_room(crew);
  if (is_idle) nanosleep(&(struct timespec){.tv_nsec = LOOK_UP_MS * 1000000L}, NULL);
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
  crew->left = crew->count;
  crew->jobs = ARENA_ARRAY(arena, CellJob, crew->count + 1);
  interrupt_hold();
  while (crew->pool.running > 0 || (crew->code == EXIT_OK && crew->left > 0)) {
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
