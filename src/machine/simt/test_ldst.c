// The memory pipeline of one SM against memory that answers late and out of order: random loads, stores and atomics in all
// spaces must give what the same instructions give one after the other (parts/access.c, parts/atomic.c), with caches, queues
// and miss registers so small that everything is always full. With bits flipped at random nothing may get lost or out of bounds.
#include "machine/parts/atomic.h"
#include "machine/simt/test_bed.h"

#include <stdlib.h>

enum { PER_BATCH = 12 }; // instructions between two looks at everything

static MemoryView reference_view(Bed *bed, uint32_t warp) {
  MemoryView view = {.bulk = bulk_functions(),
                     .memory = bed->memory,
                     .global = memory_bytes(bed->memory),
                     .global_base = memory_base(bed->memory),
                     .shared = bed->shared,
                     .shared_bytes = SHARED_BYTES,
                     .local = bed->local + (size_t)warp * LOCAL_BYTES * WARP_LANES,
                     .local_bytes = LOCAL_BYTES,
                     .local_touched = &bed->touched};
  view.banks[BANK_CONST] = bed->bank;
  view.bank_bytes[BANK_CONST] = BANK_BYTES;
  return view;
}

static void carry_out(Bed *bed, uint32_t warp, const Instr *instr, uint32_t mask) {
  const OpInfo *info = &op_info[instr->op];
  MemoryView view = reference_view(bed, warp);
  bool is_atomic = info->kind == KIND_ATOMIC;
  Access access = {.space = info->space,
                   .element_bytes = (uint8_t)((type_info[is_atomic ? info->a : info->d].bits + 7u) / 8u),
                   .elements = is_atomic ? 1 : (uint8_t)mods_vector_count(instr->mods),
                   .sign_extend = info->d == TYPE_s8 || info->d == TYPE_s16,
                   .wide = operand_sources(instr).count[OPERAND_A] == 2,
                   .offset = instr->imm,
                   .active = mask,
                   .address = bed->registers[warp][instr->a]};
  for (unsigned k = 0; k < 4; k++) access.data[k] = bed->registers[warp][instr->d[k] % PIPE_REGISTERS];
  Window window = {0, 0};
  AccessViolation violation;
  bool changed = false;
  AtomicRows rows = {.function = bed->pipe.m.functions[instr->op],
                     .d = bed->registers[warp][instr->d[0]],
                     .b = bed->registers[warp][instr->b % PIPE_REGISTERS],
                     .c = bed->registers[warp][instr->c % PIPE_REGISTERS],
                     .mods = instr->mods,
                     .imm = instr->imm};
  if (is_atomic) assert_true(atomic_execute(&view, &access, &rows, &window, &changed, &violation));
  else if (info->kind == KIND_STORE) assert_true(access_store(&view, &access, &window, &violation));
  else assert_true(access_load(&view, &access, &window, &violation));
}

// ---- Random programs -------------------------------------------------------------------------------------

static const Op loads[] = {OP_LD_GLOBAL_U8,  OP_LD_GLOBAL_S16, OP_LD_GLOBAL_B32, OP_LD_GLOBAL_B64, OP_LD_SHARED_S8, OP_LD_SHARED_B32,
                           OP_LD_SHARED_B64, OP_LD_LOCAL_U8,   OP_LD_LOCAL_S16,  OP_LD_LOCAL_B32,  OP_LD_LOCAL_B64, OP_LD_CONST_B32,
                           OP_LD_CONST_U8,   OP_LD_U16,        OP_LD_B32,        OP_LD_B64};
static const Op stores[] = {OP_ST_GLOBAL_B8,  OP_ST_GLOBAL_B16, OP_ST_GLOBAL_B32, OP_ST_GLOBAL_B64, OP_ST_SHARED_B8,
                            OP_ST_SHARED_B32, OP_ST_SHARED_B64, OP_ST_LOCAL_B8,   OP_ST_LOCAL_B16,  OP_ST_LOCAL_B32,
                            OP_ST_LOCAL_B64,  OP_ST_B16,        OP_ST_B32,        OP_ST_B64};
static const Op atomics[] = {OP_ATOM_GLOBAL_ADD_U32, OP_ATOM_GLOBAL_ADD_U64,  OP_ATOM_GLOBAL_CAS_B32, OP_ATOM_GLOBAL_CAS_B16,
                             OP_ATOM_GLOBAL_INC_U32, OP_ATOM_SHARED_ADD_U32,  OP_ATOM_SHARED_CAS_B64, OP_ATOM_SHARED_EXCH_B32,
                             OP_ATOM_ADD_U32,        OP_ATOM_GLOBAL_EXCH_B64, OP_ATOM_SHARED_CAS_B16};

