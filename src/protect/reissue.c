// Reissue: every point of a domain is computed twice, raster operations compare, and what differs is computed again.
//
// Source: Sheaffer, Luebke and Skadron, "A Hardware Redundancy and Recovery Mechanism for Reliable Scientific Computation on Graphics Processors",
// Graphics Hardware 2007, sections 3.2 and 4.1.
// Modelled: the rasteriser issues each point twice. A bit of each word of the frame says whether it is full. The first result is written and fills the word. The
// second is compared with it bit by bit, through the cache of the raster operation, and thrown away. If they differ, the word is emptied and the point goes over a
// path of one cycle into the domain buffer, which comes before new points and issues both copies again. Variants of the text are options; see docs/fragment.md.
// Not modelled: the setup of the geometry for a reissue (the paper keeps rasterised points, too); energy of the comparators.
// Cost: time of the copies in the whole machine. The comparison itself takes no time, but its read goes through the cache. All bits below are structures that
// faults strike. Switched off (`off`), the hardware is there and costs nothing.
#include "protect/reissue.h"

#include <inttypes.h>

// ---- Bits and entries of structures ------------------------------------------------------------------------------------

static uint8_t *row_of(const HookMachine *machine, uint16_t region, uint64_t row) {
  const Region *item = &machine->regions->items[region];
  return machine->block + item->base + row * item->row_bytes;
}
uint64_t reissue_get(const HookMachine *machine, uint16_t region, uint64_t row, uint32_t unit) {
  const Region *item = &machine->regions->items[region];
  return unit_get(item, row_of(machine, region, row % item->rows) + unit * item->unit_bytes);
}
void reissue_set(const HookMachine *machine, uint16_t region, uint64_t row, uint32_t unit, uint64_t value) {
  const Region *item = &machine->regions->items[region];
  unit_set(item, row_of(machine, region, row % item->rows) + unit * item->unit_bytes, value);
}
bool reissue_bit(const HookMachine *machine, uint16_t region, uint64_t point) {
  return (reissue_get(machine, region, point / 64, 0) >> point % 64 & 1) != 0;
}
void reissue_set_bit(const HookMachine *machine, uint16_t region, uint64_t point, bool value) {
  uint64_t word = reissue_get(machine, region, point / 64, 0), mask = UINT64_C(1) << point % 64;
  reissue_set(machine, region, point / 64, 0, value ? word | mask : word & ~mask);
}

// ---- The way back ------------------------------------------------------------------------------------------------------

// Sends a point back to the domain buffer. False: the latch of this raster operation is taken.
bool reissue_send(Hook *hook, HookMachine *machine, const MergeEvent *event) {
  const Reissue *own = hook->own;
  uint64_t latch = event->unit % own->latches;
  if (reissue_get(machine, own->path_valid, latch, 0) != 0) return false;
  reissue_set(machine, own->path, latch, 0, event->x);
  reissue_set(machine, own->path, latch, 1, event->y);
  reissue_set(machine, own->path_valid, latch, 0, 1);
  ++*machine->corrected;
  *machine->repeated += own->copies;
  hook_tally(machine, TALLY_REISSUE_WRONG, 1);
  hook_wake(hook, machine, machine->cycle + 1);
  return true;
}

// The next cycle: what was on the path is in the domain buffer, as far as that has room.
static void reissue_cycle(Hook *hook, HookMachine *machine) {
  const Reissue *own = hook->own;
  bool all = true;
  for (uint32_t latch = 0; latch < own->latches; latch++) {
    if (reissue_get(machine, own->path_valid, latch, 0) == 0) continue;
    uint64_t head = reissue_get(machine, own->ring, 0, 0), count = reissue_get(machine, own->ring, 0, 1);
    if (count >= own->entries) {
      all = false;
      continue;
    }
    for (uint32_t i = 0; i < 2; i++)
      reissue_set(machine, own->buffer, (head + count) % own->entries, i, reissue_get(machine, own->path, latch, i));
    reissue_set(machine, own->ring, 0, 1, count + 1);
    reissue_set(machine, own->path_valid, latch, 0, 0);
  }
  if (!all) hook_wake(hook, machine, machine->cycle + 1);
}

