// The campaign's side of a campaign on a CUDA program: how the program is started, and its runs without faults. See app.h.
#include "app/app_internal.h"
#include "campaign/used.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// CPU time and silence beyond which a program with a fault counts as endless, and what they grow by with its length.
enum { HOST_SECONDS = 60, IDLE_SECONDS = 10, TIMES_GOLDEN = 20 };
enum { SAY_SILENCE_AFTER = 60 }; // seconds: of a run without faults

// ---- One run ---------------------------------------------------------------------------------------

// The files of runs in this seat, one after the other.
static bool open_seat(AppTarget *own, uint32_t seat) {
  AppSeat *files = &own->seats[seat];
  if (files->exchange < 0) files->exchange = memfd_create("redoubt-exchange", MFD_CLOEXEC);
  if (files->output < 0) files->output = app_temporary(own->choice.temporary);
  return files->exchange >= 0 && files->output >= 0;
}

AppExchange *app_exchange_new(AppTarget *own, AppMode mode, uint32_t seat, uint32_t draws) {
  size_t bytes = sizeof(AppExchange) + draws * sizeof(Draw);
  if (!open_seat(own, seat)) return NULL;
  int file = own->seats[seat].exchange;
  bool fits = ftruncate(file, 0) == 0 && ftruncate(file, (off_t)bytes) == 0;
  void *mapped = fits ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (mapped == MAP_FAILED) return NULL;
  AppExchange *exchange = mapped;
  exchange->bytes = sizeof *exchange;
  exchange->mode = mode;
  exchange->campaign = getpid();
  exchange->values = own->values;
  exchange->timeline = exchange->following = exchange->returned = exchange->used = exchange->told = -1;
  exchange->sources = mode == APP_GOLDEN && !own->has_golden ? own->sources : -1;
  exchange->expected = own->copies;
  exchange->tolerances = own->tolerances;
  exchange->keeps_right = mode == APP_GOLDEN && !own->has_golden;
  if (exchange->keeps_right && own->tolerances.right >= 0 && ftruncate(own->tolerances.right, 0) != 0) return NULL;
  exchange->unanswered = hook_chain_is_unanswered(own->choice.protections);
  exchange->runs[0].output = own->seats[seat].output;
  snprintf(exchange->temporary, sizeof exchange->temporary, "%s", own->choice.temporary);
  return exchange;
}

bool app_exchange_places(AppTarget *own, AppExchange *exchange, uint32_t count) {
  exchange->place_count = count;
  for (uint32_t i = 1; i <= count; i++) {
    if (!open_seat(own, i)) return false;
    exchange->runs[i].output = own->seats[i].output;
  }
  return true;
}

void app_exchange_free(AppExchange *exchange, uint32_t draws) { munmap(exchange, sizeof *exchange + draws * sizeof(Draw)); }

static void redirect(const char *path, int flags, int to) {
  int file = open(path, flags, 0600);
  if (file >= 0) dup2(file, to);
}

// In the new process. Addresses must be the same in every run, for programs keep them in memory. It has no files but its own.
static _Noreturn void become_program(const AppTarget *own, uint32_t seat, AppMode mode) {
  char path[APP_FILE_PATH];
  pid_t campaign = getppid();
  app_mark(campaign, seat);
  personality(ADDR_NO_RANDOMIZE);
  bool has_other_limit = mode == APP_FORK || mode == APP_FOLLOW || mode == APP_TRIAL;
  if (own->has_golden && !has_other_limit) setrlimit(RLIMIT_CPU, &(struct rlimit){own->cpu_seconds, own->cpu_seconds + 5});
  redirect("/dev/null", O_RDONLY, STDIN_FILENO);
  redirect(app_file_path(campaign, own->seats[seat].output, path), O_WRONLY | O_TRUNC, STDOUT_FILENO);
  if (mode != APP_GOLDEN) redirect("/dev/null", O_WRONLY, STDERR_FILENO);
  process_keep_files();
  own->choice.prepare(own->choice.context, app_file_path(campaign, own->seats[seat].exchange, path));
  execvp(own->choice.arguments[0], own->choice.arguments);
  _exit(127);
}

pid_t app_start(AppTarget *own, uint32_t seat, AppMode mode) {
  if (!originals_place(&own->originals)) return -1;
  pid_t pid = process_fork(SIGKILL); // it ends if the campaign does
  if (pid == 0) become_program(own, seat, mode);
  return pid;
}

