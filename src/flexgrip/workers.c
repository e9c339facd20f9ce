// Campaigns in several processes. Each takes the next piece of work, a slice of a campaign, and writes what it found to memory
// that all share; which process did what leaves no trace in the results.
#include "flexgrip/study_internal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLICES = 4, MOST_WORKERS = 256 };

typedef struct Work {
  StudyCampaign *campaigns;
  uint32_t count;
  StudyFound **found;    // of each campaign
  atomic_uint *next;     // piece of work; shared
  const uint32_t *order; // campaigns, the longest first
} Work;

void study_tally_add(StudyTally *tally, StudyOutcome outcome) {
  tally->total++;
  tally->outcomes[outcome]++;
}

uint64_t study_tally_class(const StudyTally *tally, StudyClass class) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < STUDY_OUTCOMES; i++) sum += study_class((StudyOutcome)i) == class ? tally->outcomes[i] : 0;
  return sum;
}

static void work_until_done(const Work *work) {
  for (;;) {
    uint32_t piece = atomic_fetch_add(work->next, 1);
    if (piece >= work->count * SLICES) return;
    uint32_t i = work->order[piece / SLICES];
    const StudyCampaign *campaign = &work->campaigns[i];
    study_settle(campaign->golden, campaign->list, campaign->faults, piece % SLICES, SLICES, work->found[i]);
  }
}

// True: every process ended well.
static bool work_in_processes(const Work *work, uint32_t workers) {
  pid_t pids[MOST_WORKERS];
  uint32_t started = 0;
  bool good = true;
  pid_t parent = getpid();
  for (; started < workers; started++) {
    pids[started] = fork();
    if (pids[started] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL); // a study that is ended takes its processes with it
      if (getppid() != parent) _exit(1);
      work_until_done(work);
      _exit(0);
    }
    if (pids[started] < 0) break;
  }
  if (started == 0) work_until_done(work);
  for (uint32_t i = 0; i < started; i++) {
    int status = 0;
    good = waitpid(pids[i], &status, 0) == pids[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0 && good;
  }
  return good;
}

static void tally(StudyCampaign *campaign) {
  uint64_t exchange = golden_last_exchange(campaign->golden);
  for (uint32_t i = 0; i < campaign->faults; i++) {
    StudyOutcome outcome = (StudyOutcome)campaign->found[i].outcome;
    uint64_t cycle = campaign->list[i].cycle;
    study_tally_add(&campaign->all, outcome);
    study_tally_add(&campaign->phases[golden_phase(campaign->golden, cycle)], outcome);
    study_tally_add(cycle <= exchange ? &campaign->before : &campaign->after, outcome);
    campaign->settled[campaign->found[i].settled]++;
  }
}

static bool prepare(StudyCampaign *campaign, Diags *diags) {
  campaign->golden = golden_new(&campaign->config, campaign->structure, campaign->model == MODEL_UPSET, diags);
  if (campaign->golden == NULL) return false;
  campaign->list = malloc(campaign->faults * sizeof *campaign->list + 1);
  ASSERT(campaign->list != NULL);
  for (uint32_t i = 0; i < campaign->faults; i++) {
    campaign->list[i] = study_draw(campaign->golden, campaign->model, campaign->stream, i);
  }
  return true;
}

static void *share(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT(memory != MAP_FAILED);
  return memory;
}

static size_t found_bytes(const StudyCampaign *campaign) { return campaign->faults * sizeof(StudyFound) + 1; }

static void longest_first(const StudyCampaign *campaigns, uint32_t count, uint32_t *order) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t k = i;
    uint64_t cycles = golden_result(campaigns[i].golden)->cycles;
    for (; k > 0 && golden_result(campaigns[order[k - 1]].golden)->cycles < cycles; k--) order[k] = order[k - 1];
    order[k] = i;
  }
}

bool study_run(StudyCampaign *campaigns, uint32_t count, uint32_t workers, Diags *diags) {
  for (uint32_t i = 0; i < count; i++) {
    if (!prepare(&campaigns[i], diags)) return false;
  }
  Arena *arena = arena_new();
  uint32_t *order = ARENA_ARRAY(arena, uint32_t, count);
  longest_first(campaigns, count, order);
  Work work = {campaigns, count, ARENA_ARRAY(arena, StudyFound *, count), share(sizeof(atomic_uint)), order};
  for (uint32_t i = 0; i < count; i++) campaigns[i].found = work.found[i] = share(found_bytes(&campaigns[i]));
  bool good = work_in_processes(&work, min_u32(workers, MOST_WORKERS));
  if (!good) diags_add(diags, NULL, 0, 0, "a process that simulated faults has failed");
  for (uint32_t i = 0; i < count; i++) tally(&campaigns[i]);
  munmap(work.next, sizeof(atomic_uint));
  arena_free(arena);
  return good;
}

void study_campaigns_free(StudyCampaign *campaigns, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    golden_free(campaigns[i].golden);
    free(campaigns[i].list);
    if (campaigns[i].found != NULL) munmap((void *)(uintptr_t)campaigns[i].found, found_bytes(&campaigns[i]));
  }
}
