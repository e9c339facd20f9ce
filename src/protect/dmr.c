// Full redundancy: every warp instruction is carried out twice and compared.
//
// Paper: J. Tan and X. Fu, "RISE: Improving the Streaming Processors Reliability Against Soft Errors in GPGPUs", PACT 2012: the
// duplication of section 1 (58% slower on average) with the mechanism of section 3.1.3, without its counters. The warp stays
// selected and issues the same instruction again in the next issue slot; at write-back the first copy's results go
// to a holding buffer, the second copy's are compared with them. A mismatch issues the instruction once more, and the three vote
// per thread and register. The paper writes the first copy to the registers at once; here it waits one issue slot for its comparison,
// so that a wrong value is never seen and the third issue reads the operands that the first two read.
//
// shuffle=N is ours: the second copy runs N lanes further, the third 2 N. The paper's copies run on the same lanes, so that a lane that is
// broken for good strikes both alike and nothing is seen; on other lanes it strikes another thread.
//
// Loads, stores, atomics and textures: what their copies compute is the address; it is compared, the access is made once.
// Not duplicated: control flow, barriers, fences and system calls, which have no result, and reads of clocks, which
// differ by nature. Copies that do not agree on which threads execute end the launch: a further issue would take its mask from one
// of them. Not covered: register file, caches and everything else outside the units.
//
// Cost: issue slots and unit time of the copies, the buffer's room (none left: STALL). Comparators, voters and the lanes' crossbar take no time.
#include "protect/protect_internal.h"
#include "protect/redundancy.h"

enum { DEFAULT_ENTRIES = 32, MOST_SHUFFLE = WARP_LANES - 1 };

typedef struct Dmr {
  Redundancy redundancy;
  uint32_t shuffle; // lanes; 0: copies stay on theirs
} Dmr;

static Verdict dmr_plan(Hook *hook, HookMachine *machine, PlanEvent *event) {
  const Dmr *own = hook->own;
  if (event->copy > 0 || !redundancy_covers(event->instr)) return VERDICT_PASS;
  if (!redundancy_reserve(&own->redundancy, machine, event)) return VERDICT_STALL;
  event->copies = 2;
  return VERDICT_PASS;
}

static Verdict dmr_place(Hook *hook, HookMachine *machine, PlaceEvent *event) {
  const Dmr *own = hook->own;
  (void)machine;
  if (event->copy > 0) redundancy_rotate(event, event->is_repeat && event->copy > 1 ? own->shuffle : own->shuffle * event->copy);
  return VERDICT_PASS;
}

static Verdict dmr_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  return redundancy_result(&((const Dmr *)hook->own)->redundancy, machine, event);
}

static Verdict dmr_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  (void)event;
  redundancy_clear(&((const Dmr *)hook->own)->redundancy, machine);
  return VERDICT_PASS;
}

static Verdict dmr_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  if (event->done) redundancy_clear_block(&((const Dmr *)hook->own)->redundancy, machine, event->who->sm, event->who->block_slot);
  return VERDICT_PASS;
}

static bool dmr_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  return redundancy_attach(&((Dmr *)hook->own)->redundancy, layout, diags);
}

Hook *dmr_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  static const char *const known[] = {"entries", "shuffle"};
  uint64_t entries = DEFAULT_ENTRIES, shuffle = 0;
  for (uint32_t i = 0; i < arguments->count; i++) {
    const ProtectArgument *argument = &arguments->items[i];
    bool good = false;
    if (strcmp(argument->key, known[0]) == 0) good = protect_number(arguments, argument, 1, REDUNDANCY_MOST_ENTRIES, &entries, diags);
    else if (strcmp(argument->key, known[1]) == 0) good = protect_number(arguments, argument, 1, MOST_SHUFFLE, &shuffle, diags);
    else protect_unknown(arguments, argument->key, known, COUNT_OF(known), diags);
    if (!good) return NULL;
  }
  Dmr *own = ARENA_NEW(arena, Dmr);
  own->redundancy = (Redundancy){
      .tag_name = "dmr.tag", .mask_name = "dmr.mask", .rows_name = "dmr.rows", .order = COMPARE_FIRST, .entries = (uint32_t)entries};
  own->shuffle = (uint32_t)shuffle;
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "dmr",
                 .kind = HOOK_PROTECTION,
                 .own = own,
                 .attach = dmr_attach,
                 .launch = dmr_launch,
                 .block = dmr_block,
                 .plan = dmr_plan,
                 .place = shuffle > 0 ? dmr_place : NULL,
                 .needs = WANT_PLAN | WANT_RESULT,
                 .repeats = true,
                 .passes_values = true,
                 .result = dmr_result,
                 .next_cycle = UINT64_MAX};
  return hook;
}
