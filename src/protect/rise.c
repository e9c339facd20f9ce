// RISE: idle time of the streaming processors is used to compute instructions a second time.
//
// Paper: J. Tan and X. Fu, "RISE: Improving the Streaming Processors Reliability Against Soft Errors in GPGPUs", PACT 2012, section 3.
//   RP-FRISE  (rise_pending.c)  blocks whose memory requests have waited long are slowed down by redundancy
//   IS-FRISE  (rise_idle.c)     SMs that will run fewer blocks run one of theirs redundantly
//   Partial   (rise_partial.c)  diverged warps lend idle lanes to other warps
// Here is what they share: a counter for each block slot. While it is above zero each instruction of the block issues once more in the following issue slot and the
// counter falls by one; copies are compared at write-back, with a third issue and a vote (redundancy.c). IS-FRISE holds it at one, so that RP-FRISE
// finds it set and does nothing (3.1.2). Warps whose counter is above zero neither lend lanes nor are helped (3.3).
//
// What the paper leaves open, and how it is read here:
//   Order of writing: order=write writes the first copy and compares after (3.1.3); order=hold, the default, holds it one issue slot, as dmr does.
//   With order=write an instruction that overwrites a source of its own cannot be issued a third time: detected, not corrected.
//   The third copy is fetched anew: it waits `refetch` cycles for the front end. Its operands are those of the first two.
//   The buffer: the paper has one row of thirty-two 32-bit entries for an SM, used between two write-backs that follow each other. Here an entry is taken
//   at issue, so there are `entries` of them; 64-bit results take two rows of an entry. With none left the issue stalls.
//   The counter has 16 bits. It falls with redundant issues: control flow, barriers and fences have no result, so they are neither copied nor counted.
//   Loads, stores, atomics and textures are copied as far as their addresses; the access is made once.
//   Responses to loads, textures, constants and atomics set the counter; those to instruction fetches, stores and write-backs do not.
//   T_acc_lat is the mean of a period's accesses (3.1.3: "the average access latency"), for the whole chip; latency=last takes the period's last one, and
//   scope=controller has one for each controller. T_thr_pend (threshold) and the period are not printed: chosen by us, by the sweeps of studies/rise.
//   IS-FRISE: SMs and blocks are chosen at random by the seed. An SM that gets no block has none to duplicate.
//   Partial-RISE: the SPs' own instructions only; a helped warp may itself be diverged and help a third.
// What the paper argues against can be switched on: by=warp, static=N, scale=off (3.1.1), idle=mirror (3.1.2), idle=follow (5.1).
// Not modelled: strikes that last longer than a cycle are not told apart from others by the scheme, as in the paper.
//
// Cost: time as it is simulated. State: `redoubt list structures --machine M --protect rise` has every bit. Area, as the paper says: 3% of a memory controller
// (timers, ALU), 1% of an SM (counters, buffer, logic), 1% more for Partial-RISE (comparators of program counters). Eq. 1, comparators, voters and
// the search for a warp take no time: the paper runs them beside DRAM, launch and write-back.
#include "protect/rise.h"

enum {
  DEFAULT_THRESHOLD = 16, // chosen by us
  DEFAULT_PERIOD = 512,   // chosen by us
  DEFAULT_REFERENCE = 128,
  DEFAULT_ENTRIES = 32,
  DEFAULT_REFETCH = 4, // instruction cache, decoding, selection, issue
  THREADS_BITS = 11,
  UNTIL_BITS = 16,
};

// ---- Redundancy mode -------------------------------------------------------------------------------------

bool rise_is_redundant(const Rise *own, const HookMachine *machine, uint32_t sm, uint32_t block_slot, uint32_t warp) {
  if (!own->options.pending && !own->options.idle) return false;
  bool is_fixed = own->options.idle && rise_get(machine, own->fixed, rise_block_slot(own, sm, block_slot)) != 0;
  return is_fixed || rise_get(machine, own->counter, rise_row(own, sm, block_slot, warp)) != 0;
}

// The third issue is on its way through the front end.
static bool is_fetching(const Rise *own, const HookMachine *machine, uint32_t sm) {
  uint64_t left = (rise_get(machine, own->until, sm % own->sms) - machine->cycle) & ((1u << UNTIL_BITS) - 1);
  return left != 0 && left <= own->options.refetch;
}

