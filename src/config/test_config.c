// Unit tests of src/config: values, ranges, hints, machine files.
#include "config/config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct SetCase {
  const char *key, *value;
  const char *error; // NULL: accepted
} SetCase;

static const SetCase set_cases[] = {
    {"memory.bytes", "1048576", NULL},
    {"memory.bytes", "1M", NULL},
    {"memory.bytes", "2G", NULL},
    {"memory.bytes", "0x100000", NULL},
    {"memory.bytes", "262143", "memory.bytes = 262143: must be 262144 to 274877906944 bytes"},
    {"memory.bytes", "1T", "memory.bytes = 1T: must be 262144 to 274877906944 bytes"},
    {"memory.bytes", "99999999T", "memory.bytes = 99999999T: must be a whole number from 262144 to 274877906944 bytes"},
    {"memory.bytes", "-1", "memory.bytes = -1: must be a whole number from 262144 to 274877906944 bytes"},
    {"memory.bytes", "", "memory.bytes = : must be a whole number from 262144 to 274877906944 bytes"},
    {"memory.bytes", "12x", "memory.bytes = 12x: must be a whole number from 262144 to 274877906944 bytes"},
    {"memory.bytes", "99999999999999999999",
     "memory.bytes = 99999999999999999999: must be a whole number from 262144 to 274877906944 bytes"},
    {"limit.instructions", "18446744073709551615", NULL},
    {"machine.model", "functional", NULL},
    {"machine.model", "func", "machine.model = func: must be one of functional|simt|flexgrip|fragment"},
    {"memory.byte", "1", "unknown parameter 'memory.byte'; did you mean 'memory.bytes'?"},
    {"zzzzzzzzzzzzzz", "1", "unknown parameter 'zzzzzzzzzzzzzz'; 'redoubt list params' shows all"},
};

static void values_are_checked(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(set_cases); i++) {
    const SetCase *test = &set_cases[i];
    Spec spec;
    Diags diags = {0};
    spec_default(&spec);
    bool ok = spec_set(&spec, test->key, test->value, NULL, 0, &diags);
    assert_int_equal(ok, test->error == NULL);
    if (test->error != NULL) assert_string_equal(diags.items[0].text, test->error);
    diags_free(&diags);
  }
}

static void values_arrive(void **state) {
  (void)state;
  Spec spec;
  Diags diags = {0};
  spec_default(&spec);
  for (uint32_t i = 0; i < param_count; i++) assert_int_equal(spec_get(&spec, i), param_info[i].initial);
  assert_true(spec_set(&spec, "sm.count", "7", NULL, 0, &diags));
  assert_int_equal(spec.sm_count, 7);
  assert_int_equal(spec.sm_threads, 1024);
}

static void builtin_machines_load(void **state) {
  (void)state;
  Arena *arena = arena_new();
  assert_true(builtin_machine_count > 0);
  for (uint32_t i = 0; i < builtin_machine_count; i++) {
    Spec spec;
    Diags diags = {0};
    assert_true(spec_load(&spec, arena, builtin_machines[i].name, &diags));
    assert_string_equal(spec.machine, builtin_machines[i].name);
  }
  Spec spec;
  Diags diags = {0};
  assert_false(spec_load(&spec, arena, "functionl", &diags));
  assert_string_equal(diags.items[0].text, "no machine 'functionl'; did you mean 'functional'?");
  diags_free(&diags);
  arena_free(arena);
}

static void files_report_every_wrong_line(void **state) {
  (void)state;
  char path[] = "test_config_XXXXXX.ini";
  int descriptor = mkstemps(path, 4);
  assert_true(descriptor >= 0);
  static const char text[] = "# a machine\n[sm]\ncount = 4 # four\nblocks = 0\n[block]\nthread = 5\nnonsense\n[sm]\ncount = 4\n";
  assert_int_equal(write(descriptor, text, sizeof text - 1), sizeof text - 1);
  close(descriptor);
  Arena *arena = arena_new();
  Spec spec;
  Diags diags = {0};
  assert_false(spec_load(&spec, arena, path, &diags));
  unlink(path);
  assert_int_equal(spec.sm_count, 4);
  assert_int_equal(diags.count, 4);
  assert_int_equal(diags.items[0].line, 4);
  assert_string_equal(diags.items[0].text, "sm.blocks = 0: must be 1 to 64 blocks");
  assert_int_equal(diags.items[1].line, 6);
  assert_string_equal(diags.items[1].text, "unknown parameter 'block.thread'; did you mean 'block.threads'?");
  assert_int_equal(diags.items[2].line, 9);
  assert_string_equal(diags.items[2].text, "sm.count is set already, in line 3");
  assert_int_equal(diags.items[3].line, 7); // what is no line at all is told last
  static const int columns[] = {10, 1, 1, 0};
  for (int i = 0; i < 4; i++) assert_int_equal(diags.items[i].column, columns[i]);
  diags_free(&diags);
  arena_free(arena);
}

