// Sizes, layout and binding of the SIMT machine's block; see state.h.
#include "machine/simt/state.h"

enum { ARRAY_ALIGN = 64 };

// Equal states must have equal bytes: no struct of the block may have padding.
#define SIZE_IS(Type, size) _Static_assert(sizeof(Type) == (size), #Type " has padding or has changed")
SIZE_IS(CacheLine, 8 + 16 + 16);
SIZE_IS(Packet, 56 + 8 + 16 + 4 * MEMORY_STAGES + 4 + 2 * LINE_BYTES);
SIZE_IS(Uop, 16 + 8 + 8 + 16 + 16);
SIZE_IS(Plan, 16 + 2 * WARP_LANES + 16 * SIMT_PLAN_OWNERS);
SIZE_IS(Rest, sizeof(Uop) + 32);
SIZE_IS(Ticket, 8);
SIZE_IS(Collector, sizeof(Uop) + 8 + 2 * SIMT_SOURCE_ROWS + SIMT_SOURCE_ROWS * 128);
SIZE_IS(Flight, sizeof(Uop) + 16 + 8 + SIMT_RESULT_ROWS * 128);
SIZE_IS(MemOp, sizeof(Uop) + 8 + 8 * WARP_LANES + 32 + (SIMT_MEMORY_ROWS + 2) * 128);
SIZE_IS(Gather, sizeof(Uop) + 8 + 24 + SIMT_GATHER_LINES * (8 + 16 + LINE_BYTES) + (SIMT_SOURCE_ROWS + SIMT_RESULT_ROWS) * 128);
SIZE_IS(BufferEntry, 24);
SIZE_IS(Actor, 4 * 8 + 6 * 4);
SIZE_IS(HeldLine, 8 + 16 + LINE_BYTES);
SIZE_IS(HeldBlock, 16);
SIZE_IS(HeldFor, 4);
SIZE_IS(Joins, 4 + SIMT_JOIN_STORES);
SIZE_IS(FreeLoad, 8 + sizeof(Packet));
SIZE_IS(Mshr, 8 + 16 + 4 + 12 + 4 * MSHR_MOST_WAITERS);

static uint32_t narrow(uint64_t value) { return (uint32_t)min_u64(value, UINT32_MAX); }

// Of a unit that can begin a warp every `interval` cycles, clocked like the SPs.
static uint32_t unit_lanes(const Spec *spec, uint64_t interval) { return max_u32(WARP_LANES / narrow(interval * spec->sm_sp_clock), 1); }