bool app_goes_on(const AppTarget *own) { return own->choice.goes_on == NULL || own->choice.goes_on(own->choice.context); }

// A run without faults that does nothing is ended in the end. The user hears of it before.
static bool is_silent(const AppTarget *own, pid_t pid, ProcessWatch *watch, bool *said) {
  uint32_t silent = process_silence(watch, pid);
  if (silent >= SAY_SILENCE_AFTER && !*said && own->choice.say != NULL) {
    *said = true;
    own->choice.say(own->choice.context, arena_format(own->arena, "waiting for %s (process %d), which does nothing: it is ended after %d s",
                                                      own->choice.arguments[0], (int)pid, SILENCE_SECONDS));
  }
  return silent >= SILENCE_SECONDS;
}

bool app_wait(const AppTarget *own, pid_t pid, const Listener *listener, AppExchange *exchange, int *status, Diags *diags) {
  bool stopped = false, silent = false, said = false, has_fault = exchange->mode == APP_STRIKE && own->patience > 0;
  ProcessWatch watch = {0};
  while (process_wait(pid, status) == 0) {
    stopped = stopped || (listener != NULL && !listener->goes_on(listener->context)) || !app_goes_on(own);
    if (has_fault && process_silence(&watch, pid) >= own->patience) exchange->runs[0].stop = APP_SILENT;
    if (!has_fault) silent = is_silent(own, pid, &watch, &said) || silent;
    if (stopped || silent || exchange->runs[0].stop == APP_SILENT) kill(pid, SIGKILL);
  }
  if (stopped || !silent) return !stopped;
  return diags_add(
      diags, NULL, 0, 0,
      "%s (process %d) has done nothing for %d s without faults, and was ended: it must not wait for input, a signal or another "
      "program",
      own->choice.arguments[0], (int)pid, SILENCE_SECONDS);
}

bool app_check_alone(const AppTarget *own, const AppExchange *exchange, Diags *diags) {
  const char *name = own->choice.arguments[0];
  if (exchange->second == 0) return true;
  if (exchange->second == exchange->user)
    return diags_add(
        diags, NULL, 0, 0,
        "%s starts a program in its own place (exec) after it has used the device, and that uses the device, too: faults are for one "
        "program; give it at once what it starts itself again for (mostly the environment), or name the second one",
        name);
  return diags_add(diags, NULL, 0, 0,
                   "%s uses the device in two processes (%d and %d): faults are for one; name the program of the one that is meant", name,
                   (int)exchange->user, (int)exchange->second);
}

uint64_t app_hash_file(const char *path, uint64_t seed) {
  uint8_t bytes[4096];
  FILE *file = fopen(path, "rb");
  if (file == NULL) return hash_bytes("absent", 6, seed);
  for (size_t count; (count = fread(bytes, 1, sizeof bytes, file)) > 0;) seed = hash_bytes(bytes, count, seed);
  fclose(file);
  return seed;
}

AppResult app_result(const AppTarget *own, const AppRun *run, uint32_t seat, int status) {
  char path[APP_FILE_PATH];
  app_end_left(getpid(), seat);
  AppResult result = {.status = status, .seen = run->judged, .cycles = run->cycles, .is_tolerated = run->judged != run->seen};
  result.output = app_mask_hash(&own->mask, app_file_path(getpid(), run->output, path), 1);
  for (uint32_t i = 0; i < own->choice.output_count; i++) {
    result.file[i] = app_hash_file(own->outputs[i], 1);
    if (own->has_golden && result.file[i] != own->golden.file[i] && app_tolerates_file(own, i)) {
      result.file[i] = own->golden.file[i];
      result.is_tolerated = true;
    }
    result.files = hash_bytes(&result.file[i], sizeof result.file[i], result.files + 1);
  }
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
  golden->dynamic_nj = exchange->dynamic_nj;
  golden->leakage_nj = exchange->leakage_nj;
  memcpy(golden->uncovered, exchange->uncovered, sizeof golden->uncovered);
  memcpy(golden->idle, exchange->idle, sizeof golden->idle);
  golden->residents = ARENA_ARRAY(arena, Resident, exchange->launch_count + 1);
  for (uint32_t i = 0; i < exchange->launch_count; i++) {
    const AppLaunch *launch = &exchange->launches[i];
    *VEC_PUSH(&golden->launches, arena) = (GoldenRow){.launch = i + 1,
                                                      .kernel = arena_copy_text(arena, launch->kernel, strlen(launch->kernel)),
                                                      .began_at = launch->began_at,
                                                      .cycles = launch->cycles,
                                                      .thread_instructions = launch->thread_instructions,
                                                      .warp_instructions = launch->warp_instructions,
                                                      .registers = launch->registers,
                                                      .needs = launch->needs};
    golden->residents[i] = launch->resident;
  }
  return fill_regions(target, exchange, golden, diags);
}

