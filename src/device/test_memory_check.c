// --check memory: each kind of finding with tiny kernels, what moves and clears marks, and no finding where there is nothing.
#include "device/device.h"
#include "device/workload.h"

#include <setjmp.h>
#include <cmocka.h>

// Lines are counted from 1; the kernels' accesses stand on lines of their own.
static const char kernels[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".extern .func (.param .b64 pointer) malloc (.param .b64 bytes);\n"
                              ".visible .entry load(.param .u64 from, .param .u64 to) {\n"
                              ".reg .b32 %r<3>; .reg .b64 %rd<6>;\n"
                              "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4;\n"
                              "ld.param.u64 %rd2, [from]; ld.param.u64 %rd3, [to];\n"
                              "add.u64 %rd4, %rd2, %rd1; add.u64 %rd5, %rd3, %rd1;\n"
                              "ld.global.u32 %r2, [%rd4];\n" // line 10
                              "st.global.u32 [%rd5], %r2;\n" // line 11
                              "ret;\n}\n"
                              // Half of the threads write shared memory, all read it; then a heap block.
                              ".visible .entry spaces(.param .u64 to) {\n"
                              ".reg .pred %p; .reg .b32 %r<6>; .reg .b64 %rd<6>; .shared .align 4 .b8 words[128];\n"
                              "mov.u32 %r1, %tid.x; mov.u32 %r2, words; mad.lo.u32 %r2, %r1, 4, %r2; setp.lt.u32 %p, %r1, 16;\n"
                              "@%p st.shared.u32 [%r2], %r1;\n"
                              "bar.sync 0;\n"
                              "ld.shared.u32 %r3, [%r2];\n" // line 19
                              "{ .param .b64 bytes; .param .b64 pointer; st.param.b64 [bytes], 8;\n"
                              "call (pointer), malloc, (bytes); ld.param.b64 %rd1, [pointer]; }\n"
                              "st.u32 [%rd1], %r1;\n"
                              "ld.v2.u32 {%r4, %r5}, [%rd1];\n" // line 23: half of it is there
                              "ld.param.u64 %rd2, [to]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;\n"
                              "st.global.u32 [%rd2], %r4;\n"
                              "ret;\n}\n"
                              // A local array through a function: arguments and saves are nobody's business.
                              ".func (.param .b32 result) sum(.param .b64 at, .param .b32 n) {\n"
                              ".reg .b32 %r<5>; .reg .b64 %rd1;\n"
                              "ld.param.u64 %rd1, [at];\n"
                              "ld.u32 %r1, [%rd1];\n"   // line 31
                              "ld.u32 %r2, [%rd1+4];\n" // line 32
                              "add.u32 %r3, %r1, %r2; st.param.b32 [result], %r3; ret;\n}\n"
                              ".visible .entry calls(.param .u64 to) {\n"
                              ".reg .b32 %r<4>; .reg .b64 %rd<4>; .local .align 8 .b8 own[8];\n"
                              "mov.u32 %r1, %tid.x; mov.u64 %rd1, own; cvta.local.u64 %rd1, %rd1;\n"
                              "st.local.u32 [own], %r1;\n"
                              "{ .param .b64 at; .param .b32 n; .param .b32 result; st.param.b64 [at], %rd1;\n"
                              "call (result), sum, (at, n); ld.param.b32 %r2, [result]; }\n"
                              "add.u32 %r2, %r2, %r1;\n"
                              "ld.param.u64 %rd2, [to]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;\n"
                              "st.global.u32 [%rd2], %r2;\n"
                              "ret;\n}\n"
                              // A texture over plain memory, then a matrix of which half was stored.
                              ".visible .entry rare(.param .u64 texture, .param .u64 to) {\n"
                              ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<5>; .shared .align 16 .b8 matrix[128];\n"
                              "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [texture];\n"
                              "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];\n" // line 49
                              "mov.u32 %r6, matrix; mad.lo.u32 %r7, %r1, 4, %r6; setp.lt.u32 %p, %r1, 16;\n"
                              "@%p st.shared.u32 [%r7], %r2;\n"
                              "bar.sync 0; and.b32 %r7, %r1, 7; mad.lo.u32 %r7, %r7, 16, %r6;\n"
                              "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r7];\n" // line 53
                              "ld.param.u64 %rd2, [to]; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;\n"
                              "st.global.u32 [%rd2], %r8;\n"
                              "ret;\n}\n";

typedef struct Bed {
  Device *device;
  Module *module;
} Bed;

static Bed open_bed(uint64_t granule) {
  Diags diags = {0};
  Spec spec;
  spec_default(&spec);
  spec.memory_granule = granule;
  DeviceOptions options = {.spec = &spec, .check = CHECK_MEMORY};
  Bed bed = {.device = device_new(&options, &diags)};
  assert_non_null(bed.device);
  PtxSource source = {"kernels.ptx", kernels, strlen(kernels)};
  bed.module = device_load_ptx(bed.device, &source, 1, &diags);
  if (bed.module == NULL) fail_msg("line %d: %s", diags.items[0].line, diags.items[0].text);
  return bed;
}

static void launch(const Bed *bed, const char *kernel, uint32_t blocks, const void *const *arguments, uint32_t count) {
  LaunchRequest request = {.module = bed->module,
                           .kernel = kernel,
                           .grid = {blocks, 1, 1},
                           .block = {32, 1, 1},
                           .arguments = arguments,
                           .argument_count = count};
  if (!device_launch(bed->device, &request)) fail_msg("%s", device_error(bed->device));
}

static void load_from(const Bed *bed, DeviceAddress from, DeviceAddress to) { launch(bed, "load", 1, (const void *[]){&from, &to}, 2); }

static uint32_t count_of(const Bed *bed) { return memory_check_count(device_check(bed->device)); }
static const MemoryFinding *finding_of(const Bed *bed, uint32_t index) { return memory_check_finding(device_check(bed->device), index); }

enum { BYTES = 128 };

static void global_reads_need_writes(void **state) {
  (void)state;
  Bed bed = open_bed(1);
  DeviceAddress from = device_alloc(bed.device, BYTES), to = device_alloc(bed.device, BYTES), third = device_alloc(bed.device, BYTES);
  uint32_t words[BYTES / 4] = {0};
  assert_true(device_write(bed.device, from, words, BYTES));
  load_from(&bed, from, to); // the kernel writes `to`
  load_from(&bed, to, third);
  assert_int_equal(count_of(&bed), 0);
  assert_true(device_release(bed.device, from));
  assert_int_equal(device_alloc(bed.device, BYTES), from); // the same place, but nobody wrote it
  assert_true(device_set(bed.device, from, 0, BYTES - 10));
  load_from(&bed, from, to);
  load_from(&bed, from, to);
  assert_int_equal(count_of(&bed), 1);
  const MemoryFinding *finding = finding_of(&bed, 0);
  assert_true(finding->kind == FINDING_UNWRITTEN && finding->space == SPACE_GLOBAL);
  assert_string_equal(finding->kernel, "load");
  assert_string_equal(finding->file, "kernels.ptx");
  assert_int_equal(finding->line, 10);
  assert_int_equal(finding->accesses, 2 * 3); // words 29 (half of it), 30 and 31
  assert_int_equal(finding->threads, 2 * 3);
  assert_int_equal(finding->address, from + 4 * 29);
  assert_int_equal(finding->thread[0], 29);
  assert_int_equal(finding->launch, 3);
  assert_int_equal(finding->last_launch, 4);
  Text text = {0};
  finding_place(finding, &text);
  assert_non_null(strstr(text.at, ", 116 bytes into a 128-byte allocation"));
  text_free(&text);
  device_free(bed.device);
}

// Bytes that are copied on the device are as good as where they came from.
static void copies_move_marks(void **state) {
  (void)state;
  Bed bed = open_bed(1);
  DeviceAddress from = device_alloc(bed.device, BYTES), copy = device_alloc(bed.device, BYTES), to = device_alloc(bed.device, BYTES);
  assert_true(device_set(bed.device, from, 7, BYTES / 2));
  assert_true(device_set(bed.device, copy, 7, BYTES));
  assert_true(device_copy(bed.device, copy, from, BYTES));
  load_from(&bed, copy, to);
  assert_int_equal(count_of(&bed), 1);
  assert_int_equal(finding_of(&bed, 0)->accesses, 16);
  assert_int_equal(finding_of(&bed, 0)->thread[0], 16);
  device_free(bed.device);
}

// What pages let pass: past the end of one allocation and before the next.
static void overruns_are_found(void **state) {
  (void)state;
  Bed bed = open_bed(1 << 21);
  DeviceAddress from = device_alloc(bed.device, BYTES - 8), to = device_alloc(bed.device, BYTES);
  assert_true(device_set(bed.device, from, 7, BYTES - 8));
  load_from(&bed, from, to - 4);
  assert_int_equal(count_of(&bed), 2);
  const MemoryFinding *write = finding_of(&bed, 1), *read = finding_of(&bed, 0);
  assert_int_equal(read->kind, FINDING_READ_OUTSIDE);
  assert_int_equal(read->line, 10);
  assert_int_equal(read->accesses, 2);
  assert_int_equal(read->thread[0], 30);
  assert_int_equal(write->kind, FINDING_WRITE_OUTSIDE);
  assert_int_equal(write->line, 11);
  assert_int_equal(write->accesses, 1);
  assert_int_equal(write->address, to - 4);
  Text text = {0};
  finding_place(read, &text);
  assert_non_null(strstr(text.at, ", 0 bytes past the end of a 120-byte allocation"));
  finding_place(write, &text);
  assert_non_null(strstr(text.at, ", 4 bytes before a 128-byte allocation"));
  text_free(&text);
  device_free(bed.device);
}

static void every_block_has_its_own_shared_memory(void **state) {
  (void)state;
  Bed bed = open_bed(1);
  DeviceAddress to = device_alloc(bed.device, BYTES);
  launch(&bed, "spaces", 3, (const void *[]){&to}, 1);
  assert_int_equal(count_of(&bed), 2);
  const MemoryFinding *shared = finding_of(&bed, 0), *heap = finding_of(&bed, 1);
  assert_int_equal(shared->space, SPACE_SHARED);
  assert_int_equal(shared->line, 19);
  assert_int_equal(shared->accesses, 3 * 16);
  assert_int_equal(shared->threads, 3 * 16);
  assert_int_equal(shared->address, 64);
  assert_int_equal(shared->near_bytes, 0);
  assert_int_equal(heap->space, SPACE_GLOBAL);
  assert_int_equal(heap->line, 23);
  assert_int_equal(heap->accesses, 3 * 32);
  assert_int_equal(heap->bytes, 8);
  device_free(bed.device);
}

static void local_memory_is_the_programs(void **state) {
  (void)state;
  Bed bed = open_bed(1);
  DeviceAddress to = device_alloc(bed.device, BYTES);
  launch(&bed, "calls", 2, (const void *[]){&to}, 1);
  assert_int_equal(count_of(&bed), 1); // the argument n, which nobody gives, is no finding
  const MemoryFinding *local = finding_of(&bed, 0);
  assert_int_equal(local->space, SPACE_LOCAL);
  assert_int_equal(local->line, 32);
  assert_string_equal(local->kernel, "calls");
  assert_int_equal(local->accesses, 2 * 32);
  device_free(bed.device);
}

static void textures_and_matrices_count(void **state) {
  (void)state;
  Bed bed = open_bed(1);
  DeviceAddress texels = device_alloc(bed.device, BYTES), to = device_alloc(bed.device, BYTES);
  assert_true(device_set(bed.device, texels, 1, BYTES - 4));
  Texture texture = {.shape = TEXTURE_1D, .linear_memory = true, .channel_bits = {32}, .kind = TEXEL_UNSIGNED, .level_count = 1};
  texture.levels[0] = (TextureLevel){.address = texels, .width = BYTES / 4};
  uint64_t handle = device_texture_new(bed.device, &texture);
  launch(&bed, "rare", 1, (const void *[]){&handle, &to}, 2);
  assert_int_equal(count_of(&bed), 2);
  const MemoryFinding *texel = finding_of(&bed, 0), *matrix = finding_of(&bed, 1);
  assert_int_equal(texel->line, 49);
  assert_int_equal(texel->accesses, 1);
  assert_int_equal(texel->thread[0], 31);
  assert_int_equal(matrix->line, 53);
  assert_int_equal(matrix->space, SPACE_SHARED);
  assert_int_equal(matrix->threads, 16); // rows 4 to 7
  device_free(bed.device);
}

static void workloads_are_clean(void **state) {
  (void)state;
  for (uint32_t w = 0; w < workload_count; w++) {
    Diags diags = {0};
    Spec spec;
    spec_default(&spec);
    spec.memory_granule = 1 << 21; // so that overruns would not trap
    spec.limit_registers = 24;     // with spills
    DeviceOptions options = {.spec = &spec, .check = CHECK_MEMORY};
    Device *device = device_new(&options, &diags);
    WorkloadRun run = {0};
    assert_true(workload_start(&run, workloads[w], SIZE_TINY, device, &diags));
    if (!workloads[w]->prepare(&run) || !workloads[w]->launch(&run)) fail_msg("%s: %s", workloads[w]->name, device_error(device));
    assert_true(workload_check(&run, workloads[w]));
    const MemoryCheck *check = device_check(device);
    if (memory_check_count(check) > 0) {
      const MemoryFinding *finding = memory_check_finding(check, 0);
      fail_msg("%s: %s of %s in %s, line %u", workloads[w]->name, finding_name[finding->kind], space_text[finding->space], finding->kernel,
               finding->line);
    }
    workload_finish(&run);
    device_free(device);
  }
}

static void nothing_is_kept_unless_asked(void **state) {
  (void)state;
  Diags diags = {0};
  DeviceOptions options = {0};
  Device *device = device_new(&options, &diags);
  assert_null(device_check(device));
  assert_int_equal(memory_check_count(NULL), 0);
  DeviceAddress at = device_alloc(device, BYTES);
  assert_true(memory_was_written(device_memory(device), at, BYTES));
  device_free(device);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(global_reads_need_writes),     cmocka_unit_test(copies_move_marks),
      cmocka_unit_test(overruns_are_found),           cmocka_unit_test(every_block_has_its_own_shared_memory),
      cmocka_unit_test(local_memory_is_the_programs), cmocka_unit_test(textures_and_matrices_count),
      cmocka_unit_test(workloads_are_clean),          cmocka_unit_test(nothing_is_kept_unless_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
