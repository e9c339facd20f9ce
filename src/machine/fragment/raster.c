// The rasteriser and the fragment queue. The rasteriser is only functional: it fills the queue in every cycle and is never what others wait for. It goes
// through its rectangle in quads of 2 x 2 points, as rasterisers do, so that neighbours follow one another.
#include "machine/fragment/fragment_internal.h"

// ---- The next point ----------------------------------------------------------------------------------------------------

static bool has_own(const FragRaster *raster) { return raster->at[1] < raster->bounds[1]; }

static FragPlace own_point(const FragRaster *raster) {
  return (FragPlace){(uint16_t)(raster->at[0] + (raster->corner & 1)), (uint16_t)(raster->at[1] + (raster->corner >> 1 & 1))};
}

// To the next corner of the quad that lies in the rectangle, or to the next quad.
static void advance(FragRaster *raster) {
  do {
    raster->corner = (raster->corner + 1) & 3;
    if (raster->corner != 0) continue;
    raster->at[0] = (uint16_t)(raster->at[0] + 2);
    if (raster->at[0] < raster->bounds[0]) continue;
    raster->at[0] = 0;
    raster->at[1] = (uint16_t)(raster->at[1] + 2);
  } while (has_own(raster) && (own_point(raster).x >= raster->bounds[0] || own_point(raster).y >= raster->bounds[1]));
}

// Nothing is under way to the frame. Looked at only when the rasteriser has nothing to do.
static bool is_drained(const Fragment *m) {
  const FragCore *core = m->core;
  if (core->result.count > 0) return false;
  for (uint32_t i = 0; i < m->dims.rops; i++) {
    if (m->rops[i].landing.count > 0) return false;
  }
  for (uint32_t i = 0; i < m->dims.queue; i++) {
    if ((m->queue[i].valid & 1) != 0) return false;
  }
  for (uint32_t i = 0; i < m->dims.pipes * m->dims.contexts; i++) {
    if ((m->states[i].status & 3) != CONTEXT_FREE) return false;
  }
  return true;
}

static bool obeyed(Fragment *m, Verdict verdict) {
  if (verdict != VERDICT_HALT && m->machine.refused.hook == NULL) return true;
  m->core->halted = 1;
  return false;
}

// Fills the latch of the point that goes out next. Hooks may put another one first. False: there is none now.
static bool ask_hooks(Fragment *m) {
  FragRaster *raster = &m->core->raster;
  FragPlace own = own_point(raster);
  PointEvent event = {.has_own = has_own(raster), .x = own.x, .y = own.y, .width = m->width, .height = m->height, .copies = 1};
  event.is_drained = !event.has_own && is_drained(m);
  Who who = WHO_NOBODY;
  who.launch = m->launch->number;
  if (event.has_own) who.block = (uint64_t)own.y * m->width + own.x;
  event.who = &who;
  if (!obeyed(m, hooks_point(&m->hooks, &m->machine, &event))) return false;
  if (event.restarts && !event.has_own) {
    raster->at[0] = raster->at[1] = raster->corner = 0;
    raster->bounds[0] = (uint16_t)m->width; // the geometry sets it up anew
    raster->bounds[1] = (uint16_t)m->height;
    return ask_hooks(m);
  }
  if (!event.has_own && !event.is_other) {
    m->core->is_drained = event.is_drained && !event.waits;
    return false;
  }
  if (!event.is_other) advance(raster);
  raster->issue = (FragIssue){.place = {(uint16_t)event.x, (uint16_t)event.y}, .left = event.copies, .copy = event.first_copy};
  raster->issue.is_apart = event.is_other && !event.joins;
  return true;
}

static bool choose_point(Fragment *m) {
  FragRaster *raster = &m->core->raster;
  if ((m->wants & WANT_POINT) != 0) return ask_hooks(m);
  if (!has_own(raster)) {
    m->core->is_drained = is_drained(m);
    return false;
  }
  raster->issue = (FragIssue){.place = own_point(raster), .left = 1};
  advance(raster);
  return true;
}

static bool next_point(Fragment *m) {
  tell_row(m, LOOKED_RASTER, 0, 3, false);
  tell_row(m, LOOKED_CORNER, 0, 1, false);
  tell_row(m, LOOKED_BOUNDS, 0, 3, false);
  bool is_there = choose_point(m);
  tell_row(m, LOOKED_RASTER, 0, 3, true);
  tell_row(m, LOOKED_CORNER, 0, 1, true);
  tell_row(m, LOOKED_BOUNDS, 0, 3, true);
  return is_there;
}