// What must hold of a run without faults.
static bool check_golden(const Target *target, const AppExchange *exchange, AppResult *result, Diags *diags) {
  AppTarget *own = target->own;
  const char *name = target->name;
  const AppRun *run = &exchange->runs[0];
  bool exited = WIFEXITED(result->status);
  if (!app_check_alone(own, exchange, diags)) return false;
  if (exited && WEXITSTATUS(result->status) == 127) return diags_add(diags, NULL, 0, 0, "cannot run '%s'", name);
  if (!exited) return diags_add(diags, NULL, 0, 0, "%s: without faults it is ended by signal %d", name, WTERMSIG(result->status));
  if (exchange->has_time == 0)
    return diags_add(diags, NULL, 0, 0,
                     "%s uses no machine with time: it makes no CUDA calls, or "
                     "the machine is functional (take e.g. --machine fermi-gtx480)",
                     name);
  if (run->finished == 0) return diags_add(diags, NULL, 0, 0, "%s does not end by exit(): it cannot be judged", name);
  if (run->trap != TRAP_NONE)
    return diags_add(diags, NULL, 0, 0, "%s: the run without faults fails: %s", name, trap_info[run->trap % TRAP_COUNT].text);
  if (exchange->launch_count > APP_MOST_LAUNCHES)
    return diags_add(diags, NULL, 0, 0, "%s launches %u kernels; campaigns take %d", name, exchange->launch_count, APP_MOST_LAUNCHES);
  return !own->has_golden || app_check_same(own, exchange, result, diags);
}

// Once more without faults, to see what varies.
static bool run_again(Target *target, const Listener *listener, Diags *diags) {
  AppTarget *own = target->own;
  AppExchange *exchange = app_exchange_new(own, APP_GOLDEN, 0, 0);
  if (exchange == NULL) return diags_add(diags, own->choice.temporary, 0, 0, "no room for the campaign's files: %s", strerror(errno));
  pid_t pid = app_start(own, 0, APP_GOLDEN);
  int status = 0;
  bool ended = pid > 0 && app_wait(own, pid, listener, exchange, &status, diags);
  AppResult result = app_result(own, &exchange->runs[0], 0, status);
  if (pid < 0) diags_add(diags, NULL, 0, 0, "the program cannot be started: %s", strerror(errno));
  bool good = ended && check_golden(target, exchange, &result, diags);
  app_exchange_free(exchange, 0);
  return good;
}

// Numbers that two runs show to vary may be the same by chance in others: further runs, until they show no more of them.
static bool learn_more(Target *target, const Listener *listener, Diags *diags) {
  enum { MOST_RUNS = 3 };
  AppTarget *own = target->own;
  bool good = true;
  for (uint32_t runs = 0, known = 0; good && runs < MOST_RUNS && known < own->mask.numbers.count; runs++) {
    known = own->mask.numbers.count;
    good = run_again(target, listener, diags);
  }
  if (good) app_say_masked(own);
  return good;
}

// For those that follow faults: how long each takes, and what it leaves.
static void keep_launches(AppTarget *own, const AppExchange *exchange) {
  if (own->launches == NULL) own->launches = ARENA_ARRAY(own->arena, AppLaunch, exchange->launch_count + 1);
  memcpy(own->launches, exchange->launches, exchange->launch_count * sizeof *own->launches);
  own->launch_count = exchange->launch_count;
  own->asks_time = exchange->asks_time != 0;
}

// To the program's process, which fills it, and back.
static bool send_used(AppTarget *own, const UsedSpace *used, AppExchange *exchange) {
  char path[APP_FILE_PATH];
  if (used == NULL) return true;
  if (own->used < 0) own->used = app_temporary(own->choice.temporary);
  exchange->used = own->used;
  return own->used >= 0 && app_file_put(app_file_path(getpid(), own->used, path), used, used->bytes);
}