// An address in the space, aligned to its bytes.
static uint64_t random_address(Bed *bed, Space space, uint32_t bytes, bool may_const, bool may_local) {
  Space actual = space;
  uint64_t window = 0;
  if (space == SPACE_GENERIC) {
    actual = (Space[]){SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST}[draw(bed, 4)];
    if ((actual == SPACE_CONST && !may_const) || (actual == SPACE_LOCAL && !may_local)) actual = SPACE_GLOBAL;
    window = actual == SPACE_SHARED ? SHARED_WINDOW : actual == SPACE_LOCAL ? LOCAL_WINDOW : actual == SPACE_CONST ? CONST_WINDOW : 0;
  }
  uint32_t size = actual == SPACE_SHARED ? SHARED_BYTES : actual == SPACE_LOCAL ? LOCAL_BYTES : actual == SPACE_CONST ? BANK_BYTES : 0;
  if (size == 0) size = GLOBAL_BYTES, window = bed->buffer;
  return window + draw(bed, size / bytes) * bytes;
}

static void set_addresses(Bed *bed, uint32_t warp, const Instr *instr, uint32_t bytes) {
  const OpInfo *info = &op_info[instr->op];
  bool is_wide = operand_sources(instr).count[OPERAND_A] == 2;
  uint32_t style = draw(bed, 3);
  uint64_t base = random_address(bed, info->space, bytes, info->kind == KIND_LOAD, info->kind != KIND_ATOMIC);
  for (unsigned lane = 0; lane < WARP_LANES; lane++) {
    uint64_t address = style == 0 ? base : random_address(bed, info->space, bytes, info->kind == KIND_LOAD, info->kind != KIND_ATOMIC);
    if (style == 2 && info->space == SPACE_GLOBAL) address = bed->buffer + lane * bytes % GLOBAL_BYTES;
    address -= instr->imm;
    bed->registers[warp][instr->a][lane] = (uint32_t)address;
    if (is_wide) bed->registers[warp][instr->a + 1][lane] = (uint32_t)(address >> 32);
  }
}

// Registers 0..1 hold addresses, 2..9 data and operands, 16 and up results: each result register is written once in a batch.
static void random_instruction(Bed *bed, uint32_t pc, uint32_t warp, uint32_t result) {
  uint32_t kind = draw(bed, 10);
  Op op = kind < 5   ? loads[draw(bed, COUNT_OF(loads))]
          : kind < 8 ? stores[draw(bed, COUNT_OF(stores))]
                     : atomics[draw(bed, COUNT_OF(atomics))];
  const OpInfo *info = &op_info[op];
  Instr instr = instr_rest(op);
  uint32_t registers = type_info[info->d].registers, vector = info->kind == KIND_ATOMIC ? 0 : draw(bed, 3);
  uint32_t first = info->kind == KIND_STORE ? 2 : result;
  instr.mods = (uint16_t)(vector << MOD_VECTOR_SHIFT);
  if (draw(bed, 4) == 0) instr.mods |= MOD_VOLATILE;
  if (draw(bed, 12) == 0) instr.mods |= MOD_ORDERED;
  for (unsigned k = 0; k < 1u << vector; k++) instr.d[k] = (uint8_t)(first + k * registers);
  instr.a = 0;
  if (info->b != TYPE_none) instr.b = 2;
  if (info->c != TYPE_none) instr.c = 4;
  instr.imm = draw(bed, 2) * 16;
  bed->pipe.code[pc] = instr_encode(&instr);
  assert_true(instr_decode(bed->pipe.code[pc], &bed->pipe.decoded[pc]));
  uint32_t bytes = (type_info[info->kind == KIND_ATOMIC ? info->a : info->d].bits + 7u) / 8u << vector;
  set_addresses(bed, warp, &instr, bytes);
  for (unsigned k = 2; k < 10; k++) {
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
      bed->registers[warp][k][lane] = draw(bed, 4) == 0 ? draw(bed, 4) : draw(bed, 1u << 31);
  }
}