// ---- Every parameter, with every kind of number that none can be ----------------------------------------

static const char *const no_numbers[] = {"nan",
                                         "-nan",
                                         "inf",
                                         "-inf",
                                         "-1",
                                         "-0",
                                         "+5",
                                         "1e3",
                                         "1.5",
                                         ".5",
                                         "0x",
                                         "0xg",
                                         "0x10000000000000000",
                                         "18446744073709551616",
                                         "1KK",
                                         "1 2",
                                         "1P",
                                         "K",
                                         "",
                                         "--1",
                                         "1,",
                                         "nought",
                                         "1/2",
                                         "%1",
                                         "$1",
                                         "0b1",
                                         "999999999999999999999",
                                         "16777216T",
                                         "1e400",
                                         "0x1p3",
                                         "١",
                                         "yes",
                                         "NULL"};

// A file that sets every parameter to what `put` says, one in a line after an empty one; false: `put` leaves it out.
static bool load_all(bool (*put)(const ParamInfo *info, const char *given, Text *out), const char *given, Spec *spec, Diags *diags) {
  Arena *arena = arena_new();
  Text text = {0};
  for (uint32_t i = 0; i < param_count; i++) {
    const char *dot = strchr(param_info[i].key, '.');
    text_add(&text, "[%.*s]\n  %s =  ", (int)(dot - param_info[i].key), param_info[i].key, dot + 1);
    if (!put(&param_info[i], given, &text)) text_add(&text, "left-out");
    text_add(&text, " # %u\n", i);
  }
  char path[] = "test_config_XXXXXX.ini";
  int descriptor = mkstemps(path, 4);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text.at, text.length), text.length);
  close(descriptor);
  bool good = spec_load(spec, arena, path, diags);
  spec->machine = NULL; // it lies in the arena
  unlink(path);
  text_free(&text);
  arena_free(arena);
  return good;
}

static bool write_given(const ParamInfo *info, const char *given, Text *out) {
  (void)info;
  text_add(out, "%s", given);
  return true;
}

static bool write_above(const ParamInfo *info, const char *given, Text *out) {
  (void)given;
  if (info->choices == NULL && info->most < UINT64_MAX) text_add(out, "%" PRIu64, info->most + 1);
  return info->choices == NULL && info->most < UINT64_MAX;
}

static bool write_below(const ParamInfo *info, const char *given, Text *out) {
  (void)given;
  if (info->choices == NULL && info->least > 0) text_add(out, "%" PRIu64, info->least - 1);
  return info->choices == NULL && info->least > 0;
}

static bool write_most(const ParamInfo *info, const char *given, Text *out) {
  if (info->choices != NULL) text_add(out, "%.*s", (int)strcspn(info->choices, "|"), info->choices);
  else text_add(out, given, info->most);
  return true;
}

// Each line is refused where its value stands, with what it may be.
static void assert_all_refused(bool (*put)(const ParamInfo *info, const char *given, Text *out), const char *given) {
  Spec spec, before;
  Diags diags = {0};
  spec_default(&before);
  assert_false(load_all(put, given, &spec, &diags));
  for (uint32_t i = 0; i < min_u32(diags.count, param_count); i++) {
    if (diags.items[i].line != (int)(2 * i + 2)) fail_msg("%s = %s is taken", param_info[i].key, given);
  }
  assert_int_equal(diags.count, param_count);
  for (uint32_t i = 0; i < param_count; i++) {
    const ParamInfo *info = &param_info[i];
    const Diag *diag = &diags.items[i];
    const char *name = strchr(info->key, '.') + 1;
    assert_int_equal(diag->line, 2 * i + 2);
    assert_int_equal(diag->column, given[0] == '\0' ? 4 + strlen(name) + 4 : 3 + strlen(name) + 4);
    assert_memory_equal(diag->text, info->key, strlen(info->key));
    assert_non_null(strstr(diag->text, info->choices != NULL ? ": must be one of " : ": must be "));
    assert_int_equal(spec_get(&spec, i), spec_get(&before, i));
  }
  diags_free(&diags);
}