static Verdict rise_plan(Hook *hook, HookMachine *machine, PlanEvent *event) {
  const Rise *own = hook->own;
  const Who *who = event->who;
  if (event->is_repeat) return is_fetching(own, machine, who->sm) ? VERDICT_STALL : VERDICT_PASS;
  if (event->copy > 0 || !redundancy_covers(event->instr)) return VERDICT_PASS;
  if (rise_is_redundant(own, machine, who->sm, who->block_slot, who->warp)) {
    if (!redundancy_reserve(&own->redundancy, machine, event)) return VERDICT_STALL;
    event->copies = 2;
  } else if (own->options.partial) {
    rise_lend(own, machine, event);
  }
  return VERDICT_PASS;
}

// A copy has its lanes: it issues now, once.
static Verdict rise_place(Hook *hook, HookMachine *machine, PlaceEvent *event) {
  const Rise *own = hook->own;
  const Who *who = event->who;
  if (event->copy == 0 || event->is_repeat) return VERDICT_PASS;
  bool is_fixed = own->options.idle && rise_get(machine, own->fixed, rise_block_slot(own, who->sm, who->block_slot)) != 0;
  uint64_t row = rise_row(own, who->sm, who->block_slot, who->warp), count = rise_get(machine, own->counter, row);
  if (!is_fixed && count != 0) rise_set(machine, own->counter, row, count - 1);
  return VERDICT_PASS;
}

static Verdict rise_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  const Rise *own = hook->own;
  Verdict verdict;
  if (!own->options.partial || !redundancy_helped(&own->redundancy, machine, event, &verdict)) {
    verdict = redundancy_result(&own->redundancy, machine, event);
  }
  if (verdict == VERDICT_REPEAT) {
    rise_set(machine, own->until, event->who->sm % own->sms, (machine->cycle + own->options.refetch) & ((1u << UNTIL_BITS) - 1));
  }
  return verdict;
}

// ---- Launches and blocks -----------------------------------------------------------------------------------

static Verdict rise_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Rise *own = hook->own;
  redundancy_clear(&own->redundancy, machine);
  uint64_t threads = (uint64_t)event->block[0] * event->block[1] * event->block[2];
  rise_set(machine, own->threads, 0, min_u64(threads, (1u << THREADS_BITS) - 1));
  if (own->options.idle) rise_idle_launch(own, machine, event);
  return VERDICT_PASS;
}

static void clear_counters(const Rise *own, const HookMachine *machine, const Who *who) {
  if (own->options.idle) rise_set(machine, own->fixed, rise_block_slot(own, who->sm, who->block_slot), 0);
  if (!own->options.by_warp) {
    rise_set(machine, own->counter, rise_row(own, who->sm, who->block_slot, 0), 0);
    return;
  }
  uint64_t warps = (rise_threads(own, machine) + WARP_LANES - 1) / WARP_LANES;
  for (uint64_t i = 0; i < warps; i++)
    rise_set(machine, own->counter, rise_row(own, who->sm, 0, (uint32_t)(who->block_slot * warps + i)), 0);
}

static Verdict rise_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Rise *own = hook->own;
  const Who *who = event->who;
  if (event->stopped || event->mirror) return VERDICT_PASS;
  if (own->options.when == RISE_MIRROR && own->options.idle) rise_idle_mirror(own, machine, event);
  if (event->done) redundancy_clear_block(&own->redundancy, machine, who->sm, who->block_slot);
  if (!own->options.pending && !own->options.idle) return VERDICT_PASS;
  clear_counters(own, machine, who);
  if (event->done || !own->options.idle || !rise_idle_takes(own, machine, event)) return VERDICT_PASS;
  rise_set(machine, own->fixed, rise_block_slot(own, who->sm, who->block_slot), 1);
  if (!own->options.by_warp) rise_set(machine, own->counter, rise_row(own, who->sm, who->block_slot, 0), 1);
  return VERDICT_PASS;
}

// ---- Structures ----------------------------------------------------------------------------------------------

uint16_t rise_cells(HookLayout *layout, const Region *wanted, Diags *diags) {
  Region region = *wanted;
  region.title = "RISE";
  region.unit = "cell";
  region.units = 1;
  region.unit_bytes = region.bits > 16 ? 4 : region.bits > 8 ? 2 : 1;
  return hook_add_region(layout, &region, LIFE_LAUNCH, diags);
}

