// A thread of a fragment program, one instruction at a time; see shader.h.
#include "shader/shader.h"

#include "isa/float_half.h"

#include <math.h>

const ShaderOpInfo shader_op_info[SHADER_OPS] = {
#define SHADER(name, sources, kind, meaning) [SHADER_##name] = {#name, sources, SHADER_##kind, meaning},
#include "shader/shader.def"
#undef SHADER
};

// ---- Operands ----------------------------------------------------------------------------------------------------

static const float *input_of(const ShaderState *state, const ShaderSource *source) {
  static const float zeros[4] = {0};
  const ShaderThread *thread = state->thread;
  if (!source->is_indexed) return state->input[source->index % SHADER_INPUTS];
  int64_t at = (int64_t)source->index + (thread->loops > 0 ? thread->loop[(thread->loops - 1u) % SHADER_NESTING].index : 0);
  return at < INPUT_TEX0 || at >= SHADER_INPUTS ? zeros : state->input[at]; // zeros: there is no such texture coordinate
}

static float component_of(const ShaderProgram *program, const ShaderState *state, const ShaderSource *source, uint32_t component) {
  uint32_t index = source->index;
  switch (source->file) {
  case SHADER_TEMP: return state->temp[index % SHADER_TEMPS][component];
  case SHADER_HALF: return f16_to_f32(state->half[index % SHADER_HALVES][component]);
  case SHADER_CONSTANT: return index < program->constant_count ? state->constants[index][component] : 0.0f;
  case SHADER_INPUT: return input_of(state, source)[component];
  default: return 0.0f;
  }
}

static void fetch(const ShaderProgram *program, const ShaderState *state, const ShaderSource *source, float value[4]) {
  for (uint32_t i = 0; i < 4; i++) {
    float x = component_of(program, state, source, source->swizzle[i] % 4);
    if (source->absolute) x = __builtin_fabsf(x);
    value[i] = source->negate ? -x : x;
  }
}

// ---- Results -----------------------------------------------------------------------------------------------------

static bool holds(const ShaderThread *thread, const ShaderInstr *instr, uint32_t component) {
  return (thread->code[instr->test_swizzle[component] % 4] & instr->test) != 0;
}

static bool holds_for_any(const ShaderThread *thread, const ShaderInstr *instr) {
  return holds(thread, instr, 0) || holds(thread, instr, 1) || holds(thread, instr, 2) || holds(thread, instr, 3);
}

static uint8_t code_of(float x) {
  if (isnan(x)) return CODE_UNORDERED;
  return x < 0.0f ? CODE_LESS : x > 0.0f ? CODE_GREATER : CODE_EQUAL;
}

static void put(const ShaderState *state, const ShaderInstr *instr, uint32_t component, float x) {
  switch (instr->file) {
  case SHADER_TEMP: state->temp[instr->index % SHADER_TEMPS][component] = x; break;
  case SHADER_HALF: state->half[instr->index % SHADER_HALVES][component] = f32_to_f16(x, ROUND_RN); break;
  case SHADER_OUTPUT:
    if (instr->index != OUTPUT_PLACE) state->thread->output[instr->index % SHADER_OUTPUTS][component] = x;
    else if (component < 2) state->thread->target[component] = x;
    break;
  default: break; // only the condition code
  }
}

static void write(const ShaderState *state, const ShaderInstr *instr, const float result[4]) {
  ShaderThread *thread = state->thread;
  uint8_t code[4];
  memcpy(code, thread->code, sizeof code); // tests see the code as it was
  for (uint32_t i = 0; i < 4; i++) {
    if ((instr->mask >> i & 1) == 0 || !holds(thread, instr, i)) continue;
    float x = result[i];
    if (instr->saturates) x = !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
    x = shader_round(instr->precision, x);
    if (isnan(x)) x = f32_of(0x7FFFFFFF); // compilers differ in the bits of what is no number
    if (instr->file == SHADER_HALF) x = shader_round(PRECISION_HALF, x);
    put(state, instr, i, x);
    if (instr->sets_code) code[i] = code_of(x);
  }
  memcpy(thread->code, code, sizeof code);
}

// ---- Flow --------------------------------------------------------------------------------------------------------

static uint32_t rounds_of(float x) { return x >= 1.0f ? (x < 16777216.0f ? (uint32_t)x : 16777216) : 0; }
static int32_t index_of(float x) { return x > -16777216.0f && x < 16777216.0f ? (int32_t)__builtin_floorf(x) : 0; }

static ShaderStep begin_loop(const ShaderProgram *program, const ShaderState *state, const ShaderInstr *instr) {
  ShaderThread *thread = state->thread;
  float a[4];
  fetch(program, state, &instr->source[0], a);
  uint32_t rounds = rounds_of(a[0]);
  thread->pc = rounds > 0 ? (uint16_t)(thread->pc + 1) : instr->jump;
  if (rounds == 0) return STEP_ON;
  if (thread->loops >= SHADER_NESTING) return STEP_WRONG;
  bool has_index = instr->op == SHADER_LOOP;
  thread->loop[thread->loops++] =
      (ShaderLoop){.left = rounds, .first = thread->pc, .index = has_index ? index_of(a[1]) : 0, .step = has_index ? index_of(a[2]) : 0};
  return STEP_ON;
}

