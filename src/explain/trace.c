// The observer behind explanations. Values are named by what they are, not by when: launch, block, warp of the block, register,
// and how often it was written before. So two runs can be compared although one is later than the other, or places
// its blocks elsewhere. Writes of a register are in program order (the scoreboard sees to it), so equal names mean equal
// instructions until the warp takes another path; from then on that warp is not compared.
//
// Cells of the register file are told when they are written, the instruction when it commits, directly after.
#include "explain/explain_internal.h"

#include <stdio.h>

enum {
  STREAM_REGISTERS = 0, // values written
  STREAM_PREDICATES = 256,
  STREAM_STORES = 272, // values of registers that an instruction read to store them, or as its address
  STREAMS = 528,
  MOST_WRITES = 64,
};

typedef struct Write { // of the instruction that commits next
  uint32_t stream, lanes;
  uint32_t values[WARP_LANES];
} Write;

typedef struct Watch { // the cells of one fault
  bool waiting, armed, unnamed;
  uint16_t region;
  uint64_t row;
  uint32_t units; // not yet overwritten
} Watch;

struct Tracer {
  Hook hook;
  TraceMode mode;
  Arena *arena;
  ValueLog *log;
  const Fault *faults;
  FaultRun *run;
  const RegionTable *regions;
  HookShape shape;
  uint16_t rf, predicates;
  Watch watches[FAULT_RUN_MOST];
  uint32_t launch, block_warps, block_threads;
  uint64_t *blocks; // [sm][block slot]: 1 + index of the block there
  uint32_t *counts; // [sm][warp][stream]: values so far
  bool *lost;       // [sm][warp]: took another path
  uint32_t write_sm, write_warp, write_count;
  uint64_t write_cycle;
  Write writes[MOST_WRITES];
};

// ---- Who is where --------------------------------------------------------------------------------------------------

static uint64_t *block_at(const Tracer *at, uint32_t sm, uint32_t warp) {
  uint32_t block_slot = warp / max_u32(at->block_warps, 1);
  bool inside = sm < at->shape.sms && block_slot < at->shape.block_slots;
  return inside ? &at->blocks[sm * at->shape.block_slots + block_slot] : NULL;
}

static uint32_t rows_per_sm(const Tracer *at, uint16_t region) {
  const Region *item = &at->regions->items[region];
  bool has_sm = item->dim_count > 0 && item->dims[0].count > 0 && strcmp(item->dims[0].name, "sm") == 0;
  return has_sm ? (uint32_t)(item->rows / item->dims[0].count) : 0;
}

static Place place_of(const Tracer *at, const HookMachine *machine, uint32_t sm, uint32_t warp, uint32_t pc) {
  Place place = {.cycle = machine->cycle, .launch = at->launch, .sm = sm, .warp = warp, .pc = UINT32_MAX};
  const uint64_t *block = warp == UINT32_MAX ? NULL : block_at(at, sm, warp);
  if (block != NULL && *block > 0) place.block = *block - 1;
  const Program *program = machine->program;
  if (program == NULL || pc >= program->code_count) return place;
  place.pc = pc;
  place.line = program->lines == NULL ? 0 : program->lines[pc];
  place.program = program->hash;
  const Function *function = program_function_at(program, pc);
  if (function != NULL) place.source = function->source;
  Text text = {0};
  program_text_at(program, pc, &text);
  snprintf(place.text, sizeof place.text, "%s", text.at);
  text_free(&text);
  return place;
}

static Place place_of_cell(const Tracer *at, const HookMachine *machine, const CellEvent *event) {
  uint32_t rows = rows_per_sm(at, event->region), sm = rows == 0 ? UINT32_MAX : (uint32_t)(event->row / rows), warp = UINT32_MAX;
  bool is_rf = event->region == at->rf;
  if (is_rf) warp = (uint32_t)(event->row % rows) / max_u32(machine->warp_rows, 1);
  if (event->region == at->predicates) warp = (uint32_t)(event->row % rows);
  return place_of(at, machine, sm, warp, is_rf ? event->who->pc : UINT32_MAX); // collectors alone say for whom they read
}

// ---- What becomes of struck cells ----------------------------------------------------------------------------------