static void dims_of_sm(const Spec *spec, SimtDims *d) {
  d->sms = narrow(spec->sm_count);
  d->tpcs = (d->sms + narrow(spec->sm_per_tpc) - 1) / narrow(spec->sm_per_tpc);
  d->warps = min_u32(narrow(spec->sm_threads / WARP_LANES), SIMT_MOST_WARPS);
  d->blocks = narrow(spec->sm_blocks);
  d->register_rows = narrow(spec->sm_registers / WARP_LANES);
  d->shared_rows = narrow((spec->sm_shared + LINE_BYTES - 1) / LINE_BYTES);
  d->stack = narrow(spec->sm_stack);
  d->levels = min_u32(narrow(spec->sm_stack_levels), d->stack);
  d->barriers = spec->sm_divergence == DIVERGENCE_BARRIERS;
  d->two_level = spec->scheduler_policy == SCHEDULE_TWO_LEVEL;
  d->unified = spec->texture_array == TEXTURE_IN_L1D;
  d->schedulers = narrow(spec->sm_schedulers);
  d->collectors = narrow(spec->collector_units);
  d->sps = narrow(spec->sm_sps);
  d->sp_lanes = narrow(spec->sm_sp_lanes);
  d->sfu_lanes = unit_lanes(spec, spec->interval_sfu);
  d->fp64_lanes = unit_lanes(spec, spec->interval_fp64);
  d->tensor_lanes = unit_lanes(spec, spec->interval_tensor);
  d->ldst_lanes = unit_lanes(spec, spec->interval_ldst);
  d->memops = narrow(spec->ldst_pending);
  d->gathers = narrow(spec->texture_pending);
  d->out = narrow(spec->ldst_out);
  d->buffer = narrow(spec->front_buffer);
  // One for everything that can hold a part: nobody ever waits for a plan or a ticket. Number 0 is none.
  uint32_t packed = spec->scheduler_large_warp > 1 ? d->memops + d->gathers : 0;
  d->plans = min_u32(1 + d->collectors + SIMT_FLIGHTS + packed + 2 * d->schedulers + 8, SIMT_MOST_PLANS);
  d->tickets = min_u32(1 + d->collectors + SIMT_FLIGHTS + d->memops + d->gathers + d->warps, SIMT_MOST_TICKETS);
  d->l1d = cache_shape(spec->l1d_bytes, spec->l1d_ways, LINE_BYTES, spec->l1d_sector);
  d->constant = cache_shape(spec->constant_bytes, spec->constant_ways, LINE_BYTES, LINE_BYTES);
  d->texture = cache_shape(spec->texture_bytes, spec->texture_ways, LINE_BYTES, LINE_BYTES);
  d->icache = cache_shape(spec->icache_bytes, spec->icache_ways, spec->icache_line, spec->icache_line);
  d->icache2 = cache_shape(spec->icache2_bytes, spec->icache2_ways, spec->icache_line, spec->icache_line);
  d->l1d_lines = cache_lines(&d->l1d);
  d->constant_lines = cache_lines(&d->constant);
  d->texture_lines = cache_lines(&d->texture);
  d->icache_lines = cache_lines(&d->icache);
  d->icache2_lines = cache_lines(&d->icache2);
  d->l1d_mshrs = narrow(spec->l1d_mshrs);
  d->icache_mshrs = narrow(spec->icache_mshrs);
  d->instruction_bytes = narrow(spec->front_instruction);
  d->split = d->instruction_bytes < INSTR_BYTES;
  d->keeps_icache = spec->launch_icache == LAUNCH_KEPT;
  d->keeps_constant = spec->launch_constant == LAUNCH_KEPT;
  d->keeps_turn = spec->dispatch_first == DISPATCH_FIRST_NEXT;
}

// Memory clocks in scaled core cycles, rounded up.
static uint32_t scaled(const Spec *spec, uint64_t memory_clocks) {
  return narrow((memory_clocks * DRAM_TIME_SCALE * spec->clock_core_khz + spec->clock_memory_khz - 1) / spec->clock_memory_khz);
}

