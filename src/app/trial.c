// Faults of a CUDA program that are tried, in a process of the program that runs without faults. Trials are as for workloads (settle/trial.c): a copy of the machine is
// struck and runs until enough is known, while the program waits. What they find is written into a file of the campaign.
//
// Their outcome is taken at once only where the host cannot tell the run from the golden one, or where the launch never ends. Else the words that differ
// after the launch, or its trap, are followed further (follow.c): there the host sees them. A kernel that prints in a trial is left to a simulation.
#include "app/app_internal.h"

#include <fcntl.h>

struct AppTrial {
  AppExchange *exchange;
  AppSettling own;
  Trials *trials;
};

AppTrial *app_trial_new(AppExchange *exchange, Target *target, const HookChain *chain, Arena *arena, Diags *diags) {
  AppTrial *at = ARENA_NEW(arena, AppTrial);
  char path[APP_FILE_PATH];
  at->exchange = exchange;
  at->own.settling = (Settling){.target = target, .arena = arena};
  if (!app_settling_fill(&at->own, exchange, chain, diags)) return NULL;
  app_file_path(exchange->campaign, exchange->told, path);
  TrialTurns turns = {.draws = at->own.settling.draws, .count = exchange->draw_count, .first = exchange->first_draw};
  turns.step = exchange->draw_step;
  turns.to = open(path, O_WRONLY | O_CLOEXEC);
  if (turns.to < 0) {
    diags_add(diags, path, 0, 0, "cannot be written");
    return NULL;
  }
  at->trials = trials_new(&at->own.settling, &turns);
  return at;
}

Hook *app_trial_hook(const AppTrial *at) { return trials_hook(at->trials); }

// The host may keep addresses of its own in device memory, and this process has more memory than the golden run's had.
void app_trial_launches(AppTrial *at, uint32_t count, uint64_t request, const Memory *memory) {
  const AppLaunch *golden = &at->exchange->launches[min_u32(count, APP_MOST_LAUNCHES - 1)];
  bool is_same = golden->request != 0 && golden->request == request && golden->memory_before == app_memory_hash(memory);
  if (!is_same) trials_stop(at->trials);
}