static bool is_unused(const Tracer *at, const HookMachine *machine, const Site *site) {
  if (site->region != at->rf) return false;
  uint32_t rows = rows_per_sm(at, at->rf), row = (uint32_t)(site->row % rows), warp = row / max_u32(machine->warp_rows, 1);
  const uint64_t *block = block_at(at, (uint32_t)(site->row / rows), warp);
  if (block == NULL || *block == 0) return true;
  return warp % max_u32(at->block_warps, 1) * WARP_LANES + site->unit >= at->block_threads;
}

static void arm(Tracer *at, const HookMachine *machine, uint32_t index) {
  const Fault *fault = &at->faults[index];
  Watch *watch = &at->watches[index];
  Access *access = &at->run->accesses[index];
  Site bits[FAULT_MAX_BITS];
  uint32_t count = fault_bits(machine->regions, machine, fault, bits);
  watch->waiting = false;
  if (fault->is_output) {
    access->fate = FATE_IDLE;
    watch->armed = true;
    return;
  }
  access->fate = count == 0 && fault->warp != FAULT_NO_WARP ? FATE_NO_CELL : FATE_NOT_TOLD;
  if (count == 0 || (machine->regions->items[bits[0].region].flags & REGION_TRACED) == 0) return;
  access->fate = FATE_DEAD;
  access->unused = is_unused(at, machine, &bits[0]);
  *watch = (Watch){.armed = true, .region = bits[0].region, .row = bits[0].row};
  for (uint32_t i = 0; i < count; i++) watch->units |= bits[i].row == watch->row ? 1u << bits[i].unit : 0; // of a pattern, the first row
}

static void on_cycle(Hook *hook, HookMachine *machine) {
  Tracer *at = hook->own;
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < at->run->fault_count; i++) {
    if (at->watches[i].waiting && at->faults[i].from <= machine->cycle) arm(at, machine, i);
    if (at->watches[i].waiting) next = min_u64(next, at->faults[i].from);
  }
  hook->next_cycle = next;
}

static void watch_read(Tracer *at, const HookMachine *machine, const CellEvent *event) {
  for (uint32_t i = 0; i < at->run->fault_count; i++) {
    Watch *watch = &at->watches[i];
    Access *access = &at->run->accesses[i];
    if (!watch->armed || watch->region != event->region || watch->row != event->row || (watch->units & event->units) == 0) continue;
    access->reads++;
    if (access->fate != FATE_DEAD) continue;
    access->fate = FATE_READ;
    access->at = place_of_cell(at, machine, event);
  }
}

static void watch_write(Tracer *at, const HookMachine *machine, const CellEvent *event) {
  for (uint32_t i = 0; i < at->run->fault_count; i++) {
    Watch *watch = &at->watches[i];
    Access *access = &at->run->accesses[i];
    bool same = watch->armed && watch->region == event->region && watch->row == event->row && !at->faults[i].is_output;
    if (!same || fault_lasts(&at->faults[i])) continue;
    watch->units &= ~event->units;
    if (watch->units != 0) continue;
    watch->armed = false;
    if (access->fate != FATE_DEAD) continue;
    bool by_instruction = event->region != at->rf && event->region != at->predicates; // of those, the commit tells
    access->fate = by_instruction ? FATE_OVERWRITTEN : FATE_RESET;
    access->at = place_of_cell(at, machine, event);
    access->at.pc = UINT32_MAX;
    access->at.line = 0;
    watch->unnamed = true;
  }
}

// A result leaves a functional unit.
static void watch_result(Tracer *at, const HookMachine *machine, const ResultEvent *event) {
  for (uint32_t i = 0; i < at->run->fault_count; i++) {
    const Fault *fault = &at->faults[i];
    Access *access = &at->run->accesses[i];
    bool lasts = fault_lasts(fault);
    if (!at->watches[i].armed || !fault->is_output || !fault_meets(machine->regions, fault, event)) continue;
    if (lasts ? machine->cycle > fault->to : access->fate == FATE_RESULT) continue;
    ResultBit bits[FAULT_MAX_BITS];
    bool is_struck = lasts || fault_result_bits(machine->regions, fault, machine->cycle, event, bits) > 0;
    bool is_first = is_struck ? access->fate != FATE_RESULT : access->reads == 0;
    if (is_first) access->at = place_of(at, machine, event->who->sm, event->who->warp, event->who->pc);
    if (is_struck) access->fate = FATE_RESULT;
    access->reads = lasts ? access->reads + 1 : 1;
  }
}

