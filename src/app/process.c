// The library's side of a campaign on a CUDA program; see app.h.
#include "app/app_internal.h"
#include "campaign/used.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct AppProcess {
  AppExchange *exchange;
  AppRun *run; // of this process
  pid_t pid;   // this process, not one that the program forks
  Arena *arena;
  Target target; // only its device
  Device *device;
  AppHostMemory host_memory;
  const void *host_context;
  uint64_t judged;        // as copied, with right bytes in the place of those that are within a tolerance
  uint64_t piece_at;      // bytes of the copy under way
  uint64_t copied, known; // hashes: of what the host has copied back; of all that it may know from the device
  AppCopies copies;
  // Without faults
  Golden golden;
  Hook *watch;
  WatchedDraws watched;       // this process's copy of the draws
  Hook *seers[MOST_SETTLERS]; // who look on for their sake
  Timeline *timeline;         // NULL: not wanted
  UsedSpace *used;            // NULL: not wanted
  AppHostRanges host_ranges;
  // Followed
  AppFollow *follow; // NULL: they are not
  AppParting parting;
  AppTrial *trial; // tried; NULL: they are not
  // With faults
  Hook hook;
  Hook *others[FAULT_RUN_MOST + 1]; // hooks of faults that strike by themselves, and the tracer's
  uint32_t other_count;
  uint32_t next; // draw at which to fork
  bool struck;
  Strike strike;
  Hook *asleep; // of faults that last; NULL: they do not
  uint32_t first, checkpoint;
  // For an explanation
  Tracer *tracer;
  ValueLog log;
  void (*stopping)(void *context);
  void *stopping_context;
};

// NULL: no campaign. Processes that the program forks are not followed.
static bool is_own(const AppProcess *process) { return process != NULL && process->pid == getpid(); }

static Device *device_of(Target *target) { return ((AppProcess *)target->own)->device; }

// Memory of the program's own that it has registered is in no hash of the machine.
static uint64_t seen_of(Target *target) {
  const AppProcess *process = target->own;
  return process->host_memory(process->host_context, process->known);
}

// ---- Faults ----------------------------------------------------------------------------------------

static _Noreturn void stop_here(AppProcess *process, AppStop stop, uint64_t corrected) {
  process->run->stop = stop;
  process->run->corrected = corrected;
  if (process->stopping != NULL) process->stopping(process->stopping_context);
  _exit(0);
}

static bool is_own_process(void *context) { return is_own(context); }

static void has_parted(void *context, AppRun *run) {
  AppProcess *process = context;
  process->run = run;
  process->pid = getpid();
}

static void stop_followed(void *context, AppStop how) { stop_here(context, how, 0); }

static void wait_for_checkpoint(AppProcess *process, uint64_t cycle) {
  const AppExchange *exchange = process->exchange;
  uint32_t at = process->checkpoint;
  while (at < exchange->checkpoint_count && exchange->checkpoints[at].cycle <= cycle) at++;
  process->checkpoint = at;
  process->hook.next_cycle = at < exchange->checkpoint_count ? exchange->checkpoints[at].cycle : exchange->limit;
}

static void strike(AppProcess *process, HookMachine *machine, const Fault *fault) {
  if (process->asleep == NULL) {
    process->strike = fault_strike(machine, fault);
  } else {
    fault_hook_wake(process->asleep, machine, fault);
    process->checkpoint = process->exchange->checkpoint_count; // they never leave the state as it was
  }
  process->struck = process->hook.only_looks = true;
  wait_for_checkpoint(process, machine->cycle);
  process->first = process->checkpoint;
}

static void strike_cycle(Hook *hook, HookMachine *machine) {
  AppProcess *process = hook->own;
  const AppExchange *exchange = process->exchange;
  if (!is_own(process)) return;
  if (machine->cycle >= exchange->limit) stop_here(process, APP_TIMED_OUT, 0);
  if (!process->struck) {
    strike(process, machine, &exchange->faults[0]);
    return;
  }
  const Checkpoint *here = &exchange->checkpoints[process->checkpoint];
  bool can_be_same = process->checkpoint < exchange->checkpoint_count && here->cycle == machine->cycle;
  if (can_be_same && strike_is_over(&process->strike, here->cycle) && target_hash(&process->target) == here->hash) {
    stop_here(process, APP_SETTLED, *machine->corrected + target_stat(&process->target, STAT_CORRECTED));
  }
  process->checkpoint += process->checkpoint - process->first; // ever more seldom, as in simulate.c
  wait_for_checkpoint(process, machine->cycle);
}

