// Physical registers for one function: the fewest that colour, at most its limit, with spills
// where the limit is too low.
#include "program/mir_internal.h"

typedef struct Round {
  Arena *arena;
  Cfg cfg;
  Live live;
  Graph graph;
} Round;

static void begin_round(Round *round, Work *work) {
  memset(round, 0, sizeof *round);
  round->arena = arena_new();
  cfg_build(&round->cfg, round->arena, work->function);
  live_build(&round->live, round->arena, work->function, &round->cfg);
  graph_build(&round->graph, round->arena, work, &round->cfg, &round->live);
  work->colour = ARENA_ARRAY(work->arena, uint8_t, work->function->vregs.count);
}

// Helpers cannot be spilled again: their dearest neighbours give way instead.
static void replace_temps(const Round *round, const Work *work, const VregVec *failed, VregVec *chosen) {
  bool *taken = ARENA_ARRAY(round->arena, bool, round->live.vreg_count);
  for (uint32_t i = 0; i < failed->count; i++) {
    VregId v = failed->items[i], best = NONE;
    if (!work_is_temp(work, v)) {
      best = v;
    } else {
      for (uint32_t u = round->live.unit_base[v]; u < round->live.unit_base[v + 1]; u++) {
        for (uint32_t e = round->graph.start[u]; e < round->graph.start[u + 1]; e++) {
          VregId n = round->live.vreg_of[round->graph.adjacent[e]];
          if (work_is_temp(work, n) || n == work->callee_frame) continue;
          if (best == NONE || round->graph.cost[n] < round->graph.cost[best]) best = n;
        }
      }
    }
    if (best == NONE || taken[best]) continue;
    taken[best] = true;
    *VEC_PUSH(chosen, round->arena) = best;
  }
}

static bool colour_registers(Round *round, Work *work, VregVec *failed) {
  uint32_t least = max_u32(1, round->graph.pressure[0]);
  for (uint32_t count = min_u32(least, work->limit); count <= work->limit; count++) {
    if (colour_try(&round->graph, round->arena, work, false, count, work->colour, failed)) return true;
  }
  return false;
}

static void count_used(const Round *round, Work *work) {
  work->registers = work->reserve_r0 ? 1 : 0;
  work->predicates = 0;
  for (VregId v = 0; v < round->live.vreg_count; v++) {
    if (round->graph.first[v] == NONE || v == work->function->frame_pointer || v == work->callee_frame) continue;
    unsigned width = work->function->vregs.items[v].width;
    if (width == 0) work->predicates = max_u32(work->predicates, work->colour[v] + 1u);
    else work->registers = max_u32(work->registers, work->colour[v] + width);
  }
}

bool mir_allocate(Work *work) {
  mir_coalesce(work);
  enum { MOST_ROUNDS = 400 };
  for (unsigned n = 0; n < MOST_ROUNDS; n++) {
    Round round;
    begin_round(&round, work);
    VregVec failed = {0}, chosen = {0};
    bool fits =
        colour_try(&round.graph, round.arena, work, true, MAX_PREDICATES, work->colour, &failed) && colour_registers(&round, work, &failed);
    if (fits) {
      count_used(&round, work);
      arena_free(round.arena);
      return true;
    }
    replace_temps(&round, work, &failed, &chosen);
    if (chosen.count > 0) mir_spill(work, chosen.items, chosen.count);
    arena_free(round.arena);
    if (chosen.count > 0) continue;
    if (work->limit == MAX_REGISTERS) break;
    work->limit = min_u32(work->limit + 4, MAX_REGISTERS); // a single instruction needs more
  }
  return diags_add(work->diags, work->module->file, 0, 0, "%s needs more than %u registers at once", work->function->name,
                   (unsigned)MAX_REGISTERS);
}
