// The fragment processor: results are those of a plain interpreter, times are as counted by hand, state can be copied in the middle, and no flip
// of any cell does harm.
#include "machine/fragment/fragment_internal.h"
#include "machine/machines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TEXTURE_EDGE = 16 };

// A launch of a program on a machine with textures 0 and 1.
typedef struct Bench {
  Arena *arena;
  Spec spec;
  Memory *memory;
  Program *program;
  Machine *machine;
  MachineEnvironment environment;
  Launch launch;
  FragmentParams params;
  HookChain hooks; // set before it is opened
} Bench;

static uint64_t base_of(const Bench *bench) { return memory_base(bench->memory); }

static FragmentTexture place_texture(Bench *bench, uint32_t number) {
  uint64_t bytes = fragment_texture_bytes(TEXTURE_EDGE, TEXTURE_EDGE), address = memory_alloc(bench->memory, bytes, 256);
  float *texels = (float *)(void *)memory_at(bench->memory, address, bytes);
  for (uint64_t i = 0; i < bytes / 4; i++) texels[i] = random_unit_f32(random_draw(number, i, 0));
  return (FragmentTexture){(uint32_t)(address - base_of(bench)), TEXTURE_EDGE, TEXTURE_EDGE};
}

static void open_bench(Bench *bench, const char *body, uint32_t width, uint32_t height, const char *settings[][2], uint32_t count) {
  Diags diags = {0};
  *bench = (Bench){.arena = arena_new(), .hooks = bench->hooks};
  assert_true(spec_load(&bench->spec, bench->arena, "sheaffer-2007", &diags));
  for (uint32_t i = 0; i < count; i++) assert_true(spec_set(&bench->spec, settings[i][0], settings[i][1], NULL, 0, &diags));
  bench->memory = memory_new(&(MemoryOptions){GLOBAL_BASE32, 1 << 20, 1, 0, false}, &diags);
  assert_non_null(bench->memory);
  const char *text = arena_format(bench->arena, "!!FP1.0\n%s\nEND\n", body);
  ShaderProgram *shader = shader_parse("test.fp", text, strlen(text), &diags);
  if (shader == NULL) fail_msg("%s: %s", body, diags.items[0].text);
  bench->program = fragment_program("test.fp", shader);
  uint64_t frame = memory_alloc(bench->memory, (uint64_t)width * height * FRAGMENT_TEXEL_BYTES, 256);
  bench->params.frame = (uint32_t)(frame - base_of(bench));
  for (uint32_t i = 0; i < 2; i++) bench->params.texture[i] = place_texture(bench, i);
  bench->environment = (MachineEnvironment){.memory = bench->memory};
  bench->launch = (Launch){.program = bench->program,
                           .kernel = bench->program->functions,
                           .grid = {width, height, 1},
                           .block = {1, 1, 1},
                           .params = (const uint8_t *)&bench->params,
                           .number = 1};
  bench->machine = machine_new(&bench->spec, &bench->hooks, &diags);
  assert_non_null(bench->machine);
  assert_true(machine_admits(bench->machine, &bench->launch, &diags));
  machine_begin(bench->machine, &bench->environment, &bench->launch);
}

static uint64_t end_bench(Bench *bench, TrapKind *trap_kind) {
  Stats stats;
  Trap trap;
  machine_run(bench->machine, UINT64_MAX);
  machine_end(bench->machine, &stats, &trap);
  *trap_kind = trap.kind;
  return stats.value[STAT_CYCLES];
}

static void close_bench(Bench *bench) {
  machine_free(bench->machine);
  program_free(bench->program);
  memory_free(bench->memory);
  arena_free(bench->arena);
}

static const float *frame_of(const Bench *bench, uint64_t pixels) {
  return (const float *)(const void *)memory_at(bench->memory, base_of(bench) + bench->params.frame, pixels * FRAGMENT_TEXEL_BYTES);
}