// Without faults until a draw's moment; what is forked then goes on as strike_cycle says. Nothing is left to do after the last.
static void fork_cycle(Hook *hook, HookMachine *machine) {
  AppProcess *process = hook->own;
  AppExchange *exchange = process->exchange;
  if (!is_own(process)) return;
  while (process->next < exchange->draw_count && exchange->draws[process->next].strike_at <= machine->cycle) {
    uint32_t draw = process->next++;
    AppRun *run = app_fork(exchange, draw);
    if (run == NULL) continue;
    process->run = run;
    process->pid = getpid();
    hook->cycle = strike_cycle;
    strike(process, machine, &exchange->draws[draw].fault);
    return;
  }
  if (process->next == exchange->draw_count || exchange->stopped) _exit(0);
  hook->next_cycle = exchange->draws[process->next].strike_at;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  AppProcess *process = hook->own;
  if (is_own(process)) strike_result(&process->strike, machine, event);
  return VERDICT_PASS;
}

static bool add_other(AppProcess *process, HookChain *chain, Hook *hook) {
  process->others[process->other_count++] = hook;
  return hook_chain_add(chain, hook);
}

static bool add_fork(AppProcess *process, HookChain *chain) {
  const Draw *draws = process->exchange->draws;
  uint32_t count = process->exchange->draw_count;
  process->hook = (Hook){.name = "fork", .kind = HOOK_FAULT, .own = process, .cycle = fork_cycle};
  process->hook.next_cycle = draws[0].strike_at;
  bool lasts = fault_lasts(&draws[0].fault);
  if (lasts) process->asleep = asleep_for(process->arena, draws, count);
  else if (any_output(draws, count)) process->hook.result = on_result;
  return hook_chain_add(chain, &process->hook) && (!lasts || hook_chain_add(chain, process->asleep));
}

// One fault that a campaign strikes when it matters, or any number that strike when they say.
static bool add_strike(AppProcess *process, HookChain *chain) {
  const AppExchange *exchange = process->exchange;
  process->hook = (Hook){.name = "strike", .kind = HOOK_FAULT, .own = process, .cycle = strike_cycle};
  process->hook.next_cycle = exchange->can_settle ? exchange->strike_at : exchange->limit;
  process->hook.only_looks = !exchange->can_settle;
  if (exchange->can_settle && exchange->faults[0].is_output) process->hook.result = on_result;
  bool room = hook_chain_add(chain, &process->hook);
  for (uint32_t i = 0; i < exchange->fault_count && !exchange->can_settle; i++)
    room = add_other(process, chain, fault_hook(process->arena, &exchange->faults[i])) && room;
  return room;
}

// ---- Explanations ----------------------------------------------------------------------------------

static const char *log_path(const AppExchange *exchange, char path[APP_FILE_PATH]) {
  return app_file_path(exchange->campaign, exchange->values, path);
}

static bool add_tracer(AppProcess *process, HookChain *chain, Diags *diags) {
  AppExchange *exchange = process->exchange;
  char path[APP_FILE_PATH];
  if (!exchange->explain) return true;
  if (exchange->trace == TRACE_COMPARE && !value_log_load(&process->log, log_path(exchange, path)))
    return diags_add(diags, path, 0, 0, "cannot be read");
  process->tracer = tracer_new(process->arena, &process->log, exchange->faults, &exchange->traced);
  return add_other(process, chain, tracer_hook(process->tracer, (TraceMode)exchange->trace));
}

static bool tell_traced(AppProcess *process) {
  AppExchange *exchange = process->exchange;
  char path[APP_FILE_PATH];
  if (process->tracer == NULL || exchange->trace != TRACE_RECORD) return true;
  exchange->traced.log_full = process->log.full;
  return value_log_save(&process->log, log_path(exchange, path));
}

// ---- No fault --------------------------------------------------------------------------------------

