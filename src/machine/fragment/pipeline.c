// The rasteriser, the fragment queue, and the pipelines with their contexts.
//
// A pipeline carries out one instruction a cycle, of the context that has it. A context that waits for a texel, or that has ended, gives the pipeline to
// the next one that is ready, at no cost.
#include "machine/fragment/fragment_internal.h"

// ---- From the rasteriser to a context ----------------------------------------------------------------------------------

// Only functional: it fills the queue in every cycle, row by row, and is never what others wait for.
bool rasteriser_fills(Fragment *m) {
  FragCore *core = m->core;
  bool any = false;
  while (core->raster[1] < m->height) {
    FragEntry *entry = &m->queue[core->queue_tail % m->dims.queue];
    if ((entry->valid & 1) != 0) break;
    *entry = (FragEntry){.place = {core->raster[0], core->raster[1]}, .valid = 1};
    core->queue_tail = (core->queue_tail + 1) % m->dims.queue;
    core->raster[0]++;
    if (core->raster[0] >= m->width) core->raster[0] = 0, core->raster[1]++;
    any = true;
  }
  return any;
}

static void begin_thread(Fragment *m, uint32_t pipe, uint32_t number, FragPlace place) {
  FragContext *context = context_at(m, pipe, number);
  ShaderState state = state_of(m, pipe, number);
  shader_begin(&state);
  tell_begin(m, pipe, number);
  context->place = place;
  context->status = CONTEXT_READY;
  context->texel = 0;
  float x = (float)place.x + 0.5f, y = (float)place.y + 0.5f;
  const float position[4] = {x, y, 0.0f, 1.0f}, coordinates[4] = {x / (float)m->width, y / (float)m->height, 0.0f, 1.0f};
  memcpy(state.input[INPUT_WPOS], position, sizeof position);
  for (uint32_t i = INPUT_TEX0; i < SHADER_INPUTS; i++) memcpy(state.input[i], coordinates, sizeof coordinates);
}

// Each pipeline takes at most one fragment a cycle, in the order of the queue.
bool contexts_fill(Fragment *m) {
  FragCore *core = m->core;
  bool any = false;
  for (uint32_t pipe = 0; pipe < m->dims.pipes; pipe++) {
    FragEntry *entry = &m->queue[core->queue_head % m->dims.queue];
    if ((entry->valid & 1) == 0) break;
    uint32_t number = 0;
    while (number < m->dims.contexts && (context_at(m, pipe, number)->status & 3) != CONTEXT_FREE) number++;
    if (number == m->dims.contexts) continue;
    begin_thread(m, pipe, number, entry->place);
    *entry = (FragEntry){0};
    core->queue_head = (core->queue_head + 1) % m->dims.queue;
    any = true;
  }
  return any;
}

// ---- A pipeline ------------------------------------------------------------------------------------------------------------

static void end_thread(Fragment *m, FragContext *context, ShaderStep step) {
  if (step == STEP_ENDED) {
    context->status = CONTEXT_DONE;
  } else if (step == STEP_KILLED) {
    context->status = CONTEXT_FREE;
    m->stats->killed++;
    m->core->left--;
  } else if (m->core->outcome == TRAP_NONE) {
    m->core->outcome = TRAP_INVALID_PC;
  }
}

// One instruction of a context that is ready.
static void carry_out(Fragment *m, uint32_t pipe, uint32_t number) {
  FragContext *context = context_at(m, pipe, number);
  ShaderState state = state_of(m, pipe, number);
  uint32_t pc = context->thread.pc;
  tell_reads(m, pipe, number);
  ShaderRead read;
  ShaderStep step = shader_step(m->shader, &state, &read);
  if (step == STEP_READS) {
    float texel[4];
    if (!texture_reads(m, pipe, number, &read, texel)) return; // it waits, or tries again
    shader_read(m->shader, &state, texel);
    step = STEP_ON;
  }
  m->stats->instructions++;
  tell_end(m, pipe, number, pc);
  if (step != STEP_ON) end_thread(m, context, step);
}

// The context that has the pipeline, or the next one after it that is ready. False: none is.
static bool choose(const Fragment *m, uint32_t pipe, uint32_t *number) {
  uint32_t first = m->pipes[pipe].current % m->dims.contexts;
  for (uint32_t i = 0; i < m->dims.contexts; i++) {
    *number = (first + i) % m->dims.contexts;
    if ((context_at(m, pipe, *number)->status & 3) == CONTEXT_READY) return true;
  }
  return false;
}

static bool hand_over(Fragment *m, uint32_t pipe) {
  bool any = false;
  for (uint32_t i = 0; i < m->dims.contexts; i++) {
    FragContext *context = context_at(m, pipe, i);
    if ((context->status & 3) != CONTEXT_DONE || !rops_take(m, context)) continue;
    context->status = CONTEXT_FREE;
    any = true;
  }
  return any;
}

bool pipelines_work(Fragment *m) {
  bool any = false;
  for (uint32_t pipe = 0; pipe < m->dims.pipes; pipe++) {
    any = hand_over(m, pipe) || any;
    uint32_t number;
    if (!choose(m, pipe, &number)) continue;
    m->pipes[pipe].current = (uint8_t)number;
    carry_out(m, pipe, number);
    m->stats->busy++;
    any = true;
  }
  return any;
}