// Does a group begin with this fragment? Groups stay in step with quads, whatever comes between: else neighbours would part for the rest of the run.
static bool starts_group(const Fragment *m, FragRaster *raster) {
  if ((raster->issue.is_apart & 1) != 0) {
    bool is_first = (raster->was_apart & 1) == 0 || raster->issue.copy == 0;
    raster->was_apart = 1;
    return is_first;
  }
  bool starts = raster->grouped == 0 || (raster->was_apart & 1) != 0;
  raster->grouped = (uint8_t)((raster->grouped + 1) % m->dims.group);
  raster->was_apart = 0;
  return starts;
}

// The first cycle of a launch: the geometry sets up the rasteriser, and the state of raster operations and the program come with it.
static void set_up(Fragment *m) {
  FragCore *core = m->core;
  core->is_set_up = 1;
  core->raster = (FragRaster){.bounds = {(uint16_t)m->width, (uint16_t)m->height}};
  core->frame = m->params.frame;
  core->frame_row = (uint16_t)m->width;
  for (uint32_t i = LOOKED_RASTER; i <= LOOKED_ROW; i++) {
    uint32_t units = i == LOOKED_RASTER || i == LOOKED_BOUNDS ? 3 : 1;
    tell_row(m, (FragLooked)i, 0, units, true);
  }
  memcpy(m->store, m->shader->words, m->shader->count * sizeof *m->store);
  for (uint32_t i = 0; i < m->shader->count; i++) tell_row(m, LOOKED_STORE, i, 0xF, true);
}

bool rasteriser_fills(Fragment *m) {
  FragCore *core = m->core;
  if (core->is_set_up == 0) set_up(m);
  FragIssue *issue = &core->raster.issue;
  bool any = false;
  if (core->is_drained != 0) return false;
  for (uint32_t room = m->dims.queue; room > 0; room--) {
    FragEntry *entry = &m->queue[core->queue_tail % m->dims.queue];
    if ((entry->valid & 1) != 0) break;
    if ((issue->left & 3) == 0 && !next_point(m)) break;
    if ((issue->left & 3) == 0) continue; // a hook wants no copy of this point
    *entry = (FragEntry){.place = issue->place, .valid = 1, .copy = issue->copy & 3, .starts = starts_group(m, &core->raster)};
    core->queue_tail = (core->queue_tail + 1) % m->dims.queue;
    issue->left = (uint8_t)((issue->left & 3) - 1);
    issue->copy = (issue->copy + 1) & 3;
    any = true;
  }
  return any;
}

// ---- From the queue to a context ---------------------------------------------------------------------------------------

static void begin_thread(Fragment *m, uint32_t pipe, uint32_t number, const FragEntry *entry) {
  FragContext *context = context_at(m, pipe, number);
  ShaderState state = state_of(m, pipe, number);
  shader_begin(&state);
  tell_begin(m, pipe, number);
  context->place = entry->place;
  context->copy = entry->copy;
  set_status(m, pipe, number, CONTEXT_READY);
  context->texel = 0;
  const FragRaster *raster = &m->core->raster;
  tell_row(m, LOOKED_BOUNDS, 0, 3, false);
  float x = (float)entry->place.x + 0.5f, y = (float)entry->place.y + 0.5f;
  const float position[4] = {x, y, 0.0f, 1.0f}, coordinates[4] = {x / (float)raster->bounds[0], y / (float)raster->bounds[1], 0.0f, 1.0f};
  memcpy(state.input[INPUT_WPOS], position, sizeof position);
  if (m->shader->scatters) memcpy(context->thread.target, position, sizeof context->thread.target); // unless it says otherwise
  for (uint32_t i = INPUT_TEX0; i < SHADER_INPUTS; i++) memcpy(state.input[i], coordinates, sizeof coordinates);
}

static uint32_t free_context(const Fragment *m, uint32_t pipe) {
  uint32_t number = 0;
  while (number < m->dims.contexts && status_of(m, pipe, number) != CONTEXT_FREE) number++;
  return number;
}

static bool has_room(const Fragment *m, uint32_t pipe, uint32_t wanted) {
  uint32_t room = 0;
  for (uint32_t i = 0; i < m->dims.contexts && room < wanted; i++) room += status_of(m, pipe, i) == CONTEXT_FREE;
  return room >= wanted;
}

