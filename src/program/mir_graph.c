// Interference between units: a write conflicts with everything else that is live after it.
// Only units of the same kind meet; a copy does not conflict with its source.
#include "program/mir_internal.h"

typedef struct Edge {
  uint32_t from, to;
} Edge;
typedef VEC(Edge) EdgeVec;

typedef struct Builder {
  Graph *graph;
  const Live *live;
  Arena *arena;
  EdgeVec edges;
  uint32_t frame_vreg; // takes no part: fixed
} Builder;

static void add_edge(Builder *builder, uint32_t a, uint32_t b) {
  const Live *live = builder->live;
  uint32_t va = live->vreg_of[a], vb = live->vreg_of[b];
  if (va == vb || va == builder->frame_vreg || vb == builder->frame_vreg) return;
  *VEC_PUSH(&builder->edges, builder->arena) = (Edge){a, b};
}

// The unit that a copy writes unit u from; NONE.
static uint32_t copy_source(const Live *live, const MirInstr *instr, uint32_t u) {
  if ((mir_flags(instr) & IT_MOVE) == 0 || instr->a.vreg == VREG_NONE || instr->select != SELECT_REGISTERS) return NONE;
  return unit_of_ref(live, instr->a) + (u - unit_of_ref(live, instr->d[0]));
}

static void add_write(Builder *builder, const LiveScan *scan, const MirInstr *instr, uint32_t u) {
  unsigned kind = builder->live->is_predicate[u];
  uint32_t source = copy_source(builder->live, instr, u);
  for (uint32_t i = 0; i < scan->count[kind]; i++) {
    uint32_t other = scan->dense[kind][i];
    if (other != u && other != source) add_edge(builder, u, other);
  }
}

static void add_instr(Builder *builder, const LiveScan *scan, const MirInstr *instr, const Operand *operands, unsigned count) {
  const Live *live = builder->live;
  uint32_t dead[2] = {0, 0};
  for (unsigned i = 0; i < count; i++) {
    if (!operands[i].written) continue;
    uint32_t unit = unit_of_ref(live, *operands[i].ref);
    for (unsigned k = 0; k < operand_units(&operands[i]); k++) {
      add_write(builder, scan, instr, unit + k);
      if (!live_has(scan, unit + k)) dead[operands[i].registers == 0]++;
      for (unsigned j = 0; j < i; j++) { // results of one instruction
        if (!operands[j].written || (operands[j].registers == 0) != (operands[i].registers == 0)) continue;
        uint32_t earlier = unit_of_ref(live, *operands[j].ref);
        for (unsigned m = 0; m < operand_units(&operands[j]); m++) add_edge(builder, unit + k, earlier + m);
      }
    }
  }
  for (unsigned kind = 0; kind < 2; kind++)
    builder->graph->pressure[kind] = max_u32(builder->graph->pressure[kind], scan->count[kind] + dead[kind]);
}

static void note_vregs(Graph *graph, const MirInstr *instr, const Operand *operands, unsigned count, uint32_t at, float weight) {
  for (unsigned i = 0; i < count; i++) {
    VregId v = operands[i].ref->vreg;
    graph->cost[v] += weight;
    graph->first[v] = min_u32(graph->first[v], at);
  }
  if ((mir_flags(instr) & IT_MOVE) != 0 && instr->select == SELECT_REGISTERS && instr->a.vreg != VREG_NONE &&
      instr->d[0].vreg != VREG_NONE) {
    graph->partner[instr->d[0].vreg] = instr->a.vreg;
    graph->partner[instr->a.vreg] = instr->d[0].vreg;
  }
}

static void scan_blocks(Builder *builder, Work *work, const Cfg *cfg) {
  LiveScan scan;
  live_scan_init(&scan, builder->arena, builder->live);
  uint32_t at = 0;
  for (uint32_t b = 0; b < cfg->count; b++) {
    MirBlock *block = &work->function->blocks.items[b];
    float weight = 1;
    for (uint32_t d = 0; d < min_u32(cfg->depth[b], 6); d++) weight *= 10;
    live_scan_begin(&scan, b);
    for (uint32_t i = block->instrs.count; i-- > 0;) {
      MirInstr *instr = &block->instrs.items[i];
      Operand operands[MAX_OPERANDS];
      unsigned count = mir_operands(instr, operands);
      add_instr(builder, &scan, instr, operands, count);
      note_vregs(builder->graph, instr, operands, count, at + i, weight);
      live_scan_step(&scan, instr, operands, count);
    }
    for (unsigned kind = 0; kind < 2; kind++) builder->graph->pressure[kind] = max_u32(builder->graph->pressure[kind], scan.count[kind]);
    at += block->instrs.count;
  }
}

// Neighbours in one array, each once.
static void pack_edges(Graph *graph, Arena *arena, const EdgeVec *edges, uint32_t units) {
  uint32_t *fill = ARENA_ARRAY(arena, uint32_t, units + 2);
  for (uint32_t e = 0; e < edges->count; e++) {
    fill[edges->items[e].from + 2]++;
    fill[edges->items[e].to + 2]++;
  }
  for (uint32_t u = 0; u < units; u++) fill[u + 2] += fill[u + 1];
  uint32_t *all = ARENA_ARRAY(arena, uint32_t, 2 * (size_t)edges->count);
  for (uint32_t e = 0; e < edges->count; e++) {
    Edge edge = edges->items[e];
    all[fill[edge.from + 1]++] = edge.to;
    all[fill[edge.to + 1]++] = edge.from;
  }
  uint32_t *stamp = ARENA_ARRAY(arena, uint32_t, units);
  graph->start = ARENA_ARRAY(arena, uint32_t, units + 1);
  uint32_t kept = 0;
  for (uint32_t u = 0; u < units; u++) {
    graph->start[u] = kept;
    for (uint32_t e = fill[u]; e < fill[u + 1]; e++) {
      if (stamp[all[e]] == u + 1) continue;
      stamp[all[e]] = u + 1;
      all[kept++] = all[e];
    }
  }
  graph->start[units] = kept;
  graph->adjacent = all;
}

void graph_build(Graph *graph, Arena *arena, Work *work, const Cfg *cfg, const Live *live) {
  memset(graph, 0, sizeof *graph);
  graph->live = live;
  graph->cost = ARENA_ARRAY(arena, float, live->vreg_count);
  graph->first = ARENA_ARRAY(arena, uint32_t, live->vreg_count);
  graph->partner = ARENA_ARRAY(arena, uint32_t, live->vreg_count);
  memset(graph->first, 0xFF, sizeof(uint32_t) * live->vreg_count);
  memset(graph->partner, 0xFF, sizeof(uint32_t) * live->vreg_count);
  Builder builder = {.graph = graph, .live = live, .arena = arena, .frame_vreg = work->function->frame_pointer};
  scan_blocks(&builder, work, cfg);
  pack_edges(graph, arena, &builder.edges, live->unit_count);
}
