// Warped-Shield: programs go on, right, on lanes that are broken for good.
//
// Paper: W. Dweik, M. Abdel-Majeed and M. Annavaram, "Warped-Shield: Tolerating Hard Faults in GPGPUs", DSN 2014. Its first pages were
// to be had: abstract, contributions, baseline. What they leave open is our reading, and marked so.
// Modelled: a map of broken lanes per unit, and three techniques.
//   shuffle  thread shuffling: a thread on a broken lane goes to an idle healthy lane of its cluster of four.
//   deform   dynamic warp deformation: if active threads exceed healthy lanes, the warp issues as sub-warps, as many as its worst cluster
//            needs. Our reading: a thread stays in its turn (its half of the warp on a double-clocked SP); `pool` lifts that.
//   intersp  inter-SP warp shuffling: the warp goes to the SP that needs fewer sub-warps. Equal numbers: as the machine does, on lanes that
//            are healthy in all SPs where that takes no more sub-warps, else on the SP of the warp's number.
// Our reading of a technique alone: without shuffling, threads on healthy lanes go first and the displaced ones in further sub-warps; a
// thread for which the chosen techniques know no place ends the launch (HALT, detected), so nothing is ever computed on a lane of the map.
// A cluster without a healthy lane makes its SP unusable for the threads there, and the other SP takes them; none: the protection is refused,
// or (retire) the SM gets no blocks.
// Units: SPs (with `units` their integer and floating-point pipes apart), SFUs, double precision, tensor. Warp-wide
// instructions (shuffles, votes) pass the SP and are deformed. Addresses of memory instructions are shuffled; an access cannot
// be divided, so one with more threads than healthy lanes ends the launch. Fragments of matrices in memory are not moved at all.
// State: the map, a bit per lane, in shield.sp, shield.sfu, ...; lasting, and struck by faults as everything is.
// Cost: issue slots and unit time of sub-warps. `crossbar`: further cycles until every result; `control`: likewise, where a part was moved,
// divided or bound. Both 0 unless given. The logic that finds lanes takes no time of its own.
#include "protect/shield.h"

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  (void)event;
  if (hook_wakes_at(hook, machine) == UINT64_MAX) return VERDICT_PASS; // the machine has run before
  shield_begin(hook->own, machine);
  hook_wake(hook, machine, UINT64_MAX);
  return VERDICT_PASS;
}

// Armed until the first launch: a note in the block that the map is still to be filled in.
static void on_cycle(Hook *hook, HookMachine *machine) { shield_begin(hook->own, machine); }

static Verdict on_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Shield *shield = hook->own;
  if (event->done || event->stopped || shield_sm_is_usable(shield, machine, event->who->sm)) return VERDICT_PASS;
  for (uint32_t sm = 0; sm < shield->sms; sm++) {
    if (shield_sm_is_usable(shield, machine, sm)) return VERDICT_STALL;
  }
  ++*machine->detected; // faults in the map alone lead here
  return VERDICT_HALT;
}

static Verdict on_place(Hook *hook, HookMachine *machine, PlaceEvent *event) {
  if (shield_place(hook->own, machine, event)) return VERDICT_PASS;
  ++*machine->detected;
  return VERDICT_HALT;
}

static bool on_attach(Hook *hook, HookLayout *layout, Diags *diags) { return shield_attach(hook->own, layout, diags); }

Hook *shield_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Shield *shield = ARENA_NEW(arena, Shield);
  *shield = shield_make("shield", arena);
  for (uint32_t i = 0; i < arguments->count; i++) {
    bool good = false;
    if (!shield_option(shield, arguments, &arguments->items[i], &good, diags))
      protect_unknown(arguments, arguments->items[i].key, shield_options, shield_option_count, diags);
    if (!good) return NULL;
  }
  shield_choose(shield);
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "shield",
                 .kind = HOOK_PROTECTION,
                 .own = shield,
                 .signs = shield->retire ? "" : NULL, // an SM without blocks is not counted
                 .attach = on_attach,
                 .launch = on_launch,
                 .block = shield->retire ? on_block : NULL,
                 .place = on_place,
                 .cycle = on_cycle,
                 .needs = WANT_PLACE,
                 .passes_values = true,
                 .next_cycle = 0};
  return hook;
}