static bool fetch_used(const AppTarget *own, UsedSpace *used) {
  char path[APP_FILE_PATH];
  return used == NULL || (app_file_get(app_file_path(getpid(), own->used, path), used, used->bytes) && used->is_filled);
}

static bool app_golden(Target *target, Draw *draws, uint32_t count, UsedSpace *used, Golden *golden, const Listener *listener,
                       Diags *diags) {
  AppTarget *own = target->own;
  if (own->sources < 0) own->sources = app_temporary(own->choice.temporary);
  AppExchange *exchange = app_exchange_new(own, APP_GOLDEN, 0, count);
  if (exchange == NULL) return diags_add(diags, own->choice.temporary, 0, 0, "no room for the campaign's files: %s", strerror(errno));
  exchange->draw_count = count;
  if (count > 0 && machine_can(target->spec, MACHINE_IS_FOLLOWED))
    exchange->timeline = own->timeline = own->timeline < 0 ? app_temporary(own->choice.temporary) : own->timeline;
  if (count > 0) memcpy(exchange->draws, draws, count * sizeof *draws);
  if (!send_used(own, used, exchange)) {
    app_exchange_free(exchange, count);
    return diags_add(diags, own->choice.temporary, 0, 0, "no room for the campaign's files: %s", strerror(errno));
  }
  double before = process_seconds(RUSAGE_CHILDREN), began = clock_seconds();
  pid_t pid = app_start(own, 0, APP_GOLDEN);
  int status = 0;
  bool ended = pid > 0 && app_wait(own, pid, listener, exchange, &status, diags);
  double seconds = clock_seconds() - began;
  AppResult result = app_result(own, &exchange->runs[0], 0, status);
  uint32_t masked = own->mask.numbers.count;
  bool good = ended && check_golden(target, exchange, &result, diags) && fill_golden(target, exchange, golden, diags);
  if (pid < 0) diags_add(diags, NULL, 0, 0, "the program cannot be started: %s", strerror(errno));
  if (good && !fetch_used(own, used)) good = diags_add(diags, own->choice.temporary, 0, 0, "the campaign's files cannot be read");
  if (good) {
    if (count > 0) memcpy(draws, exchange->draws, count * sizeof *draws);
    own->cpu_seconds = HOST_SECONDS + (uint64_t)(TIMES_GOLDEN * (process_seconds(RUSAGE_CHILDREN) - before));
    own->patience = IDLE_SECONDS + (uint32_t)(TIMES_GOLDEN * seconds);
    if (!own->has_golden && own->sources >= 0) app_sources_read(target, own->arena, own->sources);
    app_keep_golden(own, exchange, &result);
    if (exchange->timeline >= 0) keep_launches(own, exchange);
  }
  app_exchange_free(exchange, count);
  good = good && app_tolerances_fit(own, diags);
  return good && (own->mask.numbers.count == masked || learn_more(target, listener, diags));
}

// ---- Arguments as text -----------------------------------------------------------------------------

static const char *const argument_key = "argument=", *const output_key = "output=", *const ignore_key = "ignore=",
                         *const ignore_output_key = "ignore-output=";

// One line each; line breaks and backslashes are escaped.
static void add_argument(Text *text, const char *key, const char *value) {
  text_add(text, "%s", key);
  for (; *value != '\0'; value++) {
    if (*value == '\n') text_add(text, "\\n");
    else text_add(text, *value == '\\' ? "\\\\" : "%c", *value);
  }
  text_add(text, "\n");
}

static char *read_argument(Arena *arena, const char *line, size_t length) {
  char *value = arena_alloc(arena, length + 1);
  size_t count = 0;
  for (size_t i = 0; i < length; i++) {
    bool escaped = line[i] == '\\' && i + 1 < length;
    if (escaped) i++;
    value[count++] = escaped && line[i] == 'n' ? '\n' : line[i];
  }
  value[count] = '\0';
  return value;
}

