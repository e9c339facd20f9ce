// The campaign's side of a campaign on a CUDA program; see app.h.
#include "campaign/app.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 256, HOST_SECONDS = 60 }; // CPU time beyond which a program counts as endless, besides what its length gives

// What a run leaves behind, besides what the library tells.
typedef struct AppResult {
  int status;            // as waitpid gives it
  uint64_t output;       // hash of standard output
  uint64_t files;        // of the files
  uint64_t seen, cycles; // of the exchange
} AppResult;

typedef struct AppTarget {
  AppChoice choice;
  Arena *arena;
  char folder[64];
  bool has_golden;
  AppResult golden;
  double golden_seconds;
} AppTarget;

typedef struct AppJob {
  pid_t pid;
  AppExchange *exchange;
  size_t bytes;
  uint32_t slot;
  const Draw *draw;
} AppJob;

// ---- One run ---------------------------------------------------------------------------------------

static const char *path_of(const AppTarget *own, const char *what, uint32_t slot, char path[128]) {
  snprintf(path, 128, "%s/%s%u", own->folder, what, slot);
  return path;
}

static AppExchange *new_exchange(const AppTarget *own, uint32_t slot, uint32_t draws, size_t *bytes) {
  char path[128];
  *bytes = sizeof(AppExchange) + draws * sizeof(Draw);
  int file = open(path_of(own, "exchange", slot, path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return NULL;
  void *mapped = ftruncate(file, (off_t)*bytes) == 0 ? mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  close(file);
  if (mapped == MAP_FAILED) return NULL;
  AppExchange *exchange = mapped;
  exchange->bytes = sizeof *exchange;
  return exchange;
}

static void redirect(const char *path, int flags, int to) {
  int file = open(path, flags, 0600);
  if (file >= 0) dup2(file, to);
}

// In the new process. Addresses must be the same in every run, for programs keep them in memory.
static _Noreturn void become_program(const AppTarget *own, uint32_t slot, bool quiet) {
  char path[128];
  rlim_t seconds = HOST_SECONDS + (rlim_t)(20 * own->golden_seconds);
  personality(ADDR_NO_RANDOMIZE);
  if (own->has_golden) setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 5});
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(path_of(own, "output", slot, path), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
  if (quiet) redirect("/dev/null", O_WRONLY, STDERR_FILENO);
  own->choice.prepare(own->choice.context, path_of(own, "exchange", slot, path));
  execvp(own->choice.arguments[0], own->choice.arguments);
  _exit(127);
}

static pid_t start_program(const AppTarget *own, uint32_t slot, bool quiet) {
  for (uint32_t i = 0; i < own->choice.output_count; i++) unlink(own->choice.outputs[i]);
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0) become_program(own, slot, quiet);
  return pid;
}

static uint64_t hash_file(const char *path, uint64_t seed) {
  uint8_t bytes[4096];
  FILE *file = fopen(path, "rb");
  if (file == NULL) return hash_bytes("absent", 6, seed);
  for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;) seed = hash_bytes(bytes, count, seed);
  fclose(file);
  return seed;
}

static AppResult take_result(const AppTarget *own, const AppExchange *exchange, uint32_t slot, int status) {
  char path[128];
  AppResult result = {.status = status, .seen = exchange->seen, .cycles = exchange->run_cycles};
  result.output = hash_file(path_of(own, "output", slot, path), 1);
  for (uint32_t i = 0; i < own->choice.output_count; i++) result.files = hash_file(own->choice.outputs[i], result.files + 1);
  return result;
}

// ---- Without faults --------------------------------------------------------------------------------

static bool fill_regions(Target *target, const AppExchange *exchange, Golden *golden, Diags *diags) {
  const AppTarget *own = target->own;
  Machine *like = machine_new(target->spec, own->choice.protections, diags);
  if (like == NULL) return false;
  golden_keep_regions(golden, machine_regions(like));
  machine_free(like);
  golden_limit_memory(golden, exchange->memory_bytes);
  return true;
}

static bool fill_golden(Target *target, const AppExchange *exchange, Golden *golden, Diags *diags) {
  Arena *arena = golden->arena;
  *golden = (Golden){.arena = arena, .checkpoint_count = exchange->checkpoint_count, .cycles = exchange->cycles};
  memcpy(golden->checkpoints, exchange->checkpoints, sizeof golden->checkpoints);
  golden->program_hash = exchange->program_hash;
  golden->used_rf = exchange->used_rf;
  golden->used_shared = exchange->used_shared;
  for (uint32_t i = 0; i < exchange->launch_count; i++) {
    const AppLaunch *launch = &exchange->launches[i];
    *VEC_PUSH(&golden->launches, arena) = (GoldenRow){.launch = i + 1,
                                                      .kernel = arena_copy_text(arena, launch->kernel, strlen(launch->kernel)),
                                                      .began_at = launch->began_at,
                                                      .cycles = launch->cycles,
                                                      .thread_instructions = launch->thread_instructions,
                                                      .warp_instructions = launch->warp_instructions};
  }
  return fill_regions(target, exchange, golden, diags);
}