// The instruction that overwrote a cell commits.
static void name_writer(Tracer *at, const HookMachine *machine, const CommitEvent *event) {
  for (uint32_t i = 0; i < at->run->fault_count; i++) {
    Access *access = &at->run->accesses[i];
    if (!at->watches[i].unnamed) continue;
    bool same = access->at.cycle == machine->cycle && access->at.sm == event->who->sm && access->at.warp == event->who->warp;
    if (same) access->fate = FATE_OVERWRITTEN, access->at = place_of(at, machine, event->who->sm, event->who->warp, event->who->pc);
    if (same || access->at.cycle != machine->cycle) at->watches[i].unnamed = false;
  }
}

// ---- Values --------------------------------------------------------------------------------------------------------

static uint32_t value_hash(const Write *write) {
  uint32_t masked[WARP_LANES + 1] = {[WARP_LANES] = write->lanes};
  for (uint32_t i = 0; i < WARP_LANES; i++) masked[i] = (write->lanes >> i & 1) != 0 ? write->values[i] : 0;
  return (uint32_t)hash_bytes(masked, sizeof masked, 0);
}

static StepKind kind_of(const Write *write, const Place *place, const HookMachine *machine) {
  if (write->stream < STREAM_PREDICATES) return STEP_REGISTER;
  if (write->stream < STREAM_STORES) return STEP_PREDICATE;
  const Program *program = machine->program;
  uint32_t number = write->stream - STREAM_STORES;
  if (program->decoded == NULL) return number == program->foreign[place->pc].address ? STEP_STORE_ADDRESS : STEP_STORE_DATA;
  const Instr *instr = &program->decoded[place->pc];
  return number == instr->a || number == instr->a + 1u ? STEP_STORE_ADDRESS : STEP_STORE_DATA;
}

static uint32_t number_of(const Write *write) {
  return write->stream < STREAM_PREDICATES ? write->stream
                                           : write->stream - (write->stream < STREAM_STORES ? STREAM_PREDICATES : STREAM_STORES);
}

static void note(Tracer *at, const HookMachine *machine, const Write *write, const Place *place, bool other_path, uint64_t key) {
  FaultRun *run = at->run;
  StepKind kind = other_path ? STEP_PATH : kind_of(write, place, machine);
  bool is_store = write->stream >= STREAM_STORES, is_global = false;
  if (is_store) program_stores_at(machine->program, place->pc, &is_global);
  bool is_first = (is_store && run->different_stores == 0) || (is_global && run->different_global == 0);
  run->different++;
  run->different_stores += is_store;
  run->different_global += is_global;
  if (run->step_count >= MOST_STEPS && !is_first) return;
  Step *step = &run->steps[run->step_count++];
  *step = (Step){.kind = kind, .at = *place, .number = number_of(write), .active = write->lanes, .key = key};
  memcpy(step->values, write->values, sizeof step->values);
}

// What the run without faults has there: which lanes differ, and in what.
static void fetch(FaultRun *run, const Write *write, uint64_t key) {
  for (uint32_t i = 0; i < run->step_count; i++) {
    Step *step = &run->steps[i];
    if (step->key != key || step->known || step->kind == STEP_PATH) continue;
    uint32_t differ = 0;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) differ |= (step->values[lane] != write->values[lane] ? 1u : 0u) << lane;
    step->lanes = (differ & step->active & write->lanes) | (step->active ^ write->lanes);
    if (step->lanes == 0) continue;
    step->lane = (uint32_t)__builtin_ctz(step->lanes);
    step->expected = write->values[step->lane];
    step->got = step->values[step->lane];
    step->address = step->addresses[step->lane];
    step->idle = (step->active >> step->lane & 1) == 0;
    step->should_idle = (write->lanes >> step->lane & 1) == 0;
    step->known = true;
  }
}

