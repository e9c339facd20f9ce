// IS-FRISE: SMs that will run a block less than others run one of theirs redundantly. Sections 3.1.2 and 3.1.3; see rise.c.
//
// At launch the blocks are divided by the SMs. As many SMs as remain, chosen at random, are expected to run one block more; each of the others makes one of
// the blocks that it begins with fully redundant, chosen at random too. Without a remainder nothing happens, nor with fewer blocks
// than SMs: those that run fewer run none.
//
// The paper chooses the SMs at random, whatever the block scheduler will do. choose=order takes the first ones, to which a scheduler that goes round
// gives the remaining blocks.
//
// What the paper argues against:
//   idle=follow (5.1)    loads are counted as the kernel runs. A block is redundant if its SM has then not more blocks, redundant ones counted twice, than the
//                        SM that has most.
//   idle=mirror (3.1.2)  SMs that have no block any more run a block again that another SM runs. It shows what that costs in time and memory
//                        traffic; nothing is compared, since the two are never at the same point.
#include "protect/rise.h"

enum { PICK_BITS = 6, LOAD_BITS = 16, BLOCK_BITS = 32 };

// How many blocks of the kernel an SM holds at one time.
static uint64_t most_resident(const Rise *own, const HookMachine *machine, const LaunchEvent *event) {
  const Spec *spec = machine->spec;
  uint64_t threads = max_u64((uint64_t)event->block[0] * event->block[1] * event->block[2], 1),
           warps = (threads + WARP_LANES - 1) / WARP_LANES;
  uint64_t most = min_u64(own->block_slots, spec->sm_threads / threads), registers = warps * machine->warp_rows * WARP_LANES;
  if (registers != 0) most = min_u64(most, spec->sm_registers / registers);
  if (event->shared_bytes != 0) most = min_u64(most, spec->sm_shared / event->shared_bytes);
  return max_u64(most, 1);
}

// An order of the SMs begins with those that run one more: this one is not among them.
static bool runs_fewer(const Rise *own, uint64_t launch, uint32_t sm, uint64_t more) {
  if (own->options.in_order) return sm >= more;
  uint64_t before = 0, key = random_draw(own->options.seed, launch, sm);
  for (uint32_t other = 0; other < own->sms; other++) {
    uint64_t its = random_draw(own->options.seed, launch, other);
    before += its < key || (its == key && other < sm) ? 1 : 0;
  }
  return before >= more;
}

void rise_idle_launch(const Rise *own, const HookMachine *machine, const LaunchEvent *event) {
  uint64_t blocks = (uint64_t)event->grid[0] * event->grid[1] * event->grid[2], more = blocks % own->sms;
  if (own->options.when == RISE_MIRROR) rise_set(machine, own->left, 0, min_u64(blocks, UINT32_MAX));
  if (more == 0 || blocks < own->sms || own->options.when != RISE_AT_START) return;
  uint64_t resident = max_u64(min_u64(most_resident(own, machine, event), blocks / own->sms), 1);
  for (uint32_t sm = 0; sm < own->sms; sm++) {
    uint64_t launch = event->who->launch, which = random_below(random_draw(own->options.seed, launch, own->sms + (uint64_t)sm), resident);
    rise_set(machine, own->pick, sm, runs_fewer(own, launch, sm, more) ? which + 1 : 0);
  }
}

static bool is_behind(const Rise *own, const HookMachine *machine, uint32_t sm) {
  uint64_t most = 0, load = rise_get(machine, own->load, sm) + 1;
  for (uint32_t i = 0; i < own->sms; i++) most = max_u64(most, rise_get(machine, own->load, i));
  bool is_redundant = load < most;
  rise_set(machine, own->load, sm, load + (is_redundant ? 1 : 0));
  return is_redundant;
}

// ---- idle=mirror -------------------------------------------------------------------------------------------

static bool has_no_block(const Rise *own, const HookMachine *machine, uint32_t sm) {
  for (uint32_t i = 0; i < own->block_slots; i++) {
    if (rise_get(machine, own->running, rise_block_slot(own, sm, i)) != 0) return false;
  }
  return true;
}

// An SM without blocks takes the one that has begun last: it has most of its way before it.
static void take_mirror(const Rise *own, HookMachine *machine, uint32_t sm) {
  uint64_t last = 0;
  for (uint64_t row = 0; row < (uint64_t)own->sms * own->block_slots; row++) last = max_u64(last, rise_get(machine, own->running, row));
  if (last == 0 || machine->act == NULL || !has_no_block(own, machine, sm)) return;
  machine->act(machine, &(Action){.kind = ACTION_MIRROR, .sm = sm, .block = last - 1});
}

void rise_idle_mirror(const Rise *own, HookMachine *machine, const BlockEvent *event) {
  uint32_t sm = event->who->sm % own->sms;
  if (event->mirror || event->stopped) return;
  uint64_t left = rise_get(machine, own->left, 0);
  rise_set(machine, own->running, rise_block_slot(own, sm, event->who->block_slot), event->done ? 0 : (event->who->block + 1) & UINT32_MAX);
  if (!event->done && left != 0) rise_set(machine, own->left, 0, --left);
  if (left != 0) return;
  for (uint32_t i = 0; i < own->sms && !event->done; i++) take_mirror(own, machine, i); // the last block has been sent out
  if (event->done) take_mirror(own, machine, sm);
}

// ------------------------------------------------------------------------------------------------------------

bool rise_idle_takes(const Rise *own, const HookMachine *machine, const BlockEvent *event) {
  uint32_t sm = event->who->sm % own->sms;
  if (own->options.when == RISE_FOLLOW) return is_behind(own, machine, sm);
  if (own->options.when == RISE_MIRROR) return false;
  uint64_t pick = rise_get(machine, own->pick, sm);
  if (pick != 0) rise_set(machine, own->pick, sm, pick - 1);
  return pick == 1;
}

static bool mirror_attach(Rise *own, HookLayout *layout, Diags *diags) {
  const Region running = {.name = "rise.running",
                          .meaning = "1 + the block that runs there; 0: none does",
                          .bits = BLOCK_BITS,
                          .dims = {{"sm", own->sms}, {"block_slot", own->block_slots}},
                          .dim_count = 2};
  const Region left = {
      .name = "rise.left", .meaning = "blocks that have not been sent out", .bits = BLOCK_BITS, .dims = {{"chip", 1}}, .dim_count = 1};
  own->running = rise_cells(layout, &running, diags);
  own->left = rise_cells(layout, &left, diags);
  return own->running != REGION_NONE && own->left != REGION_NONE;
}

bool rise_idle_attach(Rise *own, HookLayout *layout, Diags *diags) {
  const Region pick = {.name = "rise.pick",
                       .meaning = "blocks until the one that will be redundant; 0: none will",
                       .bits = PICK_BITS,
                       .dims = {{"sm", own->sms}},
                       .dim_count = 1};
  const Region load = {
      .name = "rise.load", .meaning = "blocks so far, redundant ones twice", .bits = LOAD_BITS, .dims = {{"sm", own->sms}}, .dim_count = 1};
  if (own->options.when == RISE_MIRROR) return mirror_attach(own, layout, diags);
  if (own->options.when == RISE_FOLLOW) own->load = rise_cells(layout, &load, diags);
  else own->pick = rise_cells(layout, &pick, diags);
  return (own->options.when == RISE_FOLLOW ? own->load : own->pick) != REGION_NONE;
}