static void no_parameter_takes_what_is_no_number(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(no_numbers); i++) assert_all_refused(write_given, no_numbers[i]);
  assert_all_refused(write_above, "x");
  assert_all_refused(write_below, "x");
}

static void every_parameter_takes_its_most(void **state) {
  (void)state;
  static const char *const forms[] = {"%" PRIu64, "0x%" PRIx64, "0X%" PRIX64};
  for (size_t f = 0; f < COUNT_OF(forms); f++) {
    Spec spec;
    Diags diags = {0};
    load_all(write_most, forms[f], &spec, &diags); // together they make no machine
    for (uint32_t i = 0; i < diags.count; i++) assert_null(strstr(diags.items[i].text, "whole number"));
    for (uint32_t i = 0; i < param_count; i++) {
      const ParamInfo *info = &param_info[i];
      assert_true(info->least <= info->initial && info->initial <= info->most);
      assert_int_equal(spec_get(&spec, i), info->choices != NULL ? 0 : info->most);
    }
    diags_free(&diags);
  }
}

// A line that is cut would be another number.
static void long_lines_are_refused(void **state) {
  (void)state;
  for (size_t zeros = 180; zeros < 260; zeros++) {
    char text[512], path[] = "test_config_XXXXXX.ini";
    int length = snprintf(text, sizeof text, "[dispatch]\nseed = %0*d # and a comment after it that says why\n", (int)zeros, 7);
    int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, (size_t)length), length);
    close(descriptor);
    Arena *arena = arena_new();
    Spec spec;
    Diags diags = {0};
    bool good = spec_load(&spec, arena, path, &diags);
    unlink(path);
    if (good) assert_int_equal(spec.dispatch_seed, 7);
    else assert_non_null(strstr(diags.items[0].text, "line is longer than"));
    assert_int_equal(good, zeros + strlen("seed =  ") <= 198);
    diags_free(&diags);
    arena_free(arena);
  }
}

typedef struct RelationCase {
  const char *key, *value;
  const char *error; // of the SIMT machine with its defaults; NULL: accepted
} RelationCase;

static const RelationCase relation_cases[] = {
    {"memory.granule", "3", "memory.granule = 3: must be a power of two"},
    {"block.shared", "65537", "block.shared = 65537: more than sm.shared (65536)"},
    {"sm.threads", "2048", NULL},
    {"sm.threads", "2080", "sm.threads = 2080: the simt machine takes at most 2048 (64 warps)"},
    {"sm.threads", "1000", "sm.threads = 1000: must be a multiple of 32, the warp size"},
    {"sm.threads", "32", "sm.schedulers = 2: more than the SM has warps (sm.threads / 32)"},
    {"sm.registers", "1056", NULL},
    {"sm.registers", "1040", "sm.registers = 1040: must be a multiple of 32: rows of 32 lanes"},
    {"sm.sp_lanes", "8", NULL},
    {"sm.sp_lanes", "12", "sm.sp_lanes = 12: must be 4, 8, 16 or 32"},
    {"shared.banks", "24", "shared.banks = 24: must be 16 or 32"},
    {"icache.line", "96", "icache.line = 96: must be 32, 64 or 128"},
    {"front.fetch_bytes", "48", "front.fetch_bytes = 48: must be a power of two, at most icache.line"},
    {"front.fetch_bytes", "16", "front.decode = 2: more than one fetch brings (front.fetch_bytes / front.instruction)"},
    {"front.instruction", "12", "front.instruction = 12: must be 8 or 16"},
    {"front.buffer", "1", "front.decode = 2: more than front.buffer holds"},
    {"l1d.bytes", "0", NULL},
    {"l1d.bytes", "16000", "l1d.bytes = 16000: must be a multiple of 512: l1d.ways (4) lines of 128 bytes"},
    {"icache.bytes", "4100", "icache.bytes = 4100: must be a multiple of 512: icache.ways (4) lines of 128 bytes"},
    {"icache2.bytes", "1", "icache2.bytes = 1: must be a multiple of 1024: icache2.ways (8) lines of 128 bytes"},
    {"constant.ways", "3", "constant.bytes = 8192: must be a multiple of 384: constant.ways (3) lines of 128 bytes"},
    {"texture.ways", "5", "texture.bytes = 12288: must be a multiple of 640: texture.ways (5) lines of 128 bytes"},
    {"l2.bytes", "65537", "l2.bytes = 65537: must be a multiple of 1024: l2.ways (8) lines of 128 bytes"},
    {"l1d.sector", "48", "l1d.sector = 48: must be 32, 64 or 128"},
    {"l2.sector", "100", "l2.sector = 100: must be 32, 64 or 128"},
    {"dram.interleave", "384", "dram.interleave = 384: must be a power of two"},
    {"dram.row", "3000", "dram.row = 3000: must be a power of two"},
    {"dram.burst", "24", "dram.burst = 24: must be a power of two"},
    {"dram.rc", "20", "dram.rc = 20: less than dram.ras, which is part of it"},
};

