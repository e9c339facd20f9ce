// Fragment programs: text as NV_fragment_program has it ("!!FP1.0"), with the structured branches of NV_fragment_program2; what each
// instruction computes; and a thread that carries a program out, one instruction at a time. Knows nothing of machines and time.
#ifndef REDOUBT_SHADER_H
#define REDOUBT_SHADER_H

#include "base/base.h"

enum {
  SHADER_TEMPS = 32,  // R0 to R31
  SHADER_HALVES = 64, // H0 to H63
  SHADER_INPUTS = 12,
  SHADER_OUTPUTS = 2,
  SHADER_TEXTURES = 16,
  SHADER_MOST_CONSTANTS = 256,
  SHADER_MOST_INSTRUCTIONS = 4096,
  SHADER_NESTING = 4,          // loops in loops, and calls in calls
  SHADER_MOST_STEPS = 1 << 20, // of one thread: more is endless
};

typedef enum ShaderOp {
#define SHADER(name, sources, kind, meaning) SHADER_##name,
#include "shader/shader.def"
#undef SHADER
  SHADER_OPS
} ShaderOp;
typedef enum ShaderKind { SHADER_VECTOR, SHADER_SCALAR, SHADER_WHOLE, SHADER_TEXTURE, SHADER_KILL, SHADER_FLOW } ShaderKind;
typedef struct ShaderOpInfo {
  const char *name;
  uint8_t sources;
  ShaderKind kind;
  const char *meaning;
} ShaderOpInfo;
extern const ShaderOpInfo shader_op_info[SHADER_OPS];

typedef enum ShaderFile { SHADER_NOWHERE, SHADER_TEMP, SHADER_HALF, SHADER_INPUT, SHADER_CONSTANT, SHADER_OUTPUT } ShaderFile;
typedef enum ShaderInput { INPUT_WPOS, INPUT_COL0, INPUT_COL1, INPUT_FOGC, INPUT_TEX0 } ShaderInput; // TEX0 to TEX7 follow
typedef enum ShaderOutput { OUTPUT_COLOR, OUTPUT_DEPTH, OUTPUT_PLACE } ShaderOutput;                 // PLACE: where the result goes (ours)
typedef enum ShaderPrecision { PRECISION_FLOAT, PRECISION_HALF, PRECISION_FIXED } ShaderPrecision;   // R, H, X
typedef enum ShaderShape { SHAPE_1D, SHAPE_2D, SHAPE_3D, SHAPE_CUBE, SHAPE_RECT } ShaderShape;
// Of a component of the condition code. A test asks whether it is one of several.
enum { CODE_LESS = 1, CODE_EQUAL = 2, CODE_GREATER = 4, CODE_UNORDERED = 8, CODE_ANY = 15 };

typedef struct ShaderSource {
  uint8_t file, index; // of inputs with is_indexed: added to A0.x
  uint8_t swizzle[4];
  bool negate, absolute, is_indexed;
} ShaderSource;
typedef struct ShaderInstr {
  uint16_t op, precision;
  bool saturates, sets_code;
  uint8_t file, index, mask;     // where the result goes, and which components
  uint8_t test, test_swizzle[4]; // and only where the condition code is one of `test`
  uint8_t texture, shape;
  uint16_t jump; // IF, ELSE: past the part that is left out; loops: past the end, and back to the start; CAL: the label
  ShaderSource source[3];
  uint32_t line;
} ShaderInstr;

// An instruction as hardware stores it: 123 bits of four words. The line is not among them.
typedef struct ShaderWord {
  uint32_t word[4];
} ShaderWord;
void shader_encode(const ShaderInstr *instr, ShaderWord *word);
bool shader_decode(const ShaderWord *word, ShaderInstr *instr); // false: no legal instruction

typedef struct ShaderParameter {
  const char *name; // NULL: a constant in the text
  float value[4];
} ShaderParameter;
typedef struct ShaderProgram {
  Arena *arena;
  const ShaderInstr *code; // the last one is END
  const ShaderWord *words; // the same, encoded
  uint32_t count;
  ShaderParameter *constants;
  uint32_t constant_count;
  uint32_t texture_reads; // instructions in the text that read
  uint32_t textures;      // bit i: texture i is read
  bool scatters;          // an instruction writes OUTPUT_PLACE: results go where it says
} ShaderProgram;
// NULL, with a diagnostic for everything that is wrong. shader_free.
ShaderProgram *shader_parse(const char *file, const char *text, size_t length, Diags *diags);
void shader_free(ShaderProgram *program);
typedef float ShaderVector[4];
void shader_constants(const ShaderProgram *program, ShaderVector *constants);    // of text and parameters, by their index
bool shader_set(ShaderProgram *program, const char *name, const float value[4]); // a parameter; false: there is none of that name

// ---- Carrying it out -------------------------------------------------------------------------------------------
typedef struct ShaderLoop {
  uint32_t left, first; // rounds, the one that runs included; its first instruction
  int32_t index, step;
} ShaderLoop;
typedef struct ShaderReturn {
  uint16_t back; // the instruction after the call
  uint8_t loops; // that were open then
} ShaderReturn;
// A thread, and where its registers lie. Whatever bits they hold, a step does no harm.
typedef struct ShaderThread {
  ShaderVector output[SHADER_OUTPUTS];
  float target[2]; // OUTPUT_PLACE
  ShaderLoop loop[SHADER_NESTING];
  ShaderReturn call[SHADER_NESTING];
  uint16_t pc;
  uint8_t code[4]; // the condition code
  uint8_t loops, calls;
} ShaderThread;
typedef uint16_t ShaderHalves[4];
typedef struct ShaderState {
  ShaderThread *thread;
  ShaderVector *temp, *input;    // SHADER_TEMPS, SHADER_INPUTS of them
  ShaderHalves *half;            // SHADER_HALVES
  const ShaderVector *constants; // as many as the program has
} ShaderState;
typedef enum ShaderStep { STEP_ON, STEP_COMPUTED, STEP_READS, STEP_KILLED, STEP_ENDED, STEP_WRONG } ShaderStep;
typedef struct ShaderRead { // of STEP_READS: what is to be read
  uint32_t texture, shape;
  float at[4]; // coordinates, divided already; of STEP_COMPUTED the result of the arithmetic unit
} ShaderRead;
// Carries out the instruction at thread->pc. STEP_READS: shader_read ends the instruction with the texel. STEP_WRONG: the program counter or
// a stack is beyond its end, which only a fault can do.
void shader_begin(const ShaderState *state); // all zero but the condition code, which is "equal"
ShaderStep shader_step(const ShaderProgram *program, const ShaderState *state, ShaderRead *read);
void shader_read(const ShaderProgram *program, const ShaderState *state, const float texel[4]);
// The same for machines, which fetch the instruction themselves. STEP_COMPUTED: shader_put ends the instruction with the result, as with a texel.
ShaderStep shader_carry_out(const ShaderProgram *program, const ShaderInstr *instr, const ShaderState *state, ShaderRead *read);
void shader_put(const ShaderInstr *instr, const ShaderState *state, const float result[4]);
// The result of an instruction that is neither a read nor flow, before masks and precision.
void shader_compute(ShaderOp op, const float a[4], const float b[4], const float c[4], float result[4]);
float shader_round(ShaderPrecision precision, float value);

#endif