static bool add_used(AppProcess *process, HookChain *chain, Diags *diags) {
  const AppExchange *exchange = process->exchange;
  char path[APP_FILE_PATH];
  UsedSpace head;
  if (exchange->used < 0) return true;
  app_file_path(exchange->campaign, exchange->used, path);
  bool good = app_file_get(path, &head, sizeof head);
  process->used = good ? arena_alloc(process->arena, head.bytes) : NULL;
  if (!good || !app_file_get(path, process->used, head.bytes)) return diags_add(diags, path, 0, 0, "cannot be read");
  return hook_chain_add(chain, used_watch(process->used, &process->golden.table, process->arena));
}

// Which cells there are is known from a machine like the one that the device will have.
static bool add_watch(AppProcess *process, HookChain *chain, const Spec *spec, Diags *diags) {
  AppExchange *exchange = process->exchange;
  Machine *like = machine_new(spec, chain, diags);
  if (like == NULL) return false;
  process->golden.arena = process->arena;
  process->watch = golden_watch(&process->golden, &process->target, machine_regions(like));
  bool room = hook_chain_add(chain, process->watch);
  if (exchange->draw_count > 0) {
    Draw *draws = ARENA_ARRAY(process->arena, Draw, exchange->draw_count);
    memcpy(draws, exchange->draws, exchange->draw_count * sizeof *draws);
    process->watched = (WatchedDraws){process->arena, &process->golden.table, draws, exchange->draw_count};
    room = settlers_watch(all_settlers, settlers_in_program(all_settlers), &process->watched, process->seers, chain) && room;
  }
  if (exchange->timeline >= 0) {
    process->timeline = timeline_new(process->arena);
    room = hook_chain_add(chain, timeline_hook(process->timeline)) && room;
  }
  room = add_used(process, chain, diags) && room;
  machine_free(like);
  return room || diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
}

// Kernels are told apart by their names: of one that is too long the end is a hash of all of it.
static void keep_name(const char *name, char *out, size_t room) {
  size_t length = strlen(name);
  if (length < room) memcpy(out, name, length + 1);
  else snprintf(out, room, "%.*s...%016llx", (int)room - 20, name, (unsigned long long)hash_bytes(name, length, 0));
}

static void tell_golden(AppProcess *process) {
  AppExchange *exchange = process->exchange;
  Golden *golden = &process->golden;
  golden_measure(process->watch, golden);
  if (process->watched.count > 0) {
    settlers_seen(all_settlers, settlers_in_program(all_settlers), &process->watched, process->seers);
    memcpy(exchange->draws, process->watched.draws, exchange->draw_count * sizeof *process->watched.draws);
  }
  char path[APP_FILE_PATH];
  bool is_kept = process->timeline == NULL || timeline_save(process->timeline, app_file_path(exchange->campaign, exchange->timeline, path));
  if (process->used != NULL) {
    process->used->is_filled = true;
    app_file_put(app_file_path(exchange->campaign, exchange->used, path), process->used, process->used->bytes);
  }
  exchange->checkpoint_count = golden->checkpoint_count;
  memcpy(exchange->checkpoints, golden->checkpoints, sizeof golden->checkpoints);
  exchange->cycles = golden->cycles;
  exchange->dynamic_nj = golden->dynamic_nj;
  exchange->leakage_nj = golden->leakage_nj;
  memcpy(exchange->uncovered, golden->uncovered, sizeof exchange->uncovered);
  memcpy(exchange->idle, golden->idle, sizeof exchange->idle);
  exchange->program_hash = golden->program_hash;
  exchange->memory_bytes = memory_in_use(device_memory(process->device));
  exchange->launch_count = golden->launches.count;
  for (uint32_t i = 0; i < golden->launches.count && i < APP_MOST_LAUNCHES; i++) {
    const GoldenRow *row = &golden->launches.items[i];
    AppLaunch *launch = &exchange->launches[i];
    *launch = (AppLaunch){"",
                          row->began_at,
                          row->cycles,
                          row->thread_instructions,
                          row->warp_instructions,
                          row->registers,
                          row->needs,
                          golden->residents[i],
                          is_kept ? launch->memory_hash : 0,
                          launch->memory_before,
                          launch->request};
    keep_name(row->kernel, launch->kernel, sizeof launch->kernel);
  }
}

// ---- Begin and end ---------------------------------------------------------------------------------

static AppExchange *map_exchange(const char *path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat info;
  void *bytes = MAP_FAILED;
  if (fstat(file, &info) == 0 && (size_t)info.st_size >= sizeof(AppExchange))
    bytes = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return NULL;
  AppExchange *exchange = bytes;
  return exchange->bytes == sizeof *exchange ? exchange : NULL;
}