// ---- Results ---------------------------------------------------------------------------------------------------------

// What a fragment comes to, without any machine. False: it was killed.
static bool interpret(const Bench *bench, uint32_t x, uint32_t y, float pixel[4]) {
  const ShaderProgram *program = bench->program->shader;
  ShaderThread thread;
  ShaderVector temp[SHADER_TEMPS], input[SHADER_INPUTS], constants[SHADER_MOST_CONSTANTS];
  ShaderHalves half[SHADER_HALVES];
  ShaderState state = {&thread, temp, input, half, constants};
  shader_constants(program, constants);
  shader_begin(&state);
  float place[2] = {(float)x + 0.5f, (float)y + 0.5f};
  memcpy(input[INPUT_WPOS], (float[4]){place[0], place[1], 0, 1}, sizeof input[0]);
  for (uint32_t i = INPUT_TEX0; i < SHADER_INPUTS; i++)
    memcpy(input[i], (float[4]){place[0] / (float)bench->launch.grid[0], place[1] / (float)bench->launch.grid[1], 0, 1}, sizeof input[0]);
  for (;;) {
    ShaderRead read;
    ShaderStep step = shader_step(program, &state, &read);
    if (step == STEP_READS) {
      const FragmentTexture *texture = &bench->params.texture[read.texture];
      uint32_t u, v;
      fragment_texel(texture, &read, &u, &v);
      uint64_t at = base_of(bench) + texture->address + fragment_morton(u, v, TEXTURE_EDGE, TEXTURE_EDGE) * FRAGMENT_TEXEL_BYTES;
      float texel[4];
      memcpy(texel, memory_at(bench->memory, at, sizeof texel), sizeof texel);
      shader_read(program, &state, texel);
    } else if (step != STEP_ON) {
      memcpy(pixel, thread.output[OUTPUT_COLOR], 3 * sizeof(float));
      pixel[3] = thread.output[OUTPUT_DEPTH][2];
      return step == STEP_ENDED;
    }
  }
}

static const char *const programs[] = {
    "MOV o[COLR], f[TEX0]; MOV o[DEPR].z, f[WPOS].y;",
    "TEX R0, f[TEX0], TEX0, 2D; TEX R1, f[TEX0].yxzw, TEX1, 2D; MAD o[COLR], R0, R1, R0;",
    "TEX R0, f[TEX0], TEX0, 2D; TEX R1, R0, TEX1, 2D; TEX R2, R1, TEX0, 2D; ADD o[COLR], R2, R1;", // reads that depend on reads
    "MUL R0, f[WPOS], {0.3, 0.7}; FRC R0, R0; MUL R1.x, R0.x, 9; REP R1.x; MAD R2, R2, 0.5, R0; ENDREP; MOV o[COLR], R2;",
    "TEX H0, f[TEX0], TEX0, 2D; SGTC RC.x, H0.x, 0.5; IF GT.x; TEX H0, H0, TEX1, 2D; ELSE; KIL LT.x; ENDIF; MOV o[COLR], H0;",
    "TEX R0, f[WPOS], TEX1, RECT; SUBC RC, R0, 0.5; KIL LT.y; MOV o[COLR], R0;",
};

// Every point of the machine's frame is what the interpreter says.
static void run_and_compare(const char *body, uint32_t width, uint32_t height, const char *settings[][2], uint32_t count) {
  Bench bench = {0};
  TrapKind trap;
  open_bench(&bench, body, width, height, settings, count);
  end_bench(&bench, &trap);
  assert_int_equal(trap, TRAP_NONE);
  const float *frame = frame_of(&bench, (uint64_t)width * height);
  for (uint32_t i = 0; i < width * height; i++) {
    float pixel[4] = {0};
    if (!interpret(&bench, i % width, i / width, pixel)) memset(pixel, 0, sizeof pixel);
    if (memcmp(pixel, &frame[i * 4], sizeof pixel) != 0) fail_msg("%s: %u x %u, fragment %u", body, width, height, i);
  }
  close_bench(&bench);
}

