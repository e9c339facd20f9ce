// Programs on broken lanes: shield_proof MAPS SHARD/SHARDS [WORKLOAD...]. Every workload with every map, drawn from its number: up to three lanes
// of each cluster of SPs, SFUs, double-precision and tensor units put out garbage. Under shield the outputs must be right bit for bit, and no thread may
// ever be on a broken lane. Without it, what the same lanes do is counted. The last line is what shield.sh adds up.
#include "broken.h"

enum { SLOWER = 20, MOST_DENSITY = 75 };

typedef struct Tally {
  uint64_t runs, parts, moved, bound;                 // protected
  uint64_t touched, wrong, ended, right, unprotected; // the same maps without protection
} Tally;

static bool is_chosen(const char *name, char **names, int count) {
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], name) == 0) return true;
  }
  return count == 0;
}

// The map of a number: how many lanes, which rule.
static void describe(uint64_t number, char *text, size_t bytes) {
  uint64_t density = 1 + random_below(random_draw(number, 0, 0), MOST_DENSITY);
  snprintf(text, bytes, "map=random,where=sp+sfu+fp64+tensor,density=%u,seed=%u,pool=%s,units=%s", (unsigned)density, (unsigned)number,
           number % 3 == 0 ? "true" : "false", number % 4 == 1 ? "true" : "false");
}

static void prove(const Workload *workload, const Spec *spec, uint64_t number, const Outcome *golden, Tally *tally) {
  Arena *arena = arena_new();
  Diags diags = {0};
  Broken broken;
  char options[128], protection[160];
  describe(number, options, sizeof options);
  snprintf(protection, sizeof protection, "shield:%s", options);
  broken_make(&broken, options, (Spoil)(number % SPOILS), number, arena);
  const char *other = number % 8 == 3 ? "dmr:shuffle=3" : number % 8 == 6 ? "secded:rf" : NULL; // schemes go together
  Hook *hooks[] = {&broken.hook, other == NULL ? NULL : protect_new(other, arena, &diags), protect_new(protection, arena, &diags),
                   &broken.watch};
  Outcome shielded = broken_run(workload, spec, hooks, COUNT_OF(hooks));
  if (!shielded.is_done || shielded.hash != golden->hash || broken.seen + broken.met != 0) {
    fprintf(stderr, "%s, %s %s: trap %d, outputs %s, %lu results on broken lanes\n", workload->name, other == NULL ? "" : other, protection,
            shielded.trap, shielded.hash == golden->hash ? "right" : "wrong", broken.seen);
    exit(1);
  }
  tally->runs++;
  tally->parts += shielded.stats.value[STAT_PARTS];
  tally->moved += shielded.stats.value[STAT_MOVED];
  tally->bound += shielded.stats.value[STAT_BOUND];

  broken_make(&broken, options, (Spoil)(number % SPOILS), number, arena);
  broken.last = golden->stats.value[STAT_CYCLES] * SLOWER;
  hooks[1] = hooks[2] = NULL;
  Outcome bare = broken_run(workload, spec, hooks, COUNT_OF(hooks));
  if (broken.seen != broken.met && bare.is_done) broken_die("the observer has missed a result on a broken lane", &diags);
  bool is_wrong = bare.is_done && bare.hash != golden->hash;
  tally->unprotected++;
  tally->touched += broken.seen > 0;
  tally->wrong += is_wrong;
  tally->ended += !bare.is_done;
  tally->right += bare.is_done && !is_wrong;
  diags_free(&diags);
  arena_free(arena);
}

int main(int argc, char **argv) {
  unsigned long maps = 0, shard = 0, shards = 1;
  if (argc < 3 || sscanf(argv[1], "%lu", &maps) != 1 || sscanf(argv[2], "%lu/%lu", &shard, &shards) != 2) {
    fprintf(stderr, "shield_proof MAPS SHARD/SHARDS [WORKLOAD...]\n");
    return 2;
  }
  Arena *arena = arena_new();
  Diags diags = {0};
  Spec spec;
  bool good = spec_load(&spec, arena, "fermi-gtx480", &diags) && spec_set(&spec, "sm.count", "2", NULL, 0, &diags) &&
              spec_set(&spec, "limit.instructions", "20000000", NULL, 0, &diags);
  if (!good) broken_die("machine", &diags);
  Tally tally = {0};
  for (uint32_t i = 0; i < workload_count; i++) {
    if (!is_chosen(workloads[i]->name, argv + 3, argc - 3)) continue;
    Outcome golden = broken_run(workloads[i], &spec, NULL, 0);
    if (!golden.is_done) broken_die(workloads[i]->name, &diags);
    for (uint64_t number = 1 + shard; number <= maps; number += shards) prove(workloads[i], &spec, number + 1000 * i, &golden, &tally);
  }
  printf("runs %lu parts %lu moved %lu bound %lu unprotected %lu touched %lu wrong %lu ended %lu right %lu\n", tally.runs, tally.parts,
         tally.moved, tally.bound, tally.unprotected, tally.touched, tally.wrong, tally.ended, tally.right);
  diags_free(&diags);
  arena_free(arena);
  return 0;
}