static bool counters_attach(Rise *own, HookLayout *layout, Diags *diags) {
  RegionDim place = own->options.by_warp ? (RegionDim){"warp", own->warps} : (RegionDim){"block_slot", own->block_slots};
  const Region counter = {.name = "rise.counter",
                          .meaning = "redundant issues that are still to come",
                          .bits = RISE_COUNTER_BITS,
                          .dims = {{"sm", own->sms}, place},
                          .dim_count = 2};
  const Region fixed = {.name = "rise.fixed",
                        .meaning = "the counter does not fall: all of the block is redundant",
                        .bits = 1,
                        .dims = {{"sm", own->sms}, {"block_slot", own->block_slots}},
                        .dim_count = 2};
  own->counter = rise_cells(layout, &counter, diags);
  if (own->options.idle) own->fixed = rise_cells(layout, &fixed, diags);
  return own->counter != REGION_NONE;
}

static bool rise_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Rise *own = hook->own;
  const HookShape *shape = hook_layout_shape(layout);
  own->sms = max_u32(shape->sms, 1);
  own->warps = max_u32(shape->warps, 1);
  own->block_slots = max_u32(shape->block_slots, 1);
  if (!redundancy_attach(&own->redundancy, layout, diags)) return false;
  const Region threads = {
      .name = "rise.threads", .meaning = "threads of a block of the kernel", .bits = THREADS_BITS, .dims = {{"chip", 1}}, .dim_count = 1};
  const Region until = {.name = "rise.refetch",
                        .meaning = "cycle in which a third issue is through the front end",
                        .bits = UNTIL_BITS,
                        .dims = {{"sm", own->sms}},
                        .dim_count = 1};
  own->threads = rise_cells(layout, &threads, diags);
  own->until = rise_cells(layout, &until, diags);
  bool has_counters = own->options.pending || own->options.idle;
  if (has_counters && !counters_attach(own, layout, diags)) return false;
  if (own->options.idle && !rise_idle_attach(own, layout, diags)) return false;
  return !own->options.pending || rise_pending_attach(own, layout, diags);
}

// ---- Options ---------------------------------------------------------------------------------------------------

// One of two words. False: it is neither, and a diagnostic says so.
static bool choose(const ProtectArguments *arguments, const ProtectArgument *argument, const char *no, const char *yes, bool *value,
                   Diags *diags) {
  const char *word = argument->value == NULL ? "" : argument->value;
  *value = strcmp(word, yes) == 0;
  if (*value || strcmp(word, no) == 0) return true;
  return diags_add(diags, NULL, 0, 0, "%s: %s must be %s or %s", arguments->text, argument->key, no, yes);
}

static bool read_idle(const ProtectArguments *arguments, const ProtectArgument *argument, RiseOptions *options, Diags *diags) {
  static const char *const names[] = {[RISE_AT_START] = "start", [RISE_FOLLOW] = "follow", [RISE_MIRROR] = "mirror"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    options->when = (RiseIdle)i;
    if (strcmp(argument->value, names[i]) == 0) return true;
  }
  return diags_add(diags, NULL, 0, 0, "%s: idle must be start, follow or mirror", arguments->text);
}

typedef struct NumberOption {
  const char *key;
  uint64_t least, most;
  uint64_t *value;
} NumberOption;
typedef struct WordOption {
  const char *key, *no, *yes;
  bool *value;
} WordOption;
enum { MOST_OPTIONS = 32 };