static void test_results(void **state) {
  (void)state;
  static const uint32_t domains[][2] = {{1, 1}, {16, 16}, {37, 5}};
  const char *settings[][2] = {{"fragment.perfect", "0"}, {"fragment.texture_queue", "256"}, {"fragment.cache_bytes", "16384"}};
  for (uint32_t form = 0; form < 3; form++) {
    settings[0][1] = form == 1 ? "1" : "0";
    settings[1][1] = form == 2 ? "1" : "256"; // one miss at a time, and a cache of two sets
    settings[2][1] = form == 2 ? "1024" : "16384";
    for (size_t p = 0; p < COUNT_OF(programs); p++) {
      for (size_t d = 0; d < COUNT_OF(domains); d++) {
        run_and_compare(programs[p], domains[d][0], domains[d][1], settings, COUNT_OF(settings));
      }
    }
  }
}

// Programs drawn at random: arithmetic on few registers, reads that depend on it, branches, loops and kills.
static void draw_instruction(uint64_t seed, uint32_t *draws, uint32_t depth, Text *out) {
  static const char *const plain[] = {"ADD", "SUB", "MUL", "MIN", "MAX", "SLT", "SGE", "SEQ"};
  static const char *const swizzle[] = {"", ".x", ".wzyx", ".yyww"}, *const mask[] = {"", ".x", ".yz", ".xw"};
  uint32_t d[8]; // all drawn before any is used: arguments have no order
  for (uint32_t i = 0; i < COUNT_OF(d); i++) d[i] = (uint32_t)(random_draw(seed, (*draws)++, 0) >> 33);
  uint32_t kind = d[0] % (depth < 2 ? 10 : 6), to = d[1] % 4, a = d[2] % 4, b = d[3] % 4;
  const char *masked = mask[d[4] % 4], *swizzled = swizzle[d[5] % 4];
  if (kind < 3) {
    text_add(out, "%s R%u%s, R%u%s, %sR%u; ", plain[d[6] % 8], to, masked, a, swizzled, d[7] % 2 == 0 ? "-" : "", b);
  } else if (kind == 3) {
    text_add(out, "MAD R%u%s, R%u, R%u, R%u%s; ", to, masked, a, b, d[6] % 4, swizzled);
  } else if (kind < 6) {
    text_add(out, "FRC R%u, R%u; TEX R%u, R%u, TEX%u, 2D; ", a, a, to, a, d[6] % 2);
  } else {
    bool loops = kind == 6;
    if (loops) text_add(out, "REP %u; ", 1 + d[6] % 3);
    else text_add(out, "SGTC RC.x, R%u.x, 0.5; %sIF GT.x; ", a, kind == 9 ? "KIL EQ.x; " : "");
    for (uint32_t i = 0; i < 2; i++) draw_instruction(seed, draws, depth + 1, out);
    text_add(out, "%s", loops ? "ENDREP; " : "ENDIF; ");
  }
}

static void test_random_programs(void **state) {
  (void)state;
  const char *settings[][2] = {
      {"fragment.perfect", "0"}, {"fragment.group", "8"}, {"fragment.cache_pipelines", "1"}, {"fragment.rops", "16"}};
  for (uint64_t seed = 0; seed < 60; seed++) {
    Text body = {0};
    uint32_t draws = 0;
    text_add(&body, "MOV R0, f[TEX0]; MUL R1, f[WPOS], {0.3, 0.7, 0.1, 0.9}; FRC R1, R1; ");
    for (uint32_t i = 0; i < 8; i++) draw_instruction(seed, &draws, 0, &body);
    text_add(&body, "MOV o[COLR], R0; MOV o[DEPR].z, R1.x;");
    settings[1][1] = seed % 3 == 0 ? "1" : "8";
    settings[2][1] = seed % 2 == 0 ? "1" : "2";
    settings[3][1] = seed % 5 == 0 ? "3" : "16";
    run_and_compare(body.at, 19, 7, settings, COUNT_OF(settings));
    text_free(&body);
  }
}