static void take_value(Tracer *at, const HookMachine *machine, const Write *write, const Place *place) {
  const uint64_t *block = block_at(at, place->sm, place->warp);
  if (block == NULL || *block == 0 || place->warp >= at->shape.warps) return;
  uint32_t warp = place->sm * at->shape.warps + place->warp;
  if (at->lost[warp]) return;
  uint64_t name[4] = {at->launch, (*block - 1) * at->block_warps + place->warp % at->block_warps, write->stream,
                      at->counts[warp * STREAMS + write->stream]++};
  uint64_t key = hash_bytes(name, sizeof name, 0);
  if (at->mode == TRACE_RECORD) value_log_put(at->log, key, place->pc, value_hash(write));
  if (at->mode == TRACE_FETCH) fetch(at->run, write, key);
  if (at->mode != TRACE_COMPARE) return;
  const LoggedValue *golden = value_log_get(at->log, key);
  bool is_store = write->stream >= STREAM_STORES;
  if (golden == NULL && at->log->full) return;
  bool other_path = golden == NULL || golden->pc != place->pc;
  if (other_path && is_store) return; // collectors may be served in another order
  if (!other_path && golden->hash == value_hash(write)) return;
  at->lost[warp] = other_path;
  Place here = place_of(at, machine, place->sm, place->warp, place->pc);
  note(at, machine, write, &here, other_path, key);
}

// ---- Events --------------------------------------------------------------------------------------------------------

static void keep_write(Tracer *at, uint64_t cycle, uint32_t sm, uint32_t warp, const Write *write) {
  bool same = at->write_cycle == cycle && at->write_sm == sm && at->write_warp == warp;
  if (!same) at->write_count = 0;
  at->write_cycle = cycle;
  at->write_sm = sm;
  at->write_warp = warp;
  if (at->write_count < MOST_WRITES) at->writes[at->write_count++] = *write;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Tracer *at = hook->own;
  watch_write(at, machine, event);
  Write write = {.lanes = event->units};
  if (event->region == at->rf) {
    uint32_t rows = rows_per_sm(at, at->rf), row = (uint32_t)(event->row % rows), own = max_u32(machine->warp_rows, 1);
    if (row % own >= STREAM_PREDICATES) return VERDICT_PASS;
    write.stream = STREAM_REGISTERS + row % own;
    memcpy(write.values, event->data, sizeof write.values);
    keep_write(at, machine->cycle, (uint32_t)(event->row / rows), row / own, &write);
  } else if (event->region == at->predicates && event->units != 0) {
    uint32_t rows = rows_per_sm(at, at->predicates), number = (uint32_t)__builtin_ctz(event->units), bits;
    memcpy(&bits, event->data + number * sizeof bits, sizeof bits);
    write.stream = STREAM_PREDICATES + number % 16;
    write.lanes = UINT32_MAX;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) write.values[lane] = bits >> lane & 1;
    keep_write(at, machine->cycle, (uint32_t)(event->row / rows), (uint32_t)(event->row % rows), &write);
  }
  return VERDICT_PASS;
}

static Verdict on_commit(Hook *hook, HookMachine *machine, const CommitEvent *event) {
  Tracer *at = hook->own;
  name_writer(at, machine, event);
  if (at->write_cycle != machine->cycle || at->write_sm != event->who->sm) at->write_count = 0;
  Place place = {.cycle = machine->cycle, .sm = event->who->sm, .warp = at->write_warp, .pc = event->who->pc};
  for (uint32_t i = 0; i < at->write_count; i++) take_value(at, machine, &at->writes[i], &place);
  at->write_count = 0;
  return VERDICT_PASS;
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Tracer *at = hook->own;
  watch_read(at, machine, event);
  const Program *program = machine->program;
  bool is_global;
  if (event->region != at->rf || program == NULL || !program_stores_at(program, event->who->pc, &is_global)) return VERDICT_PASS;
  uint32_t rows = rows_per_sm(at, at->rf), row = (uint32_t)(event->row % rows), own = max_u32(machine->warp_rows, 1);
  if (row % own >= STREAM_PREDICATES) return VERDICT_PASS;
  Write write = {.stream = STREAM_STORES + row % own, .lanes = event->units};
  memcpy(write.values, event->data, sizeof write.values);
  Place place = {.cycle = machine->cycle, .sm = (uint32_t)(event->row / rows), .warp = row / own, .pc = event->who->pc};
  take_value(at, machine, &write, &place);
  return VERDICT_PASS;
}