bool target_app_read(const char *text, Arena *arena, AppWishes *wishes) {
  *wishes = (AppWishes){0};
  for (const char *line = text; *line != '\0';) {
    const struct {
      const char *key;
      AppWords *words;
    } kinds[] = {
        {argument_key, &wishes->arguments}, {output_key, &wishes->outputs}, {ignore_key, &wishes->ignored}, {ignore_output_key, NULL}};
    size_t length = strcspn(line, "\n"), kind = 0;
    while (kind < COUNT_OF(kinds) && strncmp(line, kinds[kind].key, strlen(kinds[kind].key)) != 0) kind++;
    if (kind == COUNT_OF(kinds)) return false;
    size_t key_length = strlen(kinds[kind].key);
    char *value = read_argument(arena, line + key_length, length - key_length);
    if (kinds[kind].words == NULL) wishes->ignores_output = true;
    else *VEC_PUSH(kinds[kind].words, arena) = value;
    line += length + (line[length] == '\n');
  }
  return wishes->arguments.count > 0;
}

// ---- The target ------------------------------------------------------------------------------------

// Programs may change their folder.
static bool take_outputs(AppTarget *own, Diags *diags) {
  char here[PATH_MAX];
  if (getcwd(here, sizeof here) == NULL) return diags_add(diags, NULL, 0, 0, "the current folder is not there: %s", strerror(errno));
  for (uint32_t i = 0; i < own->choice.output_count; i++) {
    const char *path = own->choice.outputs[i];
    own->outputs[i] = path[0] == '/' ? path : arena_format(own->arena, "%s/%s", here, path);
    if (strlen(own->outputs[i]) + ORIGINAL_ENDING > APP_PATH) return diags_add(diags, path, 0, 0, "the path is too long");
    if (!originals_take(&own->originals, own->outputs[i], diags)) return false;
  }
  return true;
}

Target *target_app(Arena *arena, const AppChoice *choice, const Spec *spec, Diags *diags) {
  Target *target = ARENA_NEW(arena, Target);
  AppTarget *own = ARENA_NEW(arena, AppTarget);
  own->choice = *choice;
  own->arena = arena;
  own->originals = (Originals){.arena = arena, .say = choice->say, .context = choice->context};
  for (uint32_t i = 0; i < COUNT_OF(own->seats); i++) own->seats[i] = (AppSeat){-1, -1};
  own->values = own->sources = own->timeline = own->used = own->following = own->returned = -1;
  own->mask = (AppMask){.arena = arena, .all = choice->ignores_output};
  bool good = true;
  for (uint32_t i = 0; i < choice->ignored_count && good; i++) good = app_mask_ignore(&own->mask, choice->ignored[i], diags);
  good = good && app_tolerates(own, diags);
  if (!good || !take_outputs(own, diags)) {
    originals_give_back(&own->originals);
    return NULL;
  }
  Text text = {0};
  for (uint32_t i = 0; choice->arguments[i] != NULL; i++) add_argument(&text, argument_key, choice->arguments[i]);
  for (uint32_t i = 0; i < choice->output_count; i++) add_argument(&text, output_key, choice->outputs[i]);
  for (uint32_t i = 0; i < choice->ignored_count; i++) add_argument(&text, ignore_key, choice->ignored[i]);
  if (choice->ignores_output) add_argument(&text, ignore_output_key, "yes");
  *target = (Target){.name = choice->arguments[0], .spec = spec, .own = own, .golden = app_golden, .inject = app_inject};
  target->traced = app_traced;
  target->follow = app_follow;
  target->try_faults = app_try;
  prctl(PR_SET_CHILD_SUBREAPER, 1); // what its processes leave behind comes to this one
  uint32_t orphans = app_end_orphans();
  if (orphans > 0 && choice->say != NULL)
    choice->say(choice->context, arena_format(arena, "ended %u processes that runs which were killed had left behind", orphans));
  target->arguments = arena_copy_text(arena, text.at, text.length);
  text_free(&text);
  return target;
}

void target_app_free(Target *target) {
  if (target == NULL) return;
  AppTarget *own = target->own;
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  originals_give_back(&own->originals);
  app_mask_free(&own->mask);
  app_forget_golden(own);
  for (uint32_t i = 0; i < COUNT_OF(own->seats); i++) {
    if (own->seats[i].exchange >= 0) close(own->seats[i].exchange);
    if (own->seats[i].output >= 0) close(own->seats[i].output);
  }
  if (own->values >= 0) close(own->values);
  if (own->sources >= 0) close(own->sources);
  if (own->timeline >= 0) close(own->timeline);
  if (own->used >= 0) close(own->used);
  if (own->following >= 0) close(own->following);
  if (own->returned >= 0) close(own->returned);
  if (own->tolerances.right >= 0) close(own->tolerances.right);
}