static void relations_are_checked(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(relation_cases); i++) {
    const RelationCase *test = &relation_cases[i];
    Spec spec;
    Diags diags = {0};
    spec_default(&spec);
    spec.machine_model = MODEL_SIMT;
    assert_true(spec_check(&spec, NULL, &diags));
    assert_true(spec_set(&spec, test->key, test->value, NULL, 0, &diags));
    assert_int_equal(spec_check(&spec, NULL, &diags), test->error == NULL);
    assert_int_equal(diags.count, test->error != NULL);
    if (test->error != NULL) assert_string_equal(diags.items[0].text, test->error);
    diags_free(&diags);
  }
}

// The functional machine has no caches, so their shapes do not matter there.
static void relations_belong_to_a_model(void **state) {
  (void)state;
  Spec spec;
  Diags diags = {0};
  spec_default(&spec);
  spec.l1d_bytes = 16000;
  assert_true(spec_check(&spec, NULL, &diags));
  spec.machine_model = MODEL_SIMT;
  spec.sm_registers = 1040;
  assert_false(spec_check(&spec, NULL, &diags));
  assert_int_equal(diags.count, 2); // every one is reported
  diags_free(&diags);
}

// Where the file sets what is wrong, or what it is too small for.
static void relations_have_a_place(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line, column;
  } cases[] = {
      {"[sm]\nthreads =   1000\n", 2, 13},
      {"[sm]\n\n count=1\n shared =2048\n", 4, 10},
      {"[block]\nshared = 1M\n[sm]\nshared = 64K", 2, 10},
      {"[l1d]\nbytes = 16000\nways = 4\n", 2, 9},
      {"[l1d]\nways = 3\n", 2, 8},
      {"[dram]\nrc\t=\t1\n", 2, 6},
      {"[dram]\nras = 300\n", 2, 7},
      {"[front]\nbuffer = 1\n", 2, 10},
      {"[sm]\nthreads=32\n", 2, 9},
      {"[front]\ndecode = 4\nbuffer = 4\n", 2, 10},
      {"[icache]\nline = 32\n[front]\nfetch_bytes = 64\n", 4, 15},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    char path[] = "test_config_XXXXXX.ini", text[256];
    int length =
        snprintf(text, sizeof text, "%s%s[machine]\nmodel = simt\n", cases[i].text, strrchr(cases[i].text, '\n')[1] == '\0' ? "" : "\n");
    int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, text, (size_t)length), length);
    close(descriptor);
    Arena *arena = arena_new();
    Spec spec;
    Diags diags = {0};
    assert_false(spec_load(&spec, arena, path, &diags));
    unlink(path);
    if (diags.items[0].line != cases[i].line || diags.items[0].column != cases[i].column)
      fail_msg("case %zu: %d:%d: %s", i, diags.items[0].line, diags.items[0].column, diags.items[0].text);
    diags_free(&diags);
    arena_free(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_checked),
      cmocka_unit_test(values_arrive),
      cmocka_unit_test(builtin_machines_load),
      cmocka_unit_test(files_report_every_wrong_line),
      cmocka_unit_test(relations_are_checked),
      cmocka_unit_test(relations_belong_to_a_model),
      cmocka_unit_test(no_parameter_takes_what_is_no_number),
      cmocka_unit_test(every_parameter_takes_its_most),
      cmocka_unit_test(long_lines_are_refused),
      cmocka_unit_test(relations_have_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
