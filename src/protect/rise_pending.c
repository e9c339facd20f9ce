// RP-FRISE: requests that had to wait at a memory controller slow the blocks down that sent them. Sections 3.1.1 and 3.1.3; see rise.c.
//
// In a controller: a timer for each entry of its input buffer, set to zero when a request enters; when it is issued to DRAM, Eq. 1 makes
// redundancy cycles of the timer, which travel in the response. A timer does not wrap: it stays at 1,023. In an SM: the response to a
// load, texture, constant or atomic sets the counter of the block that waits for it, if that is zero.
//
// T_acc_lat: a register, renewed at the end of every period by the accesses that were answered in it. Until the end of the first
// it is 0, so that nothing is redundant. An access is measured as an SM sees it, from the request to its answer: on gt200-rise about 110
// cycles without contention, just below the paper's T_ref_lat of 128.
//
// What is kept of a timer: the bits that faults have flipped. The count itself is the time that the machine says the request has waited.
#include "protect/rise.h"

// Eq. 1. T_ref_lat is a power of two, so that hardware shifts.
uint64_t rise_cycles(const RiseOptions *options, uint64_t waited, uint64_t latency) {
  if (waited <= options->threshold) return 0;
  if (options->fixed != 0) return options->fixed;
  if (!options->scales || latency >= options->reference) return waited;
  return (latency * waited + options->reference - 1) / options->reference;
}

static uint64_t last_value(uint32_t bits) { return (UINT64_C(1) << bits) - 1; }

// ---- T_acc_lat -----------------------------------------------------------------------------------------

// Row of the registers that a request looks at.
static uint64_t register_of(const Rise *own, const HookMachine *machine, uint32_t partition) {
  if (!own->options.by_controller) return 0;
  uint32_t slices = (uint32_t)max_u64(machine->spec->l2_slices, 1);
  return partition / slices % own->controllers;
}

// A period that has ended gives its sample.
static void renew(const Rise *own, const HookMachine *machine, uint64_t row) {
  uint64_t turn = machine->cycle / own->options.period & last_value(RISE_LATENCY_BITS);
  if (rise_get(machine, own->turn, row) == turn) return;
  uint64_t samples = rise_get(machine, own->samples, row), sum = rise_get(machine, own->sum, row);
  if (samples != 0) rise_set(machine, own->latency, row, min_u64(sum / samples, last_value(RISE_LATENCY_BITS)));
  rise_set(machine, own->sum, row, 0);
  rise_set(machine, own->samples, row, 0);
  rise_set(machine, own->turn, row, turn);
}

static void sample(const Rise *own, const HookMachine *machine, const MemoryEvent *event) {
  uint64_t row = register_of(own, machine, event->partition);
  renew(own, machine, row);
  uint64_t samples = rise_get(machine, own->samples, row), sum = rise_get(machine, own->sum, row);
  bool starts = own->options.is_last || samples == last_value(RISE_LATENCY_BITS);
  rise_set(machine, own->samples, row, starts ? 1 : samples + 1);
  rise_set(machine, own->sum, row, starts ? event->waited : sum + event->waited);
}

// ---- Events --------------------------------------------------------------------------------------------

Verdict rise_take(Hook *hook, HookMachine *machine, const HoldEvent *event) {
  const Rise *own = hook->own;
  if (event->region <= own->queue && own->queue <= event->last && event->row < own->entries) rise_set(machine, own->timer, event->row, 0);
  return VERDICT_PASS;
}

static bool returns_data(Client client) {
  return client == CLIENT_LOAD || client == CLIENT_TEXTURE || client == CLIENT_CONSTANT || client == CLIENT_ATOMIC;
}

Verdict rise_service(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  const Rise *own = hook->own;
  if (event->write || event->entry >= own->entries) return VERDICT_PASS;
  uint64_t count = min_u64(event->waited, RISE_LAST_COUNT) ^ rise_get(machine, own->timer, event->entry);
  uint64_t row = register_of(own, machine, event->partition);
  renew(own, machine, row);
  uint64_t cycles = rise_cycles(&own->options, count, rise_get(machine, own->latency, row));
  hook_word_set(hook, event, (uint32_t)min_u64(cycles, RISE_LAST_COUNT));
  return VERDICT_PASS;
}

// The first response after the counter has run out sets it, for all warps of the block.
static void set_counter(const Rise *own, const HookMachine *machine, const Who *waiter, uint64_t cycles) {
  if (!returns_data(waiter->client) || waiter->block_slot == WHO_NO_INDEX || waiter->warp == WHO_NO_INDEX) return;
  uint64_t row = rise_row(own, waiter->sm, waiter->block_slot, waiter->warp);
  if (rise_get(machine, own->counter, row) != 0) return;
  uint64_t warps = own->options.by_warp ? 1 : max_u64((rise_threads(own, machine) + WARP_LANES - 1) / WARP_LANES, 1);
  rise_set(machine, own->counter, row, min_u64(cycles * warps, last_value(RISE_COUNTER_BITS)));
}

Verdict rise_response(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  const Rise *own = hook->own;
  if (!returns_data(event->who->client)) return VERDICT_PASS;
  sample(own, machine, event);
  uint64_t cycles = hook_word_get(hook, event);
  for (uint32_t i = 0; cycles != 0 && i < event->waiter_count; i++) set_counter(own, machine, &event->waiters[i], cycles);
  return VERDICT_PASS;
}

bool rise_pending_attach(Rise *own, HookLayout *layout, Diags *diags) {
  const RegionTable *regions = hook_layout_regions(layout);
  own->queue = region_find(regions, "dramq.data");
  if (own->queue == REGION_NONE) {
    return diags_add(diags, NULL, 0, 0,
                     "rise needs a machine with input buffers at its memory controllers (dramq.data); use rise:is or rise:partial");
  }
  const Region *queue = &regions->items[own->queue];
  own->controllers = max_u32(queue->dims[0].count, 1);
  own->entries = (uint32_t)queue->rows;
  uint32_t registers = own->options.by_controller ? own->controllers : 1;
  const Region timer = {.name = "rise.timer",
                        .meaning = "how long the request of an input buffer entry has waited",
                        .bits = RISE_TIMER_BITS,
                        .dims = {queue->dims[0], queue->dims[1]},
                        .dim_count = 2};
  const Region latency = {
      .name = "rise.latency", .meaning = "T_acc_lat", .bits = RISE_LATENCY_BITS, .dims = {{"register", registers}}, .dim_count = 1};
  const Region sum = {
      .name = "rise.sum", .meaning = "latencies of this period", .bits = 32, .dims = {{"register", registers}}, .dim_count = 1};
  const Region samples = {.name = "rise.samples",
                          .meaning = "number of accesses in this period",
                          .bits = RISE_LATENCY_BITS,
                          .dims = {{"register", registers}},
                          .dim_count = 1};
  const Region turn = {.name = "rise.period",
                       .meaning = "number of this period",
                       .bits = RISE_LATENCY_BITS,
                       .dims = {{"register", registers}},
                       .dim_count = 1};
  own->timer = rise_cells(layout, &timer, diags);
  own->latency = rise_cells(layout, &latency, diags);
  own->sum = rise_cells(layout, &sum, diags);
  own->samples = rise_cells(layout, &samples, diags);
  own->turn = rise_cells(layout, &turn, diags);
  return own->timer != REGION_NONE && own->turn != REGION_NONE;
}