static bool read_option(const ProtectArguments *arguments, const ProtectArgument *argument, RiseOptions *options, Diags *diags) {
  bool writes = false;
  const NumberOption numbers[] = {
      {"threshold", 0, RISE_LAST_COUNT, &options->threshold},
      {"reference", 1, 1u << 15, &options->reference},
      {"period", 1, 1u << 24, &options->period},
      {"static", 1, RISE_LAST_COUNT, &options->fixed},
      {"entries", 1, REDUNDANCY_MOST_ENTRIES, &options->entries},
      {"seed", 0, UINT64_MAX, &options->seed},
      {"refetch", 0, 1000, &options->refetch},
  };
  const WordOption words[] = {
      {"latency", "mean", "last", &options->is_last},
      {"scope", "chip", "controller", &options->by_controller},
      {"by", "block", "warp", &options->by_warp},
      {"scale", "off", "on", &options->scales},
      {"shuffle", "off", "on", &options->shuffles},
      {"help", "off", "on", &options->helps},
      {"order", "hold", "write", &writes},
      {"choose", "random", "order", &options->in_order},
  };
  const char *known[MOST_OPTIONS];
  uint32_t count = 0;
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    if (strcmp(argument->key, numbers[i].key) == 0)
      return protect_number(arguments, argument, numbers[i].least, numbers[i].most, numbers[i].value, diags);
    known[count++] = numbers[i].key;
  }
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    known[count++] = words[i].key;
    if (strcmp(argument->key, words[i].key) != 0) continue;
    if (!choose(arguments, argument, words[i].no, words[i].yes, words[i].value, diags)) return false;
    if (words[i].value == &writes) options->order = writes ? WRITE_FIRST : COMPARE_FIRST;
    return true;
  }
  known[count++] = "idle";
  if (strcmp(argument->key, "idle") == 0) return read_idle(arguments, argument, options, diags);
  return protect_unknown(arguments, argument->key, known, count, diags);
}

// The word alone that begins the arguments: which techniques. False: there is no such.
static bool read_technique(const ProtectArguments *arguments, const ProtectArgument *argument, RiseOptions *options, Diags *diags) {
  static const char *const names[] = {"all", "rp", "is", "full", "partial"};
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    if (strcmp(argument->key, names[i]) != 0) continue;
    options->pending = i == 0 || i == 1 || i == 3;
    options->idle = i == 0 || i == 2 || i == 3;
    options->partial = i == 0 || i == 4;
    return true;
  }
  return protect_unknown(arguments, argument->key, names, COUNT_OF(names), diags);
}

static bool read_options(const ProtectArguments *arguments, RiseOptions *options, Diags *diags) {
  for (uint32_t i = 0; i < arguments->count; i++) {
    const ProtectArgument *argument = &arguments->items[i];
    bool good =
        argument->value == NULL ? read_technique(arguments, argument, options, diags) : read_option(arguments, argument, options, diags);
    if (!good) return false;
  }
  if ((options->reference & (options->reference - 1)) != 0) {
    return diags_add(diags, NULL, 0, 0, "%s: reference must be a power of two, since hardware shifts by it", arguments->text);
  }
  return true;
}

Hook *rise_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Rise *own = ARENA_NEW(arena, Rise);
  own->options = (RiseOptions){.pending = true,
                               .idle = true,
                               .partial = true,
                               .threshold = DEFAULT_THRESHOLD,
                               .reference = DEFAULT_REFERENCE,
                               .period = DEFAULT_PERIOD,
                               .entries = DEFAULT_ENTRIES,
                               .seed = 1,
                               .refetch = DEFAULT_REFETCH,
                               .scales = true,
                               .shuffles = true,
                               .helps = true};
  if (!read_options(arguments, &own->options, diags)) return NULL;
  const RiseOptions *options = &own->options;
  bool has_counters = options->pending || options->idle;
  own->redundancy = (Redundancy){.tag_name = "rise.tag",
                                 .mask_name = "rise.mask",
                                 .rows_name = "rise.rows",
                                 .order = options->order,
                                 .entries = (uint32_t)options->entries};
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "rise",
                 .kind = HOOK_PROTECTION,
                 .own = own,
                 .attach = rise_attach,
                 .launch = rise_launch,
                 .block = rise_block,
                 .home = options->partial && options->shuffles ? rise_home : NULL,
                 .plan = rise_plan,
                 .place = has_counters ? rise_place : NULL,
                 .result = rise_result,
                 .take = options->pending ? rise_take : NULL,
                 .service = options->pending ? rise_service : NULL,
                 .response = options->pending ? rise_response : NULL,
                 .word_bits = options->pending ? RISE_TIMER_BITS : 0,
                 .needs = WANT_PLAN | WANT_RESULT | (has_counters ? WANT_PLACE | WANT_BLOCK : 0) | (options->partial ? WANT_HOME : 0),
                 .actions = options->idle && options->when == RISE_MIRROR ? ACTION_BIT(ACTION_MIRROR) : 0,
                 .repeats = true,
                 .passes_values = true,
                 .next_cycle = UINT64_MAX};
  return hook;
}