// ---- Times -----------------------------------------------------------------------------------------------------------

// Cycle 0: the rasteriser; 1: a context takes the fragment; then an instruction a cycle, END included; a cycle to hand the result over; one into the
// crossbar and one out of it; the raster operation works in the cycle in which the result comes.
enum { BEFORE = 2, AFTER = 3 };

static uint64_t time_of(const char *body, uint32_t width, const char *settings[][2], uint32_t count) {
  Bench bench = {0};
  TrapKind trap;
  open_bench(&bench, body, width, 1, settings, count);
  uint64_t cycles = end_bench(&bench, &trap);
  assert_int_equal(trap, TRAP_NONE);
  close_bench(&bench);
  return cycles;
}

static void test_times(void **state) {
  (void)state;
  const char *perfect[][2] = {{"fragment.perfect", "1"}, {"fragment.pipelines", "1"}};
  const char *real[][2] = {{"fragment.memory_latency", "50"}, {"fragment.pipelines", "1"}};
  static const char one[] = "MOV o[COLR], f[TEX0];", read[] = "TEX o[COLR], f[TEX0], TEX0, 2D;";
  uint64_t alone = time_of(one, 1, perfect, 2);
  assert_int_equal(alone, BEFORE + 2 + AFTER);
  assert_int_equal(time_of("MOV R0, f[TEX0]; MOV o[COLR], R0;", 1, perfect, 2), alone + 1); // an instruction more, a cycle more
  assert_int_equal(time_of(one, 2, perfect, 2), alone + 2);                                 // a fragment more of two instructions
  assert_int_equal(time_of(read, 1, perfect, 2), alone);                                    // a read takes a cycle
  uint64_t missed = time_of(read, 1, real, 2);
  assert_int_equal(missed,
                   alone - 1 + 1 + 50 + 1 + 3); // not one cycle, but in, memory, out; and the frame's line goes to memory at the end
  assert_int_equal(time_of("TEX R0, f[TEX0], TEX0, 2D; TEX o[COLR], f[TEX0], TEX0, 2D;", 1, real, 2), missed + 1); // a hit takes a cycle
  // While one fragment waits another works: the second is not late by the memory's time.
  assert_true(time_of(read, 2, real, 2) < missed + 50);
}

// ---- Pairs of pipelines in lockstep --------------------------------------------------------------------------------------

static Verdict issue_twice(Hook *hook, HookMachine *machine, PointEvent *event) {
  (void)hook;
  (void)machine;
  event->copies = 2;
  return VERDICT_PASS;
}

// Who has a context, and where in its program it is.
static void assert_same_step(const Fragment *m, uint32_t pipe, uint32_t number) {
  const FragContext *one = context_at(m, pipe, number), *other = context_at(m, pipe + 1, number);
  FragStatus first = status_of(m, pipe, number), second = status_of(m, pipe + 1, number);
  bool runs = first == CONTEXT_READY || first == CONTEXT_WAITS || second == CONTEXT_READY || second == CONTEXT_WAITS;
  if (!runs) return; // done, or free: the crossbar may have taken the result of one and not of the other
  assert_int_equal(first, second);
  assert_int_equal(one->copy, 0);
  assert_int_equal(other->copy, 1);
  assert_memory_equal(&one->place, &other->place, sizeof one->place);
  assert_memory_equal(&one->thread, &other->thread, sizeof one->thread);
  ShaderState a = state_of(m, pipe, number), b = state_of(m, pipe + 1, number);
  assert_memory_equal(a.temp, b.temp, SHADER_TEMPS * sizeof *a.temp);
}