static void dims_of_memory(const Spec *spec, SimtDims *d) {
  d->memory_lead = narrow(spec->memory_lead);
  d->memory_rows = narrow((spec->memory_bytes - d->memory_lead) / LINE_BYTES);
  d->controllers = narrow(spec->dram_controllers);
  d->slices = narrow(spec->l2_slices);
  d->partitions = d->controllers * d->slices;
  d->l2 = cache_shape(spec->l2_bytes, spec->l2_ways, LINE_BYTES, spec->l2_sector);
  d->l2_mshrs = narrow(spec->l2_mshrs);
  d->l2_lines = d->l2.sets == 0 ? d->l2_mshrs : cache_lines(&d->l2); // without L2: a buffer per request to DRAM
  d->keeps_l2 = d->l2.sets > 0 && spec->launch_l2 == LAUNCH_KEPT;
  d->l2_queue = narrow(spec->l2_queue);
  d->l2_inputs = d->l2_queue + min_u32(narrow(spec->l2_latency), SIMT_MOST_L2_PIPE); // one request a cycle
  NetworkKind kind = (NetworkKind)spec->network_kind;
  uint32_t flit = narrow(spec->network_flit), latency = narrow(spec->network_latency), buffer = narrow(spec->network_buffer);
  d->request = network_shape(kind, d->sms, d->partitions, flit, latency, buffer);
  d->reply = network_shape(kind, d->partitions, d->sms, flit, latency, buffer);
  d->request_buffers = d->request.buffer_count;
  d->request_packets = d->request.buffer_count * d->request.buffer;
  d->reply_buffers = d->reply.buffer_count;
  d->reply_packets = d->reply.buffer_count * d->reply.buffer;
  d->banks = narrow(spec->dram_banks);
  d->dram_queue = narrow(spec->dram_queue);
  d->dram =
      (DramShape){.policy = (DramPolicy)spec->dram_policy,
                  .queue = d->dram_queue,
                  .banks = d->banks,
                  .row_bytes = narrow(spec->dram_row),
                  .controllers = d->controllers,
                  .interleave_bytes = narrow(spec->dram_interleave) * d->slices,
                  .burst_bytes = narrow(spec->dram_burst),
                  .read_bytes = narrow(spec->l2_fetch == L2_FETCH_TOGETHER ? spec->dram_burst : min_u64(spec->dram_burst, spec->l2_sector)),
                  .t_rcd = scaled(spec, spec->dram_rcd),
                  .t_rp = scaled(spec, spec->dram_rp),
                  .t_cl = scaled(spec, spec->dram_cl),
                  .t_wl = scaled(spec, spec->dram_wl),
                  .t_ras = scaled(spec, spec->dram_ras),
                  .t_rc = scaled(spec, spec->dram_rc),
                  .t_ccd = scaled(spec, spec->dram_ccd),
                  .groups = (uint32_t)spec->dram_groups,
                  .t_ccdl = scaled(spec, max_u64(spec->dram_ccdl, spec->dram_ccd)),
                  .t_wr = scaled(spec, spec->dram_wr),
                  .t_cdlr = scaled(spec, spec->dram_cdlr),
                  .t_rrd = scaled(spec, spec->dram_rrd),
                  .t_burst = scaled(spec, spec->dram_burst_clocks),
                  .latency = 0}; // spent in the slice's miss register, not in the queue: see l2_fill
}

// Large warps are dealt to the schedulers as a whole.
static void deal_warps(const Spec *spec, SimtDims *d) {
  uint32_t together = max_u32(narrow(spec->scheduler_large_warp), 1);
  for (uint32_t warp = 0; warp < SIMT_MOST_WARPS; warp++) {
    d->scheduler_warps[warp / together % max_u32(d->schedulers, 1) % SIMT_MOST_SCHEDULERS] |= UINT64_C(1) << warp;
  }
}

void simt_dims(const Spec *spec, SimtDims *dims) {
  *dims = (SimtDims){0};
  dims_of_sm(spec, dims);
  deal_warps(spec, dims);
  dims_of_memory(spec, dims);
}

static uint32_t whole_groups(uint32_t times) { return (uint32_t)align_up(times, 32); } // see times_due

typedef struct ArrayPlace {
  size_t at, bytes, element_bytes;
  uint32_t flags;
} ArrayPlace;

typedef struct ArrayPlaces {
#define ARRAY(name, Type, count, flags) ArrayPlace name;
#define CELLS(...)
#define MEMORY_CELLS(...)
#define OUTPUTS(...)
#define FREE(...)
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
} ArrayPlaces;

static size_t place_arrays(const SimtDims *d, ArrayPlaces *places) {
  size_t end = 0;
#define ARRAY(name, Type, count, flags)                                                    \
  places->name = (ArrayPlace){end, (size_t)(count) * sizeof(Type), sizeof(Type), (flags)}; \
  end = (size_t)align_up(end + places->name.bytes, ARRAY_ALIGN);
#define CELLS(...)
#define MEMORY_CELLS(...)
#define OUTPUTS(...)
#define FREE(...)
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
  return end;
}

static Region make_region(Region region, const RegionDim *dims, uint32_t dim_count) {
  region.rows = 1;
  region.dim_count = dim_count;
  for (uint32_t i = 0; i < dim_count; i++) {
    region.dims[i] = dims[i];
    region.rows *= dims[i].count;
  }
  return region;
}

// Valid bits of a line, and the lines that have an order.
static uint32_t sectors_of(const CacheShape *shape) { return max_u32(shape->line_bytes / max_u32(shape->sector, 1), 1); }
static uint32_t ordered(const CacheShape *shape, uint32_t lines) { return shape->ways > 1 ? lines : 0; }