static bool add_hooks(AppProcess *process, HookChain *chain, const Spec *spec, Diags *diags) {
  bool room = true;
  hook_chain_answers(chain, !process->exchange->unanswered);
  switch ((AppMode)process->exchange->mode) {
  case APP_GOLDEN: return add_watch(process, chain, spec, diags);
  case APP_TRACE: break;
  case APP_STRIKE: room = add_strike(process, chain); break;
  case APP_FORK: room = add_fork(process, chain); break;
  case APP_FOLLOW:
    process->parting = (AppParting){.context = process, .is_own = is_own_process, .parted = has_parted, .stop = stop_followed};
    process->follow = app_follow_new(process->exchange, &process->parting, &process->target, chain, process->arena, diags);
    return process->follow != NULL;
  case APP_TRIAL:
    process->trial = app_trial_new(process->exchange, &process->target, chain, process->arena, diags);
    if (process->trial == NULL) return false;
    room = add_other(process, chain, app_trial_hook(process->trial));
    break;
  }
  room = room && add_tracer(process, chain, diags);
  return room || diags_add(diags, NULL, 0, 0, "too many protections for a campaign");
}

void app_process_trace(const char *path, AttachmentWishes *wishes, char marks[APP_MARKS]) {
  AppExchange *exchange = path == NULL || wishes->trace == NULL ? NULL : map_exchange(path);
  if (exchange == NULL) return;
  if (exchange->mode != APP_STRIKE || exchange->can_settle) wishes->trace = NULL;
  memcpy(marks, exchange->marks, APP_MARKS);
  wishes->trace_marks = marks;
  munmap(exchange, (size_t)exchange->bytes);
}

void app_process_before_stop(AppProcess *process, void (*stopping)(void *context), void *context) {
  if (process == NULL) return;
  process->stopping = stopping;
  process->stopping_context = context;
}