static bool is_on_path(const Reissue *own, const HookMachine *machine) {
  for (uint32_t latch = 0; latch < own->latches; latch++) {
    if (reissue_get(machine, own->path_valid, latch, 0) != 0) return true;
  }
  return false;
}

// ---- The rasteriser asks -----------------------------------------------------------------------------------------------

static void issue_other(const Reissue *own, PointEvent *event, uint64_t x, uint64_t y) {
  event->is_other = true;
  event->x = (uint32_t)x;
  event->y = (uint32_t)y;
  event->copies = own->copies;
  event->first_copy = 0;
}

// The oldest point of the domain buffer. Points outside its geometry are left out: only a fault makes them.
static bool take_from_buffer(const Reissue *own, const HookMachine *machine, PointEvent *event) {
  uint64_t count;
  while ((count = reissue_get(machine, own->ring, 0, 1)) > 0) {
    uint64_t head = reissue_get(machine, own->ring, 0, 0), entry = head % own->entries;
    uint64_t x = reissue_get(machine, own->buffer, entry, 0), y = reissue_get(machine, own->buffer, entry, 1);
    reissue_set(machine, own->ring, 0, 0, (entry + 1) % own->entries);
    reissue_set(machine, own->ring, 0, 1, count - 1);
    if (x >= reissue_get(machine, own->geometry, 0, 0) || y >= reissue_get(machine, own->geometry, 0, 1)) continue;
    issue_other(own, event, x, y);
    hook_tally(machine, TALLY_REISSUE_AGAIN, 1);
    return true;
  }
  return false;
}

// Toggled bits, at the end: a word that is full has had an odd number of results. Its point goes into the domain buffer, and the word is emptied.
static void buffer_left_full(const Reissue *own, const HookMachine *machine, const PointEvent *event) {
  uint64_t points = min_u64((uint64_t)event->width * event->height, own->points), count = 0;
  reissue_set(machine, own->ring, 0, 0, 0);
  for (uint64_t word = 0; word * 64 < points; word++) {
    uint64_t bits;
    while (count < own->entries && (bits = reissue_get(machine, own->full, word, 0)) != 0) {
      uint64_t point = word * 64 + (uint64_t)__builtin_ctzll(bits);
      reissue_set_bit(machine, own->full, point, false);
      if (point >= points) continue;
      reissue_set(machine, own->buffer, count, 0, point % event->width);
      reissue_set(machine, own->buffer, count++, 1, point / event->width);
    }
  }
  reissue_set(machine, own->ring, 0, 1, count);
  *machine->corrected += count;
  hook_tally(machine, TALLY_REISSUE_LEFT, count);
}

// Replication by quad: four points go out, then the same four again.
static void issue_quad(const Reissue *own, const HookMachine *machine, PointEvent *event) {
  uint64_t count = reissue_get(machine, own->quad_ring, 0, 0), next = reissue_get(machine, own->quad_ring, 0, 1);
  if (count >= 4 || (!event->has_own && count > 0)) {
    issue_other(own, event, reissue_get(machine, own->quad, next % 4, 0), reissue_get(machine, own->quad, next % 4, 1));
    event->copies = 1;
    event->first_copy = 1;
    event->joins = true;
    bool is_last = next + 1 >= count;
    reissue_set(machine, own->quad_ring, 0, 0, is_last ? 0 : count);
    reissue_set(machine, own->quad_ring, 0, 1, is_last ? 0 : next + 1);
  } else if (event->has_own) {
    reissue_set(machine, own->quad, count, 0, event->x);
    reissue_set(machine, own->quad, count, 1, event->y);
    reissue_set(machine, own->quad_ring, 0, 0, count + 1);
    event->copies = 1;
  }
}

// The geometry is sent twice: the rasteriser goes through the domain once for each copy.
static void issue_pass(const Reissue *own, const HookMachine *machine, PointEvent *event) {
  uint64_t pass = reissue_get(machine, own->pass, 0, 0);
  event->copies = 1;
  event->first_copy = (uint8_t)pass;
  if (event->has_own || pass + 1 >= own->copies) return;
  reissue_set(machine, own->pass, 0, 0, pass + 1);
  event->restarts = true;
}

