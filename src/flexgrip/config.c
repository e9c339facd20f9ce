// Configurations of the thesis: which machine, which kernel, which inputs.
// Inputs are random, of a fixed seed, placed as workloads/g80/README.md says.
#include "flexgrip/study_internal.h"

#include <stdlib.h>

const char *const study_app_name[APP_COUNT] = {"vecadd", "scalarprod", "gray", "nn"};

const StudyConfig study_configs[STUDY_CAMPAIGNS] = {
#define CAMPAIGN(app, sms, gx, gy, bx, by, per_core, sps, start, end) \
  {APP_##app, sms, {gx, gy}, {bx, by}, per_core, sps, start, end, 0, false},
#include "flexgrip/thesis.def"
#undef CAMPAIGN
};

enum { INPUT_SEED = 1, WIDTH = 64, ELEMENTS = 512, CHANNELS = 3 };
enum { VECADD_B = 0x8000, VECADD_C = 0x10000, SCALAR_A = 0x1000, SCALAR_B = 0x11000, GRAY_OUT = 0x10000, NN_OUT = 0x8000 };

static uint64_t draw(uint64_t index, uint64_t array) { return random_draw(INPUT_SEED, index, array); }
static uint32_t unit(uint64_t index, uint64_t array, float scale) { return bits_of_f32(random_unit_f32(draw(index, array)) * scale); }

static uint32_t threads_of(const StudyConfig *config) { return study_blocks(config) * config->block[0] * config->block[1]; }

static void set_inputs(const StudyConfig *config, uint32_t *words) {
  uint32_t threads = threads_of(config);
  switch (config->app) {
  case APP_VECADD:
    for (uint32_t i = 0; i < threads; i++) {
      words[i] = unit(i, 0, 1);
      words[VECADD_B / 4 + i] = unit(i, 1, 1);
    }
    break;
  case APP_SCALARPROD:
    for (uint32_t i = 0; i < study_blocks(config) * ELEMENTS; i++) {
      words[SCALAR_A / 4 + i] = unit(i, 0, 1);
      words[SCALAR_B / 4 + i] = unit(i, 1, 1);
    }
    break;
  case APP_GRAY:
    for (uint32_t i = 0; i < CHANNELS * WIDTH * WIDTH; i++) words[i] = (uint32_t)random_below(draw(i, 0), 256);
    break;
  default:
    for (uint32_t i = 0; i < threads; i++) {
      words[2 * i] = unit(i, 0, 60);
      words[2 * i + 1] = unit(i, 1, 180);
    }
  }
}

static void set_params(const StudyConfig *config, uint32_t *params) {
  const uint32_t values[APP_COUNT][5] = {{0, VECADD_B, VECADD_C, threads_of(config)},
                                         {0, SCALAR_A, SCALAR_B, study_blocks(config), ELEMENTS},
                                         {0, GRAY_OUT, WIDTH, WIDTH},
                                         {0, NN_OUT, threads_of(config), bits_of_f32(30), bits_of_f32(90)}};
  memcpy(params, values[config->app], sizeof values[0]);
}

Machine *study_machine(const StudyConfig *config, uint64_t cycle_limit, Diags *diags) {
  static const char *const texts[APP_COUNT] = {g80_vecadd_sass, g80_scalarprod_sass, g80_gray_sass, g80_nn_sass};
  const char *name = study_app_name[config->app], *text = texts[config->app];
  Arena *arena = arena_new();
  Spec spec;
  Machine *machine = NULL;
  SassProgram *program = NULL;
  if (spec_load(&spec, arena, "flexgrip-thesis", diags)) program = sass_assemble(name, text, strlen(text), diags);
  if (program != NULL) {
    spec.g80_sms = config->sms;
    spec.g80_sps = config->sps == 32 ? 2 : config->sps == 16 ? 1 : 0;
    spec.g80_thesis_register_addressing = config->thesis_registers;
    G80Launch launch;
    g80_launch_default(&launch, &spec, program);
    memcpy(launch.grid, config->grid, sizeof launch.grid);
    memcpy(launch.block, config->block, sizeof config->block);
    launch.block[2] = 1;
    launch.blocks_per_core = config->blocks_per_core;
    if (config->gprs != 0) launch.gprs = config->gprs;
    launch.cycle_limit = cycle_limit;
    set_params(config, launch.params);
    uint32_t *words = ARENA_ARRAY(arena, uint32_t, G80_GLOBAL_BYTES / 4);
    set_inputs(config, words);
    launch.global = (const uint8_t *)words;
    launch.global_bytes = G80_GLOBAL_BYTES;
    machine = g80_launch(&spec, NULL, program, &launch, diags);
  }
  sass_program_free(program);
  arena_free(arena);
  return machine;
}

bool study_vecadd_right(const StudyConfig *config, const Machine *machine) {
  G80Result result;
  g80_result(machine, &result);
  for (uint32_t i = 0; i < threads_of(config); i++) {
    uint32_t word;
    memcpy(&word, result.global + VECADD_C + 4 * i, 4);
    if (word != bits_of_f32(f32_of(unit(i, 0, 1)) + f32_of(unit(i, 1, 1)))) return false;
  }
  return result.outcome == G80_DONE;
}
