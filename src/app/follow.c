// Faults of a CUDA program followed without time, in the program's own process. Its device has no machine: launches are carried out by the follower
// (settle/follow.h), which carries all faults along at once as words of memory that differ. The host's code runs as ever. Where it is about to see such a word, or where a fault
// makes a kernel trap, the process forks: the new one has the wrong words in its memory, or the trap, and goes on alone to the program's end, where it is judged as any other.
//
// Exact as long as nothing depends on time that is not known. After each launch memory must be as the machine with time left it. A process with wrong words goes on
// as long as the host launches what it launches without the fault. If it does otherwise, or asks for the time after a flow that was another, the process ends without a word,
// and its fault is simulated.
#include "app/app_internal.h"

#include <unistd.h>

struct AppFollow {
  AppExchange *exchange;
  const AppParting *parting;
  AppSettling own;
  FollowHost host;
  Follower *follower;
  Memory *memory;
  uint64_t request; // hash of what the host wants of the next launch
  AppRun *run;      // of a process of one fault; NULL: this is none
};

static bool goes_on(void *context) { return ((AppExchange *)context)->stopped == 0; }

static bool is_same(void *context, const Launch *launch, Stats *stats) {
  const AppFollow *at = context;
  if (launch->number == 0 || launch->number > APP_MOST_LAUNCHES) return false;
  const AppLaunch *golden = &at->exchange->launches[launch->number - 1];
  stats->value[STAT_CYCLES] = golden->cycles;
  return golden->memory_hash != 0 && golden->memory_hash == app_memory_hash(at->memory);
}

static bool part(void *context, uint32_t draw) {
  AppFollow *at = context;
  AppRun *run = at->parting->is_own(at->parting->context) ? app_fork(at->exchange, draw) : NULL;
  if (run == NULL) return false;
  at->run = run;
  at->parting->parted(at->parting->context, run);
  return true;
}

static bool is_next(void *context, const Launch *launch) {
  const AppFollow *at = context;
  if (launch->number == 0 || launch->number > APP_MOST_LAUNCHES) return false;
  const AppLaunch *golden = &at->exchange->launches[launch->number - 1];
  return golden->request != 0 && golden->request == at->request && golden->memory_before == app_memory_hash(at->memory);
}

static void knows_time(void *context, bool is_known) { ((AppFollow *)context)->run->same_flow = is_known; }

static void stop(void *context, bool is_endless) {
  const AppFollow *at = context;
  at->parting->stop(at->parting->context, is_endless ? APP_TIMED_OUT : APP_LOST);
}

uint64_t app_memory_hash(const Memory *memory) { return memory_hash(memory, 0) | 1; } // never 0

// Which cells there are is known from a machine like the one that the golden run had.
static bool fill_golden(Golden *golden, const AppExchange *exchange, const Spec *spec, const HookChain *chain, Diags *diags) {
  Machine *like = machine_new(spec, chain, diags);
  if (like == NULL) return false;
  golden->cycles = exchange->cycles;
  golden->checkpoint_count = exchange->checkpoint_count;
  memcpy(golden->checkpoints, exchange->checkpoints, sizeof golden->checkpoints);
  golden->seconds = (double)exchange->cpu_seconds; // more than it takes: for limits
  for (uint32_t i = 0; i < exchange->launch_count; i++) *VEC_PUSH(&golden->launches, golden->arena) = (GoldenRow){.launch = i + 1};
  golden_keep_regions(golden, machine_regions(like));
  machine_free(like);
  return true;
}

static void fill_following(Following *following, const AppExchange *exchange, Arena *arena) {
  char path[APP_FILE_PATH];
  following->is_program = true;
  following->is_protected = exchange->is_protected;
  following->passes_values = exchange->passes_values;
  following->asks_time = exchange->asks_time != 0;
  if (exchange->timeline >= 0) following->timeline = timeline_load(arena, app_file_path(exchange->campaign, exchange->timeline, path));
  int from = exchange->mode == APP_TRIAL ? exchange->following : exchange->returned;
  if (from >= 0) following_load(following, arena, app_file_path(exchange->campaign, from, path));
}