// In every cycle the second copy is where the first one is, whatever they wait for.
static void test_lockstep(void **state) {
  (void)state;
  Hook twice = {.name = "twice", .kind = HOOK_PROTECTION, .lockstep = true, .point = issue_twice, .next_cycle = UINT64_MAX};
  const char *settings[][2] = {
      {"fragment.cache_pipelines", "2"}, {"fragment.texture_queue", "256"}, {"fragment.crossbar_queue", "512"}, {"fragment.queue", "64"}};
  for (uint32_t form = 0; form < 3 * COUNT_OF(programs); form++) {
    Bench bench = {0};
    TrapKind trap;
    assert_true(hook_chain_add(&bench.hooks, &twice));
    settings[1][1] = form % 3 == 1 ? "1" : "256"; // one miss at a time
    settings[2][1] = form % 3 == 2 ? "2" : "512"; // a crossbar that is often full
    settings[3][1] = form % 3 == 2 ? "17" : "64"; // and a queue that may end in the middle of a point
    open_bench(&bench, programs[form / 3], 19, 6, settings, COUNT_OF(settings));
    const Fragment *m = fragment_in(bench.machine);
    uint64_t steps = 0;
    for (uint64_t cycle = 1; !machine_run(bench.machine, cycle); cycle++) {
      for (uint32_t i = 0; i < m->dims.pipes / 2 * m->dims.contexts; i++) {
        assert_same_step(m, i / m->dims.contexts * 2, i % m->dims.contexts);
        steps += status_of(m, i / m->dims.contexts * 2, i % m->dims.contexts) == CONTEXT_READY;
      }
    }
    assert_true(steps >= 19 * 6);
    assert_int_equal(m->stats->reads, 2 * m->stats->shared_reads); // the cache is looked up once for both
    end_bench(&bench, &trap);
    assert_int_equal(trap, TRAP_NONE);
    const float *frame = frame_of(&bench, 19 * 6);
    for (uint32_t i = 0; i < 19 * 6; i++) {
      float pixel[4] = {0};
      if (!interpret(&bench, i % 19, i / 19, pixel)) memset(pixel, 0, sizeof pixel);
      assert_memory_equal(pixel, &frame[i * 4], sizeof pixel);
    }
    close_bench(&bench);
  }
}

// ---- State -----------------------------------------------------------------------------------------------------------

static void test_state(void **state) {
  (void)state;
  Diags diags = {0};
  Bench bench = {0};
  TrapKind trap;
  open_bench(&bench, programs[2], 16, 16, NULL, 0);
  assert_true(region_table_check(machine_regions(bench.machine), &diags));
  assert_false(machine_run(bench.machine, 150));
  Memory *memory = memory_clone(bench.memory, &diags);
  Machine *clone = machine_clone(bench.machine, memory, NULL);
  assert_int_equal(machine_hash(clone), machine_hash(bench.machine));
  machine_move(bench.machine);
  assert_int_equal(machine_hash(clone), machine_hash(bench.machine));
  assert_true(machine_run(clone, UINT64_MAX));
  assert_int_not_equal(machine_hash(clone), machine_hash(bench.machine));
  uint64_t ended = machine_now(clone);
  machine_copy(clone, bench.machine); // back to the middle
  Text text = {0};
  assert_false(machine_diff(clone, bench.machine, &text));
  text_free(&text);
  machine_free(clone);
  memory_free(memory);
  end_bench(&bench, &trap);
  assert_int_equal(machine_now(bench.machine), ended);
  close_bench(&bench);
}