// Fragments of the group at the head of the queue, as far as they are there.
static uint32_t waiting(const Fragment *m) {
  uint32_t count = 0;
  for (; count < m->dims.group; count++) {
    const FragEntry *entry = &m->queue[(m->core->queue_head + count) % m->dims.queue];
    if ((entry->valid & 1) == 0 || (count > 0 && (entry->starts & 1) != 0)) break;
  }
  return count;
}

// A group of neighbours, the `count` that are waiting, goes to a pipeline that has room for all of them. False: it took none.
static bool fill_pipeline(Fragment *m, uint32_t pipe, uint32_t count) {
  FragCore *core = m->core;
  bool any = false;
  if (count == 0 || !has_room(m, pipe, count)) return false;
  for (uint32_t i = 0; i < count; i++) {
    FragEntry *entry = &m->queue[core->queue_head % m->dims.queue];
    uint32_t number = free_context(m, pipe);
    if (!tell_fragment(m, pipe, number, entry->place, entry->copy & 3)) break;
    begin_thread(m, pipe, number, entry);
    *entry = (FragEntry){0};
    core->queue_head = (core->queue_head + 1) % m->dims.queue;
    any = true;
  }
  return any;
}

// ---- The same for pairs of pipelines in lockstep -------------------------------------------------------------------------

static FragEntry *queued(const Fragment *m, uint32_t place) { return &m->queue[(m->core->queue_head + place) % m->dims.queue]; }

static bool is_queued(const Fragment *m, uint32_t place, uint32_t copy) {
  const FragEntry *entry = queued(m, place);
  return place < m->dims.queue && (entry->valid & 1) != 0 && (entry->copy & 1) == copy;
}

// Points at the head of the queue whose second copies come behind the first ones; 0: the head has no second copy. *is_cut: what would tell is not in the queue.
static uint32_t points_of_both(const Fragment *m, bool *is_cut) {
  uint32_t firsts = 0, seconds = 0;
  while (firsts < m->dims.group && is_queued(m, firsts, 0)) firsts++;
  while (seconds < firsts && is_queued(m, firsts + seconds, 1)) seconds++;
  *is_cut = seconds < firsts && (queued(m, firsts + seconds)->valid & 1) == 0;
  return seconds == firsts ? firsts : 0;
}

// Numbers of contexts that both pipelines have free. False: there are fewer than wanted.
static bool free_in_both(const Fragment *m, uint32_t pipe, uint32_t wanted, uint32_t numbers[FRAG_CONTEXTS]) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < m->dims.contexts && found < wanted; i++) {
    if (status_of(m, pipe, i) == CONTEXT_FREE && status_of(m, pipe + 1, i) == CONTEXT_FREE) numbers[found++] = i;
  }
  return found == wanted;
}

// First copies to the first pipeline, second ones to the second, those of a point to contexts of the same number. What has no second copy goes by itself.
// `may_come`: the rasteriser has not filled the queue since something was taken from it.
static bool fill_pair(Fragment *m, uint32_t pipe, bool may_come) {
  bool is_cut;
  uint32_t both = points_of_both(m, &is_cut), points = max_u32(both, 1), count = both > 0 ? 2 * both : 1;
  uint32_t numbers[FRAG_CONTEXTS];
  if (is_cut && may_come) return false;
  if ((queued(m, 0)->valid & 1) == 0 || !free_in_both(m, pipe, points, numbers)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const FragEntry *entry = queued(m, i);
    if (!tell_fragment(m, pipe + (entry->copy & 1), numbers[i % points], entry->place, entry->copy & 3)) return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    FragEntry *entry = queued(m, i);
    begin_thread(m, pipe + (entry->copy & 1), numbers[i % points], entry);
    *entry = (FragEntry){0};
  }
  m->core->queue_head = (m->core->queue_head + count) % m->dims.queue;
  return true;
}

bool contexts_fill(Fragment *m) {
  FragCore *core = m->core;
  bool any = false;
  if (core->queue_head == core->queue_tail && (m->queue[core->queue_head % m->dims.queue].valid & 1) == 0) return false;
  uint32_t wide = m->dims.lockstep ? 2 : 1, first = core->next_pipe / wide * wide;
  uint32_t count = m->dims.lockstep ? 0 : waiting(m);
  for (uint32_t i = 0; i < m->dims.pipes; i += wide) {
    uint32_t pipe = (first + i) % m->dims.pipes;
    if (!(m->dims.lockstep ? fill_pair(m, pipe, any) : fill_pipeline(m, pipe, count))) continue;
    if (!m->dims.lockstep) count = waiting(m);
    core->next_pipe = (uint8_t)((pipe + wide) % m->dims.pipes);
    any = true;
  }
  return any;
}