// Of a store that was noted because of what it read: its addresses.
static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Tracer *at = hook->own;
  if (at->mode == TRACE_RECORD) watch_result(at, machine, event);
  if (at->mode != TRACE_COMPARE || event->instr == NULL || event->row_count != 2 ||
      (op_info[event->instr->op].flags & IT_WRITES_MEMORY) == 0)
    return VERDICT_PASS;
  for (uint32_t i = at->run->step_count; i-- > 0;) {
    Step *step = &at->run->steps[i];
    bool is_store = step->kind == STEP_STORE_DATA || step->kind == STEP_STORE_ADDRESS;
    if (!is_store || step->at.sm != event->who->sm || step->at.warp != event->who->warp || step->at.pc != event->who->pc) continue;
    for (uint32_t slot = 0; slot < WARP_LANES; slot++) {
      uint64_t *address = &step->addresses[event->thread[slot] % WARP_LANES];
      bool is_own = ((event->mask & ~event->shadow) >> slot & 1) != 0 && event->owner_of[slot] == 0;
      if (is_own && *address == 0) *address = row_get(event->rows, slot, 2);
    }
  }
  return VERDICT_PASS;
}

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Tracer *at = hook->own;
  (void)machine;
  uint32_t first = event->who->block_slot * at->block_warps;
  uint64_t *block = block_at(at, event->who->sm, first);
  if (block == NULL) return VERDICT_PASS;
  *block = event->done ? 0 : event->who->block + 1;
  for (uint32_t warp = first; warp < first + at->block_warps && warp < at->shape.warps; warp++) {
    uint64_t index = (uint64_t)event->who->sm * at->shape.warps + warp;
    memset(&at->counts[index * STREAMS], 0, STREAMS * sizeof *at->counts);
    at->lost[index] = false;
  }
  return VERDICT_PASS;
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Tracer *at = hook->own;
  at->regions = machine->regions;
  at->launch++;
  at->block_threads = event->block[0] * event->block[1] * event->block[2];
  at->block_warps = max_u32((at->block_threads + WARP_LANES - 1) / WARP_LANES, 1);
  memset(at->blocks, 0, sizeof *at->blocks * at->shape.sms * at->shape.block_slots);
  return VERDICT_PASS;
}

// Everything on the chip is put to rest, but for what is kept for the next launch.
static void on_finish(Hook *hook, HookMachine *machine) {
  Tracer *at = hook->own;
  (void)machine;
  for (uint32_t i = 0; i < at->run->fault_count; i++) {
    bool is_kept = (at->regions->items[at->faults[i].site.region].flags & REGION_KEPT) != 0;
    if (!at->faults[i].is_output && !is_kept) at->watches[i].armed = at->watches[i].unnamed = false;
  }
}

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Tracer *at = hook->own;
  (void)diags;
  at->shape = *hook_layout_shape(layout);
  uint64_t warps = (uint64_t)at->shape.sms * at->shape.warps;
  at->rf = region_with_role(hook_layout_regions(layout), REGION_ROLE_REGISTERS);
  at->predicates = region_with_role(hook_layout_regions(layout), REGION_ROLE_PREDICATES);
  at->blocks = ARENA_ARRAY(at->arena, uint64_t, (uint64_t)at->shape.sms * at->shape.block_slots + 1);
  at->counts = ARENA_ARRAY(at->arena, uint32_t, warps * STREAMS + 1);
  at->lost = ARENA_ARRAY(at->arena, bool, warps + 1);
  return true;
}

Tracer *tracer_new(Arena *arena, ValueLog *log, const Fault *faults, FaultRun *run) {
  Tracer *at = ARENA_NEW(arena, Tracer);
  *at = (Tracer){.arena = arena, .log = log, .faults = faults, .run = run};
  return at;
}

Hook *tracer_hook(Tracer *at, TraceMode mode) {
  at->mode = mode;
  at->launch = 0;
  at->write_count = 0;
  at->hook = (Hook){.name = "explain", .kind = HOOK_OBSERVER, .own = at, .attach = on_attach};
  at->hook.launch = on_launch;
  at->hook.block = on_block;
  at->hook.read = on_read;
  at->hook.write = on_write;
  at->hook.result = on_result;
  at->hook.commit = on_commit;
  at->hook.finish = on_finish;
  at->hook.cycle = on_cycle;
  at->hook.next_cycle = UINT64_MAX;
  for (uint32_t i = 0; mode == TRACE_RECORD && i < at->run->fault_count; i++) {
    at->watches[i] = (Watch){.waiting = true};
    at->hook.next_cycle = min_u64(at->hook.next_cycle, at->faults[i].from);
  }
  return &at->hook;
}