static ShaderStep end_round(ShaderThread *thread) {
  if (thread->loops == 0 || thread->loops > SHADER_NESTING) return STEP_WRONG;
  ShaderLoop *loop = &thread->loop[thread->loops - 1];
  loop->index = (int32_t)((uint32_t)loop->index + (uint32_t)loop->step);
  if (loop->left > 1) {
    loop->left--;
    thread->pc = (uint16_t)loop->first;
  } else {
    thread->loops--;
    thread->pc++;
  }
  return STEP_ON;
}

static ShaderStep come_back(ShaderThread *thread) {
  if (thread->calls == 0) return STEP_ENDED;
  if (thread->calls > SHADER_NESTING) return STEP_WRONG;
  const ShaderReturn *call = &thread->call[--thread->calls];
  thread->pc = call->back;
  thread->loops = call->loops; // loops of the subroutine are left
  return STEP_ON;
}

static ShaderStep flow(const ShaderProgram *program, const ShaderState *state, const ShaderInstr *instr) {
  ShaderThread *thread = state->thread;
  bool is_so = holds_for_any(thread, instr);
  switch ((ShaderOp)instr->op) {
  case SHADER_END: return STEP_ENDED;
  case SHADER_REP:
  case SHADER_LOOP: return begin_loop(program, state, instr);
  case SHADER_ENDREP:
  case SHADER_ENDLOOP: return end_round(thread);
  case SHADER_IF: thread->pc = is_so ? (uint16_t)(thread->pc + 1) : instr->jump; return STEP_ON;
  case SHADER_ELSE: thread->pc = instr->jump; return STEP_ON; // the first part has ended
  case SHADER_BRK:
    if (!is_so) break;
    if (thread->loops == 0 || thread->loops > SHADER_NESTING) return STEP_WRONG;
    thread->loops--;
    thread->pc = instr->jump;
    return STEP_ON;
  case SHADER_CAL:
    if (!is_so) break;
    if (thread->calls >= SHADER_NESTING) return STEP_WRONG;
    thread->call[thread->calls++] = (ShaderReturn){.back = (uint16_t)(thread->pc + 1), .loops = thread->loops};
    thread->pc = instr->jump;
    return STEP_ON;
  case SHADER_RET:
    if (is_so) return come_back(thread);
    break;
  default: break;
  }
  thread->pc++;
  return STEP_ON;
}

void shader_begin(const ShaderState *state) {
  memset(state->thread, 0, sizeof *state->thread);
  memset(state->temp, 0, SHADER_TEMPS * sizeof *state->temp);
  memset(state->half, 0, SHADER_HALVES * sizeof *state->half);
  memset(state->input, 0, SHADER_INPUTS * sizeof *state->input);
  memset(state->thread->code, CODE_EQUAL, sizeof state->thread->code);
}

// ---- A step ------------------------------------------------------------------------------------------------------

static void ask(const ShaderProgram *program, const ShaderState *state, const ShaderInstr *instr, ShaderRead *read) {
  *read = (ShaderRead){.texture = instr->texture, .shape = instr->shape};
  fetch(program, state, &instr->source[0], read->at);
  for (uint32_t i = 0; instr->op == SHADER_TXP && i < 3; i++) read->at[i] /= read->at[3];
}

ShaderStep shader_carry_out(const ShaderProgram *program, const ShaderInstr *instr, const ShaderState *state, ShaderRead *read) {
  ShaderThread *thread = state->thread;
  const ShaderOpInfo *info = &shader_op_info[instr->op];
  if (info->kind == SHADER_FLOW) return flow(program, state, instr);
  if (info->kind == SHADER_KILL) {
    if (holds_for_any(thread, instr)) return STEP_KILLED;
    thread->pc++;
    return STEP_ON;
  }
  if (info->kind == SHADER_TEXTURE) {
    ask(program, state, instr, read);
    return STEP_READS;
  }
  float source[3][4] = {{0}};
  for (uint32_t i = 0; i < info->sources; i++) fetch(program, state, &instr->source[i], source[i]);
  shader_compute((ShaderOp)instr->op, source[0], source[1], source[2], read->at);
  return STEP_COMPUTED;
}

void shader_put(const ShaderInstr *instr, const ShaderState *state, const float result[4]) {
  write(state, instr, result);
  state->thread->pc++;
}

ShaderStep shader_step(const ShaderProgram *program, const ShaderState *state, ShaderRead *read) {
  if (state->thread->pc >= program->count) return STEP_WRONG;
  const ShaderInstr *instr = &program->code[state->thread->pc];
  ShaderStep step = shader_carry_out(program, instr, state, read);
  if (step != STEP_COMPUTED) return step;
  shader_put(instr, state, read->at);
  return STEP_ON;
}

void shader_read(const ShaderProgram *program, const ShaderState *state, const float texel[4]) {
  if (state->thread->pc >= program->count) return; // a fault
  shader_put(&program->code[state->thread->pc], state, texel);
}