// Cells of every structure are struck in the middle: whatever comes of it, the machine ends, and writes nothing outside its memory.
static void test_flips(void **state) {
  (void)state;
  const char *settings[][2] = {{"fragment.cycle_limit", "20000"}, {"fragment.cache_pipelines", "2"}};
  Hook twice = {.name = "twice", .kind = HOOK_PROTECTION, .lockstep = true, .point = issue_twice, .next_cycle = UINT64_MAX};
  for (uint64_t draw = 0; draw < 500; draw++) {
    Bench bench = {0};
    TrapKind trap;
    bool is_paired = draw % 5 == 0;
    if (is_paired) assert_true(hook_chain_add(&bench.hooks, &twice));
    open_bench(&bench, programs[draw % COUNT_OF(programs)], 16, 8, settings, is_paired ? 2 : 1);
    machine_run(bench.machine, 20 + random_below(random_draw(1, draw, 0), 300));
    const RegionTable *regions = machine_regions(bench.machine);
    for (uint32_t i = 0; i < 8; i++) {
      uint16_t region = (uint16_t)((draw + i) % regions->count);
      const Region *item = &regions->items[region];
      if (!region_is_on_chip(item)) continue;
      uint64_t bits = region_bits(item);
      if (strcmp(item->name, "store") == 0) bits = min_u64(bits, 128 * bench.launch.program->code_count); // where the program is
      Site site = region_site(regions, region, random_below(random_draw(2, draw, i), bits));
      machine_block(bench.machine)[site_byte(item, &site)] ^= site_mask(&site);
    }
    end_bench(&bench, &trap);
    close_bench(&bench);
  }
}

// The words of a cache's line lie behind one another: those of 64 bytes, and no others.
static void test_lines(void **state) {
  (void)state;
  Bench bench = {0};
  TrapKind trap;
  open_bench(&bench, programs[1], 4, 4, NULL, 0);
  static const char *const names[] = {"tcache", "rcache"};
  for (uint32_t i = 0; i < COUNT_OF(names); i++) {
    const RegionTable *regions = machine_regions(bench.machine);
    const Region *region = &regions->items[region_find(regions, names[i])];
    assert_int_equal(region->units * region->unit_bytes, FRAG_LINE);
  }
  end_bench(&bench, &trap);
  close_bench(&bench);
}

static void test_refused(void **state) {
  (void)state;
  Bench bench = {0};
  TrapKind trap;
  Diags diags = {0};
  open_bench(&bench, programs[1], 4, 4, NULL, 0);
  bench.params.texture[1] = (FragmentTexture){0};
  assert_false(machine_admits(bench.machine, &bench.launch, &diags));
  assert_non_null(strstr(diags.items[0].text, "texture 1 is read here and was not given"));
  diags_free(&diags);
  bench.launch.grid[0] = 5000;
  diags = (Diags){0};
  assert_false(machine_admits(bench.machine, &bench.launch, &diags));
  diags_free(&diags);
  bench.launch.grid[0] = 4;
  end_bench(&bench, &trap);
  close_bench(&bench);
}

static void test_morton(void **state) {
  (void)state;
  assert_int_equal(fragment_morton(0, 0, 16, 16), 0);
  assert_int_equal(fragment_morton(1, 0, 16, 16), 1);
  assert_int_equal(fragment_morton(0, 1, 16, 16), 2);
  assert_int_equal(fragment_morton(3, 3, 16, 16), 15);
  assert_int_equal(fragment_morton(15, 15, 16, 16), 255);
  assert_int_equal(fragment_morton(7, 1, 8, 2), 15); // the longer edge's bits come last
  assert_int_equal(fragment_texture_bytes(5, 3), 16 * 8 * 4);
  bool seen[64] = {false};
  for (uint32_t i = 0; i < 64; i++) seen[fragment_morton(i % 16, i / 16, 16, 4)] = true;
  for (uint32_t i = 0; i < 64; i++) assert_true(seen[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_results), cmocka_unit_test(test_times),           cmocka_unit_test(test_state),
      cmocka_unit_test(test_flips),   cmocka_unit_test(test_refused),         cmocka_unit_test(test_morton),
      cmocka_unit_test(test_lines),   cmocka_unit_test(test_random_programs), cmocka_unit_test(test_lockstep),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