// What must hold of a run without faults.
static bool check_golden(const Target *target, const AppExchange *exchange, const AppResult *result, Diags *diags) {
  const AppTarget *own = target->own;
  const char *name = target->name;
  bool exited = WIFEXITED(result->status);
  if (exited && WEXITSTATUS(result->status) == 127) return diags_add(diags, NULL, 0, 0, "cannot run '%s'", name);
  if (!exited) return diags_add(diags, NULL, 0, 0, "%s: without faults it is ended by signal %d", name, WTERMSIG(result->status));
  if (exchange->has_time == 0)
    return diags_add(diags, NULL, 0, 0,
                     "%s uses no machine with time: it makes no CUDA calls, is linked with the static CUDA runtime, or "
                     "the machine is functional (take e.g. --machine fermi-gtx480)",
                     name);
  if (exchange->finished == 0) return diags_add(diags, NULL, 0, 0, "%s does not end by exit(): it cannot be judged", name);
  if (exchange->trap != TRAP_NONE)
    return diags_add(diags, NULL, 0, 0, "%s: the run without faults fails: %s", name, trap_info[exchange->trap % TRAP_COUNT].text);
  if (exchange->launch_count > APP_MOST_LAUNCHES)
    return diags_add(diags, NULL, 0, 0, "%s launches %u kernels; campaigns take %d", name, exchange->launch_count, APP_MOST_LAUNCHES);
  const AppResult *golden = &own->golden;
  bool same = result->status == golden->status && result->output == golden->output && result->files == golden->files &&
              result->seen == golden->seen && result->cycles == golden->cycles;
  if (own->has_golden && !same)
    return diags_add(diags, NULL, 0, 0, "%s: two runs without faults differ in their output or time: it cannot be judged", name);
  return true;
}

static double cpu_seconds_of_children(void) {
  struct rusage usage;
  getrusage(RUSAGE_CHILDREN, &usage);
  return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec * 1e-6;
}

static bool app_golden(Target *target, Draw *draws, uint32_t count, Golden *golden, Diags *diags) {
  AppTarget *own = target->own;
  size_t bytes;
  AppExchange *exchange = new_exchange(own, 0, count, &bytes);
  if (exchange == NULL) return diags_add(diags, own->folder, 0, 0, "cannot be written: %s", strerror(errno));
  exchange->mode = APP_GOLDEN;
  exchange->draw_count = count;
  if (count > 0) memcpy(exchange->draws, draws, count * sizeof *draws);
  double before = cpu_seconds_of_children();
  int status = 0;
  pid_t pid = start_program(own, 0, false);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  AppResult result = take_result(own, exchange, 0, status);
  bool good = pid > 0 && check_golden(target, exchange, &result, diags) && fill_golden(target, exchange, golden, diags);
  if (pid < 0) diags_add(diags, NULL, 0, 0, "no process for the program: %s", strerror(errno));
  if (good) {
    if (count > 0) memcpy(draws, exchange->draws, count * sizeof *draws);
    own->golden = result;
    own->golden_seconds = cpu_seconds_of_children() - before;
    own->has_golden = true;
  }
  munmap(exchange, bytes);
  return good;
}

// ---- With a fault ----------------------------------------------------------------------------------

// What differs from the run without faults.
static Outcome compare(const AppTarget *own, const AppExchange *exchange, const AppResult *result, Record *record) {
  const AppResult *golden = &own->golden;
  bool output = result->output != golden->output, files = result->files != golden->files, seen = result->seen != golden->seen;
  record->cycles = result->cycles;
  record->wrong = (uint64_t)output + files + seen;
  if (record->wrong > 0) {
    snprintf(record->note, sizeof record->note, "wrong:%s%s%s", output ? " standard output" : "", files ? " files" : "",
             seen ? " data copied back" : "");
    return OUTCOME_SDC;
  }
  if (exchange->corrected > 0) return OUTCOME_CORRECTED;
  return result->cycles == golden->cycles ? OUTCOME_MASKED : OUTCOME_PERFORMANCE;
}