static Verdict reissue_point(Hook *hook, HookMachine *machine, PointEvent *event) {
  const Reissue *own = hook->own;
  event->copies = own->copies;
  if (take_from_buffer(own, machine, event)) return VERDICT_PASS;
  if (own->order == ORDER_QUADS) issue_quad(own, machine, event);
  if (own->order == ORDER_GEOMETRY) issue_pass(own, machine, event);
  if (!event->is_drained || event->is_other || event->restarts) return VERDICT_PASS;
  if (is_on_path(own, machine)) {
    event->waits = true;
    hook_wake(hook, machine, machine->cycle + 1); // armed already, unless a fault has filled a latch
  } else if (own->toggles) {
    buffer_left_full(own, machine, event);
    if (own->scatters) reissue_scatter_ends(own, machine);
    take_from_buffer(own, machine, event);
  }
  return VERDICT_PASS;
}

// ---- Raster operations ask ---------------------------------------------------------------------------------------------

static Verdict reissue_merge(Hook *hook, HookMachine *machine, MergeEvent *event) {
  const Reissue *own = hook->own;
  if (own->scatters) return reissue_scatter(hook, machine, event);
  uint64_t point = (uint64_t)event->y * event->width + event->x;
  if (point >= own->points) return VERDICT_PASS;
  if (!reissue_bit(machine, own->full, point)) {
    reissue_set_bit(machine, own->full, point, true);
    return VERDICT_PASS;
  }
  if (event->old == NULL) {
    event->wants_old = true;
    return VERDICT_PASS;
  }
  if (own->copies == 3) return reissue_vote(hook, machine, event, point);
  bool same = memcmp(event->value, event->old, 4 * sizeof *event->old) == 0;
  if (!same && !reissue_send(hook, machine, event)) return VERDICT_HOLD;
  hook_tally(machine, TALLY_REISSUE_COMPARED, 1);
  if (!same || own->toggles) reissue_set_bit(machine, own->full, point, false);
  return VERDICT_DROP;
}

// ---- Where copies go ---------------------------------------------------------------------------------------------------

// Copies of a number have pipelines of their own; pairs: those of a point are neighbours, which may share a texture cache.
static Verdict reissue_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  const Reissue *own = hook->own;
  if (event->done) return VERDICT_PASS;
  uint32_t copy = event->copy % own->copies, group = event->who->sm / own->copies, groups = own->pipes / own->copies;
  if (group >= groups) return VERDICT_STALL; // pipelines that are left over
  if (event->who->sm % own->copies != copy) return VERDICT_STALL;
  if (!own->pairs) return VERDICT_PASS;
  uint64_t width = max_u64(reissue_get(machine, own->geometry, 0, 0), 1), x = event->who->block % width, y = event->who->block / width;
  return (y / 2 * ((width + 1) / 2) + x / 2) % groups == group ? VERDICT_PASS : VERDICT_STALL; // quad by quad
}

// ---- Making it ---------------------------------------------------------------------------------------------------------

static bool has_room(const Reissue *own, const LaunchEvent *event) { return (uint64_t)event->grid[0] * event->grid[1] <= own->points; }

static bool reissue_admits(const Hook *hook, const Program *program, const LaunchEvent *event, Diags *diags) {
  const Reissue *own = hook->own;
  if (program != NULL && program->scatters && !own->scatters)
    return diags_add(diags, NULL, 0, 0, "the program scatters its results: bits of the frame do not protect it; use reissue:scatter");
  if (has_room(own, event)) return true;
  uint64_t points = (uint64_t)event->grid[0] * event->grid[1];
  return diags_add(diags, NULL, 0, 0,
                   "reissue has full/empty bits for %u points, and the domain of %u x %u has %" PRIu64 "; give it reissue:points=%" PRIu64,
                   own->points, event->grid[0], event->grid[1], points, points);
}