// A campaign follows one process. A second one that wants a device, be it another or the same after exec, would be given the faults of the
// first: it ends here. Without faults the campaign is refused then; with a fault, what the program does is what the fault has done.
static void be_the_only_user(AppExchange *exchange) {
  int32_t none = 0;
  if (__atomic_compare_exchange_n(&exchange->user, &none, (int32_t)getpid(), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
  exchange->second = getpid();
  uint32_t seat = exchange->mode == APP_STRIKE ? 0 : app_seat(exchange->campaign);
  if (seat <= exchange->place_count) exchange->runs[seat].stop = APP_ELSEWHERE;
  _exit(1);
}

AppProcess *app_process_new(const char *path, HookChain *chain, const Spec *spec, Diags *diags) {
  AppExchange *exchange = path == NULL ? NULL : map_exchange(path);
  if (exchange == NULL || !machine_can(spec, MACHINE_HAS_TIME)) return NULL;
  be_the_only_user(exchange);
  AppProcess *process = calloc(1, sizeof *process);
  ASSERT(process != NULL);
  process->exchange = exchange;
  process->run = &exchange->runs[0];
  process->pid = getpid();
  process->arena = arena_new();
  process->target = (Target){.own = process, .device = device_of, .seen = seen_of, .spec = spec};
  process->run->inside = 1; // the call that makes the device
  if (add_hooks(process, chain, spec, diags)) return process;
  arena_free(process->arena);
  free(process);
  return NULL;
}

void app_process_device(AppProcess *process, Device *device, AppHostMemory host_memory, const void *context) {
  if (process == NULL) return;
  process->device = device;
  process->host_memory = host_memory;
  process->host_context = context;
  process->exchange->has_time = machine_can(device_spec(device), MACHINE_HAS_TIME);
  if (process->follow != NULL) app_follow_begin(process->follow, device_memory(device));
}

void app_process_host_ranges(AppProcess *process, AppHostRanges ranges) {
  if (process != NULL) process->host_ranges = ranges;
}

const Launcher *app_process_launcher(const AppProcess *process) {
  return process == NULL || process->follow == NULL ? NULL : app_follow_launcher(process->follow);
}

void app_process_moves(AppProcess *process, uint64_t to, uint64_t from, uint64_t bytes, bool is_seen) {
  if (is_own(process) && process->follow != NULL) app_follow_moves(process->follow, to, from, bytes, is_seen);
}

void app_process_fills(AppProcess *process, uint64_t to, uint64_t bytes) { app_process_moves(process, to, 0, bytes, false); }

void app_process_registers(AppProcess *process) {
  if (is_own(process) && process->follow != NULL) app_follow_fails(process->follow);
}

void app_process_asks_time(AppProcess *process) {
  if (is_own(process)) process->exchange->asks_time = 1;
  if (is_own(process) && process->follow != NULL) app_follow_asks_time(process->follow);
}

void app_process_enter(AppProcess *process) {
  if (is_own(process)) process->run->inside++;
}

void app_process_leave(AppProcess *process) {
  if (is_own(process) && process->run->inside > 0) process->run->inside--;
}

void app_process_saw(AppProcess *process, const void *bytes, uint64_t count, bool copied_back) {
  if (process == NULL) return;
  process->known = hash_bytes(bytes, count, process->known);
  if (!copied_back) return;
  process->copied = hash_bytes(bytes, count, process->copied);
  process->judged = app_judged_piece(process->exchange, process->copies.count + 1, process->piece_at, bytes, count, process->judged);
  process->piece_at += count;
}

void app_process_copied(AppProcess *process, uint64_t from, uint64_t bytes) {
  if (process == NULL) return;
  app_copies_add(&process->copies, from, bytes, process->copied);
  process->piece_at = 0;
}

void app_process_loaded(AppProcess *process, const Program *program, const PtxSource *sources, uint32_t count) {
  bool is_wanted = is_own(process) && process->exchange->mode == APP_GOLDEN && process->exchange->sources >= 0;
  if (is_wanted) app_sources_write(process->exchange, program, sources, count);
}

void app_process_launches(AppProcess *process, uint64_t request) {
  uint32_t count = process == NULL ? APP_MOST_LAUNCHES : device_launch_count(process->device);
  if (process != NULL && process->timeline != NULL && count < APP_MOST_LAUNCHES) {
    process->exchange->launches[count].request = request;
    process->exchange->launches[count].memory_before = app_memory_hash(device_memory(process->device));
  }
  if (is_own(process) && process->follow != NULL) app_follow_launches(process->follow, request);
  if (is_own(process) && process->trial != NULL) app_trial_launches(process->trial, count, request, device_memory(process->device));
}

static void show_range(void *context, uint64_t start, uint64_t bytes) { app_follow_shows(((AppProcess *)context)->follow, start, bytes); }

void app_process_launched(AppProcess *process) {
  if (process == NULL) return;
  process->known = process->host_memory(process->host_context, process->known);
  uint32_t count = device_launch_count(process->device);
  if (process->timeline != NULL && count > 0 && count <= APP_MOST_LAUNCHES)
    process->exchange->launches[count - 1].memory_hash = app_memory_hash(device_memory(process->device));
  if (is_own(process) && process->follow != NULL) process->host_ranges(process->host_context, show_range, process);
}

static void silence(Hook *hook) { *hook = (Hook){.name = hook->name, .kind = hook->kind, .next_cycle = UINT64_MAX}; }

void app_process_forked(AppProcess *process) {
  for (uint32_t i = 0; process != NULL && i < process->other_count; i++) silence(process->others[i]);
  if (process != NULL && process->asleep != NULL && process->struck) silence(process->asleep); // before, app_fork may have forked
}

void app_process_finish(AppProcess *process) {
  if (!is_own(process) || process->device == NULL || !machine_can(device_spec(process->device), MACHINE_HAS_TIME)) return;
  AppRun *run = process->run;
  AppMode mode = (AppMode)process->exchange->mode;
  if (mode == APP_GOLDEN) tell_golden(process);
  if (mode == APP_GOLDEN || mode == APP_TRACE) process->exchange->copies = process->copies;
  if (!tell_traced(process)) return;
  for (uint32_t i = device_launch_count(process->device); i-- > 0;) {
    TrapKind kind = device_launch_record(process->device, i)->trap.kind;
    if (kind != TRAP_NONE) run->trap = kind;
  }
  run->seen = process->copied;
  run->judged = process->judged;
  run->delivered = app_copies_reach(&process->copies, &process->exchange->expected);
  run->corrected = target_stat(&process->target, STAT_CORRECTED);
  run->cycles = process->follow != NULL ? app_follow_cycles(process->follow) : target_cycles(&process->target);
  if (process->follow != NULL) app_follow_end(process->follow);
  run->finished = 1;
}