static Outcome judge(const AppTarget *own, const AppExchange *exchange, const AppResult *result, Record *record) {
  int status = result->status, sign = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  record->settled = SETTLED_RUN;
  record->cycles = own->golden.cycles;
  if (exchange->stop == APP_SETTLED) {
    record->settled = SETTLED_HASH;
    return exchange->corrected > 0 ? OUTCOME_CORRECTED : OUTCOME_MASKED;
  }
  if (exchange->stop == APP_TIMED_OUT || sign == SIGXCPU) {
    snprintf(record->note, sizeof record->note, "still running at the limit");
    record->cycles = exchange->limit;
    return OUTCOME_TIMEOUT;
  }
  if (sign != 0 && exchange->inside > 0) {
    snprintf(record->note, sizeof record->note, "the simulation was ended by signal %d", sign);
    return OUTCOME_INTERNAL;
  }
  if (exchange->finished != 0) record->cycles = result->cycles;
  if (exchange->trap != TRAP_NONE) {
    snprintf(record->note, sizeof record->note, "%s", trap_info[exchange->trap % TRAP_COUNT].text);
    return target_trap_outcome((TrapKind)exchange->trap);
  }
  if (status != own->golden.status || exchange->finished == 0) {
    if (sign != 0) snprintf(record->note, sizeof record->note, "the program was ended by signal %d", sign);
    else snprintf(record->note, sizeof record->note, "the program ended with code %d", WEXITSTATUS(status));
    return OUTCOME_DUE_HOST;
  }
  return compare(own, exchange, result, record);
}

static bool start_job(AppTarget *own, const CampaignOptions *options, const Golden *golden, const Draw *draw, AppJob *job) {
  AppExchange *exchange = new_exchange(own, job->slot, 0, &job->bytes);
  if (exchange == NULL) return false;
  exchange->mode = APP_STRIKE;
  exchange->fault = draw->fault;
  exchange->strike_at = draw->strike_at;
  exchange->limit = golden->cycles * options->timeout;
  exchange->can_settle = !fault_models[draw->fault.model].permanent;
  exchange->checkpoint_count = options->snapshot ? golden->checkpoint_count : 0;
  memcpy(exchange->checkpoints, golden->checkpoints, sizeof golden->checkpoints);
  job->exchange = exchange;
  job->draw = draw;
  job->pid = start_program(own, job->slot, true);
  return job->pid > 0;
}

static bool end_job(const AppTarget *own, AppJob *job, int status, RecordTaker take, void *context) {
  Record record = {.id = job->draw->id};
  AppResult result = take_result(own, job->exchange, job->slot, status);
  record.outcome = judge(own, job->exchange, &result, &record);
  munmap(job->exchange, job->bytes);
  job->pid = 0;
  return take(context, &record);
}

// Waits for one of them.
static bool end_one(const AppTarget *own, AppJob *jobs, uint32_t count, RecordTaker take, void *context) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR) continue;
  for (uint32_t i = 0; i < count; i++) {
    if (jobs[i].pid == pid) return end_job(own, &jobs[i], status, take, context);
  }
  return true;
}

static bool app_inject(Target *target, const CampaignOptions *options, const Golden *golden, const Draw *draws, uint32_t count,
                       RecordTaker take, void *context) {
  AppTarget *own = target->own;
  AppJob jobs[MOST_JOBS] = {{0}};
  // Runs that write the same files follow each other.
  uint32_t most = own->choice.output_count > 0 ? 1 : min_u32(options->jobs, MOST_JOBS), running = 0;
  bool going = true;
  for (uint32_t next = 0; running > 0 || (next < count && going);) {
    if (running == most || next == count || !going) {
      going = end_one(own, jobs, most, take, context) && going;
      running--;
      continue;
    }
    uint32_t slot = 0;
    while (jobs[slot].pid != 0) slot++;
    jobs[slot].slot = slot;
    if (start_job(own, options, golden, &draws[next], &jobs[slot])) {
      running++;
    } else {
      jobs[slot].pid = 0;
      Record failed = {.id = draws[next].id, .outcome = OUTCOME_INTERNAL, .note = "no process for the simulation"};
      going = take(context, &failed);
    }
    next++;
  }
  return true;
}

// ---- The target ------------------------------------------------------------------------------------

Target *target_app(Arena *arena, const AppChoice *choice, const Spec *spec, Diags *diags) {
  Target *target = ARENA_NEW(arena, Target);
  AppTarget *own = ARENA_NEW(arena, AppTarget);
  own->choice = *choice;
  own->arena = arena;
  snprintf(own->folder, sizeof own->folder, "%s/redoubt-XXXXXX", P_tmpdir);
  if (mkdtemp(own->folder) == NULL) {
    diags_add(diags, own->folder, 0, 0, "cannot be made: %s", strerror(errno));
    return NULL;
  }
  Text text = {0};
  for (uint32_t i = 0; choice->arguments[i] != NULL; i++) text_add(&text, "%s\n", choice->arguments[i]);
  for (uint32_t i = 0; i < choice->output_count; i++) text_add(&text, "output=%s\n", choice->outputs[i]);
  *target = (Target){.name = choice->arguments[0], .spec = spec, .own = own, .golden = app_golden, .inject = app_inject};
  target->arguments = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return target;
}

void target_app_free(Target *target) {
  if (target == NULL) return;
  const AppTarget *own = target->own;
  char path[128];
  for (uint32_t slot = 0; slot < MOST_JOBS; slot++) {
    if (unlink(path_of(own, "exchange", slot, path)) != 0) break;
    unlink(path_of(own, "output", slot, path));
  }
  rmdir(own->folder);
}