static void compare(Bed *bed) {
  Simt *m = &bed->pipe.m;
  unsigned long long seed = bed->seed;
  caches_flush(m);
  if (memcmp(memory_at(bed->memory, bed->buffer, GLOBAL_BYTES), memory_at(bed->pipe.memory, bed->buffer, GLOBAL_BYTES), GLOBAL_BYTES) != 0)
    fail_msg("global memory differs: seed %llu", seed);
  if (memcmp(bed->shared, m->at.shared, SHARED_BYTES) != 0) fail_msg("shared memory differs: seed %llu", seed);
  if (memcmp(bed->local, m->backing.local, m->backing.local_bytes) != 0) fail_msg("local memory differs: seed %llu", seed);
  for (uint32_t warp = 0; warp < 8; warp++) {
    for (uint32_t number = 16; number < PIPE_REGISTERS; number++) {
      if (memcmp(bed->registers[warp][number], pipe_register(&bed->pipe, warp, number), 128) != 0)
        fail_msg("register %u of warp %u differs: seed %llu", number, warp, seed);
    }
    assert_int_equal(simt_warp(m, 0, warp)->loads, 0);
    assert_int_equal(simt_warp(m, 0, warp)->stores, 0);
  }
}

static void flip(Bed *bed);

static void random_batch(Bed *bed, bool flushes) {
  uint32_t next[8];
  for (uint32_t i = 0; i < 8; i++) next[i] = 16;
  bed->busy = draw(bed, 8);
  for (uint32_t i = 0; i < PER_BATCH; i++) {
    uint32_t warp = draw(bed, 3) == 0 ? draw(bed, 8) : bed->busy, mask = draw(bed, 3) == 0 ? UINT32_MAX : draw(bed, UINT32_MAX);
    if (next[warp] + 8 > PIPE_REGISTERS) continue;
    bed->pipe.program.code_count = PER_BATCH;
    random_instruction(bed, i, warp, next[warp]);
    next[warp] += 8;
    take(bed, warp, i, mask);
    carry_out(bed, warp, &bed->pipe.decoded[i], mask);
    for (uint32_t steps = draw(bed, 6); steps > 0; steps--) {
      if (bed->flips) flip(bed);
      bed_step(bed);
    }
  }
  bed_drain(bed);
  if (flushes) compare(bed);
}

static void random_programs(uint32_t coalescer, uint64_t l1d_bytes, uint64_t sector, uint32_t globals) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    Bed bed;
    bed_open(&bed, seed);
    Spec *spec = &bed.pipe.spec;
    spec->ldst_coalescer = coalescer;
    spec->ldst_out = 1 + seed % 4;
    spec->ldst_pending = 2 + seed % 7;
    spec->l1d_bytes = l1d_bytes;
    spec->l1d_ways = 1 + seed % 3;
    spec->l1d_sector = sector;
    spec->l1d_mshrs = 1 + seed % 3;
    spec->l1d_merge = 1 + seed % 4;
    spec->l1d_globals = globals;
    spec->constant_bytes = 256;
    spec->shared_banks = seed % 2 == 0 ? 16 : 32;
    bed_build(&bed);
    for (uint32_t batch = 0; batch < 60; batch++) random_batch(&bed, batch % 4 == 3);
    bed_close(&bed);
  }
}

static void test_random_gt200(void **state) {
  (void)state;
  random_programs(0, 0, 128, 1);
}
static void test_random_gt200_cached(void **state) {
  (void)state;
  random_programs(0, 512, 32, 1);
}
static void test_random_fermi(void **state) {
  (void)state;
  random_programs(1, 512, 128, 1);
}
static void test_random_turing(void **state) {
  (void)state;
  random_programs(2, 768, 32, 1);
}
static void test_random_local_only(void **state) {
  (void)state;
  random_programs(1, 384, 128, 0);
}

// ---- What hooks are told -----------------------------------------------------------------------------------

enum { SHADOW_ROWS = 1024 };

// What every word held when it was last told of.
typedef struct Shadow {
  bool is_known[3][SHADOW_ROWS][LINE_WORDS];
  uint32_t word[3][SHADOW_ROWS][LINE_WORDS];
  uint64_t reads, writes;
} Shadow;

static int shadow_of(uint16_t region) {
  return region == REGION_L1D ? 0 : region == REGION_CONSTANT ? 1 : region == REGION_SHARED ? 2 : -1;
}

static Verdict shadow_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine;
  Shadow *shadow = hook->own;
  int which = shadow_of(event->region);
  if (which < 0) return VERDICT_PASS;
  assert_true(event->row < SHADOW_ROWS);
  for (uint32_t left = event->units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left), word;
    memcpy(&word, event->data + 4 * unit, 4);
    shadow->reads++;
    if (shadow->is_known[which][event->row][unit]) assert_int_equal(word, shadow->word[which][event->row][unit]);
    else assert_int_equal(which, 2); // shared memory starts as zeros; cache words are written before they are read
  }
  return VERDICT_PASS;
}