bool app_settling_fill(AppSettling *at, AppExchange *exchange, const HookChain *chain, Diags *diags) {
  Settling *settling = &at->settling;
  Arena *arena = settling->arena;
  at->golden = (Golden){.arena = arena};
  if (!fill_golden(&at->golden, exchange, settling->target->spec, chain, diags)) return false;
  at->options = (CampaignOptions){.timeout = exchange->limit / max_u64(exchange->cycles, 1)};
  at->listener = (Listener){.goes_on = goes_on, .context = exchange};
  fill_following(&at->following, exchange, arena);
  settling->options = &at->options;
  settling->golden = &at->golden;
  settling->following = &at->following;
  settling->listener = &at->listener;
  settling->count = exchange->draw_count;
  settling->draws = ARENA_ARRAY(arena, Draw, exchange->draw_count + 1);
  memcpy(settling->draws, exchange->draws, exchange->draw_count * sizeof *exchange->draws);
  return true;
}

AppFollow *app_follow_new(AppExchange *exchange, const AppParting *parting, Target *target, const HookChain *chain, Arena *arena,
                          Diags *diags) {
  AppFollow *at = ARENA_NEW(arena, AppFollow);
  at->exchange = exchange;
  at->parting = parting;
  at->own.settling = (Settling){.target = target, .arena = arena};
  if (!app_settling_fill(&at->own, exchange, chain, diags)) return NULL;
  at->host = (FollowHost){.context = at, .is_same = is_same, .part = part, .is_next = is_next, .knows_time = knows_time, .stop = stop};
  at->follower = follower_new(&at->own.settling, exchange->returned >= 0, &at->host, exchange->limit);
  return at;
}

const Launcher *app_follow_launcher(const AppFollow *at) { return follower_launcher(at->follower); }

void app_follow_begin(AppFollow *at, Memory *memory) {
  at->memory = memory;
  follower_begin(at->follower, memory);
}

void app_follow_launches(AppFollow *at, uint64_t request) { at->request = request; }

static bool is_in(const AppFollow *at, uint64_t address) { return address - memory_base(at->memory) < memory_capacity(at->memory); }

void app_follow_moves(AppFollow *at, uint64_t to, uint64_t from, uint64_t bytes, bool is_seen) {
  if (is_seen) follower_reads(at->follower, from, bytes);
  else if (is_in(at, from)) follower_loses(at->follower, from, bytes);
  if (is_in(at, to)) follower_wrote(at->follower, to, bytes);
}

// Memory that the host may read from now on without a word.
void app_follow_shows(AppFollow *at, uint64_t from, uint64_t bytes) { follower_reads(at->follower, from, bytes); }

void app_follow_fails(AppFollow *at) { follower_fails(at->follower); }

void app_follow_asks_time(const AppFollow *at) {
  follower_asks_time(at->follower);
  if (at->run != NULL && at->run->same_flow == 0) at->parting->stop(at->parting->context, APP_LOST);
}

void app_follow_end(AppFollow *at) {
  Outcome outcome;
  char path[APP_FILE_PATH];
  if (at->run != NULL) return;
  for (uint32_t i = 0; i < at->own.settling.count; i++) {
    if (follower_end(at->follower, i, &outcome)) at->exchange->followed[i] = (uint8_t)(outcome + 1);
  }
  follower_keep(at->follower);
  if (at->exchange->following >= 0)
    following_save(&at->own.following, app_file_path(at->exchange->campaign, at->exchange->following, path));
}

uint64_t app_follow_cycles(const AppFollow *at) {
  uint64_t trapped = follower_trapped_at(at->follower);
  return trapped != 0 ? trapped : at->exchange->cycles;
}