static Verdict reissue_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  const Reissue *own = hook->own;
  if (!has_room(own, event)) return VERDICT_HALT; // nobody has asked `admits`
  for (uint32_t i = 0; i < 2; i++) reissue_set(machine, own->geometry, 0, i, event->grid[i]);
  return VERDICT_PASS;
}

typedef struct Wanted {
  const char *name, *unit, *meaning, *dim;
  uint32_t rows, units, bits, unit_bytes;
  uint16_t *region;
} Wanted;

static bool reissue_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Reissue *own = hook->own;
  own->pipes = own->latches = hook_layout_shape(layout)->sms;
  if (own->pipes < own->copies && (own->apart || own->pairs))
    return diags_add(diags, NULL, 0, 0, "reissue: this machine has too few pipelines for copies on different ones");
  if (own->lockstep && !hook_layout_shape(layout)->pairs)
    return diags_add(diags, NULL, 0, 0,
                     "reissue: lockstep needs neighbouring pipelines that share a texture cache: --set fragment.cache_pipelines=2; and a "
                     "queue for two groups");
  uint32_t words = (uint32_t)((own->points + 63) / 64);
  const Wanted wanted[] = {
      {"reissue.full", "mask", "the word of the frame is full: a bit per point", "word", words, 1, 64, 8, &own->full},
      {"reissue.path", "coordinate", "point on its way back from a raster operation", "latch", own->latches, 2, 12, 2, &own->path},
      {"reissue.path.valid", "flag", "the latch holds a point", "latch", own->latches, 1, 1, 1, &own->path_valid},
      {"reissue.buffer", "coordinate", "domain buffer: points to be issued again", "entry", own->entries, 2, 12, 2, &own->buffer},
      {"reissue.ring", "register", "domain buffer: first point, and how many wait", NULL, 1, 2, 13, 2, &own->ring},
      {"reissue.geometry", "coordinate", "domain buffer: edges of the domain", NULL, 1, 2, 13, 2, &own->geometry},
      {"reissue.quad", "coordinate", "points of the quad that goes out again", "entry", 4, 2, 12, 2, &own->quad},
      {"reissue.quad.ring", "register", "how many they are, and which is next", NULL, 1, 2, 3, 1, &own->quad_ring},
      {"reissue.pass", "register", "which copy of the geometry is rasterised", NULL, 1, 1, 2, 1, &own->pass},
      {"reissue.second", "mask", "a second result has come: a bit per point", "word", words, 1, 64, 8, &own->second},
      {"reissue.vote", "word", "second results that differ", "entry", own->votes, 4, 32, 4, &own->vote},
      {"reissue.held", "word", "first results that wait to be compared", "entry", own->entries, 4, 32, 4, &own->held},
      {"reissue.held.word", "coordinate", "where they go", "entry", own->entries, 2, 12, 2, &own->held_word},
      {"reissue.held.point", "coordinate", "whose they are", "entry", own->entries, 2, 12, 2, &own->held_point},
      {"reissue.held.valid", "flag", "the entry holds one", "entry", own->entries, 1, 1, 1, &own->held_valid},
      {"reissue.vote.point", "register", "whose they are; with a flag above", "entry", own->votes, 1, 25, 4, &own->vote_point},
  };
  for (uint32_t i = 0; i < COUNT_OF(wanted); i++) {
    const Wanted *w = &wanted[i];
    bool is_quad = w->region == &own->quad || w->region == &own->quad_ring, is_pass = w->region == &own->pass;
    bool is_vote = w->region == &own->second || w->region == &own->vote || w->region == &own->vote_point;
    bool is_held =
        w->region == &own->held || w->region == &own->held_word || w->region == &own->held_point || w->region == &own->held_valid;
    if (is_held && !own->scatters) continue;
    if ((is_quad && own->order != ORDER_QUADS) || (is_pass && own->order != ORDER_GEOMETRY) || (is_vote && own->copies != 3)) continue;
    Region region = {.name = w->name, .title = "reissue", .unit = w->unit, .meaning = w->meaning};
    if (w->dim != NULL) region.dims[region.dim_count++] = (RegionDim){w->dim, w->rows};
    region.units = w->units;
    region.bits = w->bits;
    region.unit_bytes = w->unit_bytes;
    *w->region = hook_add_region(layout, &region, LIFE_LAUNCH, diags);
    if (*w->region == REGION_NONE) return false;
  }
  return true;
}