static Verdict shadow_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  (void)machine;
  Shadow *shadow = hook->own;
  int which = shadow_of(event->region);
  if (which < 0) return VERDICT_PASS;
  for (uint32_t left = event->units; left != 0; left &= left - 1) {
    uint32_t unit = (uint32_t)__builtin_ctz(left);
    memcpy(&shadow->word[which][event->row][unit], event->data + 4 * unit, 4);
    shadow->is_known[which][event->row][unit] = true;
    shadow->writes++;
  }
  return VERDICT_PASS;
}

// Every word that is read holds what was told when it was written: nothing is written or read in secret.
static void test_telling(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Bed bed;
    Shadow *shadow = calloc(1, sizeof *shadow);
    assert_non_null(shadow);
    Hook hook = {.name = "shadow", .kind = HOOK_OBSERVER, .own = shadow, .read = shadow_read, .write = shadow_write};
    bed_open(&bed, seed);
    bed.pipe.spec.ldst_coalescer = (uint32_t)(seed % 3);
    bed.pipe.spec.l1d_bytes = 512;
    bed.pipe.spec.l1d_sector = seed % 2 == 0 ? 32 : 128;
    bed.pipe.spec.constant_bytes = 256;
    bed_build(&bed);
    pipe_hook(&bed.pipe, &hook);
    for (uint32_t batch = 0; batch < 40; batch++) random_batch(&bed, batch % 8 == 7);
    assert_true(shadow->reads > 1000 && shadow->writes > 1000);
    bed_close(&bed);
    free(shadow);
  }
}

// ---- What the head waits for -----------------------------------------------------------------------------------

static void open_narrow(Bed *bed, uint64_t seed) {
  bed_open(bed, seed);
  Spec *spec = &bed->pipe.spec;
  spec->ldst_coalescer = (uint32_t)(seed % 3);
  spec->ldst_out = 1 + seed % 2;
  spec->l1d_bytes = 512;
  spec->l1d_sector = 32;
  spec->l1d_mshrs = 1 + seed % 3;
  spec->l1d_globals = seed % 4 != 3;
  spec->constant_bytes = 256;
  bed_build(bed);
}

// A head that knows that it must wait does not try again: the state is the same as when it tries in each cycle.
static void test_waiting_heads(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Bed knows, forgets;
    open_narrow(&knows, seed);
    open_narrow(&forgets, seed);
    forgets.forgets = true;
    size_t bytes = (size_t)((uint8_t *)knows.pipe.m.at.stats - knows.pipe.m.block);
    for (uint32_t batch = 0; batch < 20; batch++) {
      random_batch(&knows, batch % 4 == 3);
      random_batch(&forgets, batch % 4 == 3);
      assert_memory_equal(knows.pipe.m.block, forgets.pipe.m.block, bytes);
      assert_memory_equal(knows.pipe.m.at.stats, forgets.pipe.m.at.stats, sizeof(Stats));
    }
    bed_close(&knows);
    bed_close(&forgets);
  }
}

// ---- Flips -----------------------------------------------------------------------------------------------

static const SimtRegion flipped[] = {REGION_LDST_ADDRESS, REGION_LDST_DATA, REGION_L1D,          REGION_L1D_TAG,
                                     REGION_MSHR,         REGION_CONSTANT,  REGION_CONSTANT_TAG, REGION_SHARED};

static void flip(Bed *bed) {
  const Region *region = &bed->pipe.regions[flipped[draw(bed, COUNT_OF(flipped))]];
  if (region->rows == 0) return;
  uint64_t row = random_below(random_draw(bed->seed, 1, bed->draws++), region->rows);
  uint32_t unit = draw(bed, region->units), bit = draw(bed, region->bits);
  bed->pipe.m.block[region->base + row * region->row_bytes + unit * region->unit_bytes + bit / 8] ^= (uint8_t)(1u << bit % 8);
}

// Results are wrong then, but every instruction ends and every access stays inside.
static void test_flips(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    Bed bed;
    bed_open(&bed, seed);
    bed.pipe.spec.ldst_coalescer = (uint32_t)(seed % 3);
    bed.pipe.spec.l1d_bytes = seed % 4 * 512;
    bed.pipe.spec.l1d_sector = 32;
    bed.pipe.spec.l1d_mshrs = 4;
    bed_build(&bed);
    for (uint32_t batch = 0; batch < 20; batch++) {
      bed.flips = true;
      random_batch(&bed, false);
    }
    bed_close(&bed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_gt200),  cmocka_unit_test(test_random_gt200_cached), cmocka_unit_test(test_random_fermi),
      cmocka_unit_test(test_random_turing), cmocka_unit_test(test_random_local_only),   cmocka_unit_test(test_telling),
      cmocka_unit_test(test_flips),         cmocka_unit_test(test_waiting_heads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