// The scheme word of packets has cells where somebody uses it.
static uint32_t word_cells(const SimtDims *d) { return max_u32(d->word_bits, 1); }
static uint32_t word_rows(const SimtDims *d, uint32_t rows) { return d->word_bits == 0 ? 0 : rows; }

size_t simt_layout(const SimtDims *d, Region regions[SIMT_REGIONS]) {
  ArrayPlaces places;
  size_t end = place_arrays(d, &places);
#define ARRAY(name, Type, count, flags)
#define CELLS(ID, Name, Title, array, member, Unit, Units, Bits, UnitBytes, Flags, Meaning, Origin, ...) \
  {                                                                                                      \
    const RegionDim dims[] = {__VA_ARGS__};                                                              \
    Region region = {.name = (Name), .title = (Title), .unit = (Unit), .meaning = (Meaning)};            \
    region.origin = (Origin);                                                                            \
    region.flags = (Flags)&REGION_FLAGS;                                                                 \
    region.role = (RegionRole)((uint32_t)(Flags) >> REGION_ROLE_SHIFT);                                  \
    region.units = (Units);                                                                              \
    region.bits = (Bits);                                                                                \
    region.base = places.array.at + offsetof(__typeof__(*((SimtState *)0)->array), member);              \
    region.row_bytes = places.array.element_bytes;                                                       \
    region.unit_bytes = (UnitBytes);                                                                     \
    regions[REGION_##ID] = make_region(region, dims, COUNT_OF(dims));                                    \
  }
#define MEMORY_CELLS(ID, Name, Title, Unit, Units, Bits, UnitBytes, Meaning, Origin, ...)                                       \
  {                                                                                                                             \
    const RegionDim dims[] = {__VA_ARGS__};                                                                                     \
    Region region = {.name = (Name), .title = (Title), .unit = (Unit), .meaning = (Meaning), .units = (Units), .bits = (Bits)}; \
    region.origin = (Origin);                                                                                                   \
    region.flags = REGION_INJECTABLE | REGION_OUTSIDE;                                                                          \
    region.base = d->memory_lead;                                                                                               \
    region.unit_bytes = (UnitBytes);                                                                                            \
    region.row_bytes = region.units * region.unit_bytes;                                                                        \
    regions[REGION_##ID] = make_region(region, dims, COUNT_OF(dims));                                                           \
  }
#define OUTPUTS(ID, Name, Title, Lanes, Bits, Flags, Meaning, Origin, ...)                                      \
  {                                                                                                             \
    const RegionDim dims[] = {__VA_ARGS__};                                                                     \
    Region region = {.name = (Name), .title = (Title), .unit = "lane", .meaning = (Meaning), .units = (Lanes)}; \
    region.origin = (Origin);                                                                                   \
    region.flags = REGION_INJECTABLE | REGION_OUTPUT | (Flags);                                                 \
    region.bits = (Bits);                                                                                       \
    regions[REGION_##ID] = make_region(region, dims, COUNT_OF(dims));                                           \
  }
#define FREE(...)
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
  // Deeper levels of a warp's stack are no cells of the SM: they lie in memory.
  for (uint32_t i = REGION_STACK_PC; i <= REGION_STACK_STATE; i++) {
    regions[i].group_rows = d->levels;
    regions[i].group_bytes = d->stack * sizeof(SimtEntry);
  }
  return end;
}

void simt_bind(const SimtDims *d, uint8_t *block, SimtState *state) {
  ArrayPlaces places;
  place_arrays(d, &places);
#define ARRAY(name, Type, count, flags) state->name = (Type *)(void *)(block + places.name.at);
#define CELLS(...)
#define MEMORY_CELLS(...)
#define OUTPUTS(...)
#define FREE(...)
#include "machine/simt/state.def"
#undef ARRAY
#undef CELLS
#undef MEMORY_CELLS
#undef OUTPUTS
#undef FREE
}

uint32_t simt_hashed(const SimtDims *d, ByteRange *ranges, uint32_t most) {
  ArrayPlaces places;
  place_arrays(d, &places);
  const ArrayPlace *place = (const ArrayPlace *)&places;
  uint32_t count = 0;
  for (size_t i = 0; i < sizeof places / sizeof *place; i++) {
    if ((place[i].flags & REGION_HASHED) == 0 || place[i].bytes == 0) continue;
    ByteRange *last = count == 0 ? NULL : &ranges[count - 1];
    if (last != NULL && last->offset + last->bytes == place[i].at) last->bytes += place[i].bytes;
    else if (count < most) ranges[count++] = (ByteRange){place[i].at, place[i].bytes};
  }
  return count;
}

// The machine as a whole and its SMs, without warps.
size_t simt_digested(const SimtDims *d) {
  ArrayPlaces places;
  place_arrays(d, &places);
  return places.sms.at + places.sms.bytes - places.core.at;
}

typedef struct Members { // words of a struct, from one member to the one before `end`
  size_t first, end;
  FieldKind kind;
  uint64_t scale;
} Members;

static void add_members(const ArrayPlace *place, const Members *members, StateField *fields, uint32_t *count) {
  if (place->bytes == 0) return;
  fields[(*count)++] = (StateField){.kind = members->kind,
                                    .offset = place->at + members->first,
                                    .stride = place->element_bytes,
                                    .count = place->bytes / place->element_bytes,
                                    .words = (uint32_t)((members->end - members->first) / sizeof(uint64_t)),
                                    .scale = members->scale};
}

// Whatever waits for one of these times asks whether it has come, and for nothing else of it; statistics are told when a launch ends.
uint32_t simt_fields(const SimtDims *d, StateField fields[STATE_MOST_FIELDS]) {
#define FROM_TO(Type, from, before, ...) (&(Members){offsetof(Type, from), offsetof(Type, before), __VA_ARGS__})
  ArrayPlaces places;
  place_arrays(d, &places);
  uint32_t count = 0;
  add_members(&places.sms, FROM_TO(SmState, counted_to, sp_free_at, FIELD_STATISTIC, 0), fields, &count);
  add_members(&places.sms, FROM_TO(SmState, sp_free_at, schedulers, FIELD_UNTIL, 1), fields, &count);
  add_members(&places.sms, FROM_TO(SmState, sp_busy_until, sp_partial, FIELD_UNTIL, 1), fields, &count);
  add_members(&places.warps, FROM_TO(SimtWarp, next_issue_at, age, FIELD_UNTIL, 1), fields, &count);
  add_members(&places.warps, FROM_TO(SimtWarp, fetched_at, loads, FIELD_UNTIL, 1), fields, &count);
  // Their last members are those that are named here: a new one behind them needs a field of its own.
  _Static_assert(offsetof(NetworkBuffer, link_free_at) == offsetof(NetworkBuffer, input_free_at) + sizeof(uint64_t) &&
                     sizeof(NetworkBuffer) == offsetof(NetworkBuffer, link_free_at) + sizeof(uint64_t),
                 "from input_free_at on a NetworkBuffer holds two times and nothing else");
  _Static_assert(offsetof(DramBank, activate_at) == offsetof(DramBank, column_at) + 2 * sizeof(uint64_t) &&
                     sizeof(DramBank) == offsetof(DramBank, activate_at) + sizeof(uint64_t),
                 "from column_at on a DramBank holds three times and nothing else");
  const Members links = {offsetof(NetworkBuffer, input_free_at), sizeof(NetworkBuffer), FIELD_UNTIL, 1};
  add_members(&places.request_buffers, &links, fields, &count);
  add_members(&places.replies_buffers, &links, fields, &count);
  add_members(&places.controllers, FROM_TO(DramController, bus_free_at, arrivals, FIELD_UNTIL, DRAM_TIME_SCALE), fields, &count);
  add_members(&places.controllers, FROM_TO(DramController, row_hits, of_bank, FIELD_STATISTIC, 0), fields, &count);
  const Members banks = {offsetof(DramBank, column_at), sizeof(DramBank), FIELD_UNTIL, DRAM_TIME_SCALE};
  add_members(&places.banks, &banks, fields, &count);
#undef FROM_TO
  ASSERT(count <= STATE_MOST_FIELDS);
  return count;
}