static bool read_option(Reissue *own, const ProtectArguments *arguments, const ProtectArgument *argument, Diags *diags) {
  static const char *const known[] = {"toggle", "apart",   "pairs",  "lockstep", "quad",  "geometry",
                                      "off",    "scatter", "copies", "entries",  "points"};
  bool *const flags[] = {&own->toggles, &own->apart, &own->pairs, &own->lockstep, NULL, NULL, &own->off, &own->scatters};
  const char *key = argument->key;
  uint64_t number;
  for (uint32_t i = 0; i < COUNT_OF(flags) && argument->value == NULL; i++) {
    if (strcmp(key, known[i]) != 0) continue;
    if (flags[i] != NULL) *flags[i] = true;
    else own->order = i == 4 ? ORDER_QUADS : ORDER_GEOMETRY;
    return true;
  }
  if (strcmp(key, "copies") == 0) {
    if (!protect_number(arguments, argument, 2, 3, &number, diags)) return false;
    own->copies = (uint8_t)number;
  } else if (strcmp(key, "entries") == 0) {
    if (!protect_number(arguments, argument, 1, 4096, &number, diags)) return false;
    own->entries = (uint32_t)number;
  } else if (strcmp(key, "points") == 0) {
    if (!protect_number(arguments, argument, 1, UINT64_C(1) << 24, &number, diags)) return false;
    own->points = (uint32_t)number;
  } else {
    return protect_unknown(arguments, key, known, COUNT_OF(known), diags);
  }
  return true;
}

Hook *reissue_points_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Reissue *own = ARENA_NEW(arena, Reissue);
  // 1024: more points than can be under way on the machine, so that the buffer never holds raster operations up. 2^20 points: a domain of 1024 x 1024.
  *own = (Reissue){.copies = 2, .entries = 1024, .points = 1 << 20, .votes = 64};
  for (uint32_t i = 0; i < arguments->count; i++) {
    if (!read_option(own, arguments, &arguments->items[i], diags)) return NULL;
  }
  if (own->scatters) own->toggles = true;                // and so is a result that went astray
  if (own->order == ORDER_GEOMETRY) own->toggles = true; // a point that one pass leaves out is found at the end alone
  if ((own->apart || own->pairs || own->lockstep) && own->order == ORDER_POINTS && own->copies == 2)
    own->order = ORDER_QUADS; // neighbours stay together
  const char *wrong = own->order == ORDER_QUADS && own->copies == 3 ? "quad has two copies"
                      : own->copies == 3 && own->toggles            ? "with three copies bits are not toggled"
                      : own->lockstep && own->copies == 3           ? "lockstep has two copies"
                      : own->lockstep && (own->apart || own->pairs) ? "lockstep says already where copies go: leave apart and pairs out"
                      : own->lockstep && own->order != ORDER_QUADS ? "in lockstep the copies of a point go out together: leave geometry out"
                      : own->scatters && own->entries < 512        ? "scatter needs 512 entries: so many points can be under way"
                                                                   : NULL;
  if (wrong != NULL) {
    diags_add(diags, NULL, 0, 0, "%s: %s", arguments->text, wrong);
    return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "reissue",
                 .kind = HOOK_PROTECTION,
                 .own = own,
                 .attach = reissue_attach,
                 .needs = WANT_POINT | WANT_MERGE,
                 .next_cycle = UINT64_MAX};
  if (own->off) return hook;
  hook->admits = reissue_admits;
  hook->launch = reissue_launch;
  hook->point = reissue_point;
  hook->merge = reissue_merge;
  hook->cycle = reissue_cycle;
  hook->lockstep = own->lockstep;
  if (own->apart || own->pairs) hook->block = reissue_block;
  return hook;
}
