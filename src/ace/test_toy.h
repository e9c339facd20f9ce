// For tests of ACE analysis: a machine of one warp whose events are made by hand.
#ifndef REDOUBT_ACE_TEST_TOY_H
#define REDOUBT_ACE_TEST_TOY_H

#include "ace/ace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 8, ALL = -1, END = 99 }; // registers; the last cycle: launches have 100
enum { RF, PRED, SHARED, QUEUE, CACHE, SECRET, SP, AGU, BUFFERED, LOGIC, REGIONS };
#define EVERY UINT32_MAX

static const Region regions[REGIONS] = {
    [RF] = {.name = "rf",
            .role = REGION_ROLE_REGISTERS,
            .unit = "lane",
            .dims = {{"sm", 1}, {"reg", ROWS}},
            .dim_count = 2,
            .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
            .rows = ROWS,
            .units = 32,
            .bits = 32,
            .row_bytes = 128,
            .unit_bytes = 4},
    [PRED] = {.name = "pred",
              .role = REGION_ROLE_PREDICATES,
              .unit = "pred",
              .dims = {{"sm", 1}, {"warp", 1}},
              .dim_count = 2,
              .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
              .rows = 1,
              .units = 15,
              .bits = 32,
              .base = 1024,
              .row_bytes = 64,
              .unit_bytes = 4},
    [SHARED] = {.name = "shared",
                .role = REGION_ROLE_SHARED,
                .unit = "word",
                .dims = {{"sm", 1}, {"row", 1}},
                .dim_count = 2,
                .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
                .rows = 1,
                .units = 32,
                .bits = 32,
                .base = 1088,
                .row_bytes = 128,
                .unit_bytes = 4},
    [QUEUE] = {.name = "queue.entry",
               .unit = "entry",
               .dims = {{"place", 2}},
               .dim_count = 1,
               .flags = REGION_INJECTABLE | REGION_HASHED | REGION_PLACES,
               .rows = 2,
               .units = 1,
               .bits = 8,
               .base = 1216,
               .row_bytes = 4,
               .unit_bytes = 4},
    [CACHE] = {.name = "cache",
               .unit = "word",
               .dims = {{"line", 1}},
               .dim_count = 1,
               .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED,
               .rows = 1,
               .units = 4,
               .bits = 32,
               .base = 1280,
               .row_bytes = 16,
               .unit_bytes = 4},
    [SECRET] = {.name = "secret",
                .unit = "entry",
                .dims = {{"gpu", 1}},
                .dim_count = 1,
                .flags = REGION_INJECTABLE | REGION_HASHED,
                .rows = 1,
                .units = 1,
                .bits = 32,
                .base = 1344,
                .row_bytes = 4,
                .unit_bytes = 4},
    [SP] = {.name = "unit.sp",
            .unit = "lane",
            .dims = {{"sm", 1}},
            .dim_count = 1,
            .flags = REGION_INJECTABLE | REGION_OUTPUT,
            .rows = 1,
            .units = 32,
            .bits = 32},
    [AGU] = {.name = "unit.agu",
             .unit = "lane",
             .dims = {{"sm", 1}},
             .dim_count = 1,
             .flags = REGION_INJECTABLE | REGION_OUTPUT,
             .rows = 1,
             .units = 32,
             .bits = 64},
    [BUFFERED] = {.name = "buffer",
                  .role = REGION_ROLE_INSTRUCTIONS,
                  .unit = "word",
                  .dims = {{"entry", 1}},
                  .dim_count = 1,
                  .flags = REGION_INJECTABLE | REGION_HASHED | REGION_TRACED | REGION_LOOKED_AT | REGION_TAKEN_OUT,
                  .rows = 1,
                  .units = 4,
                  .bits = 32,
                  .base = 1408,
                  .row_bytes = 16,
                  .unit_bytes = 4},
    [LOGIC] = {.name = "logic",
               .unit = "entry",
               .dims = {{"gpu", 1}},
               .dim_count = 1,
               .flags = REGION_INJECTABLE | REGION_HASHED | REGION_DECIDED,
               .rows = 1,
               .units = 1,
               .bits = 4,
               .base = 1472,
               .row_bytes = 4,
               .unit_bytes = 4},
};
static const RegionTable table = {regions, REGIONS, 2048};

// ---- The program ---------------------------------------------------------------------------------------
enum {
  MOVE,
  MASK,
  ADD,
  COPY,
  STORE,
  COMPARE,
  SELECT,
  STORE_SHARED,
  LOAD_SHARED,
  BRANCH,
  LOAD,
  STORE_BYTE,
  STORE_LOCAL,
  ATOMIC,
  TEXTURE,
  INSTRUCTIONS
};

typedef struct Toy {
  Arena *arena;
  Ace *ace;
  HookChain chain;
  HookMachine machine;
  Program program;
  Instr code[INSTRUCTIONS];
  uint32_t lines[INSTRUCTIONS];
  uint64_t issues;
} Toy;

static inline Instr make(const char *text) {
  for (uint32_t op = 0; op < OP_COUNT; op++) {
    if (strcmp(op_info[op].text, text) == 0) return instr_rest((Op)op);
  }
  fail_msg("no instruction %s", text);
  return instr_rest((Op)0);
}

static inline void write_program(Toy *toy) {
  Instr *code = toy->code;
  code[MOVE] = make("mov.b32"); // r0 = 5
  code[MOVE].select = SELECT_IMM_A, code[MOVE].imm = 5, code[MOVE].d[0] = 0;
  code[MASK] = make("and.b32"); // r1 = r0 & 0xFF
  code[MASK].d[0] = 1, code[MASK].a = 0, code[MASK].select = SELECT_IMM_B, code[MASK].imm = 0xFF;
  code[ADD] = make("add.b32"); // r2 = r1 + r0
  code[ADD].d[0] = 2, code[ADD].a = 1, code[ADD].b = 0;
  code[COPY] = make("mov.b32"); // r3 = r2
  code[COPY].d[0] = 3, code[COPY].a = 2;
  code[STORE] = make("st.global.b32"); // [r4] = r2
  code[STORE].a = 4, code[STORE].d[0] = 2;
  code[COMPARE] = make("setp.lt.s32"); // p0 = r0 < 0
  code[COMPARE].a = 0, code[COMPARE].select = SELECT_IMM_B, code[COMPARE].pd[0] = 0;
  code[SELECT] = make("selp.b32"); // r3 = p0 ? r0 : r1
  code[SELECT].d[0] = 3, code[SELECT].a = 0, code[SELECT].b = 1, code[SELECT].ps = 0;
  code[STORE_SHARED] = make("st.shared.b32"); // shared[r4] = r2
  code[STORE_SHARED].a = 4, code[STORE_SHARED].d[0] = 2;
  code[LOAD_SHARED] = make("ld.shared.b32"); // r3 = shared[r4]
  code[LOAD_SHARED].a = 4, code[LOAD_SHARED].d[0] = 3;
  code[BRANCH] = make("bra"); // @p0
  code[BRANCH].guard = 0;
  code[LOAD] = make("ld.global.b32"); // r3 = [r4]
  code[LOAD].a = 4, code[LOAD].d[0] = 3;
  code[STORE_BYTE] = make("st.global.b8"); // [r4] = r5
  code[STORE_BYTE].a = 4, code[STORE_BYTE].d[0] = 5;
  code[STORE_LOCAL] = make("st.local.b32"); // local[r4] = r2
  code[STORE_LOCAL].a = 4, code[STORE_LOCAL].d[0] = 2;
  code[ATOMIC] = make("atom.global.add.u32"); // r3 = [r4], [r4] += r5
  code[ATOMIC].a = 4, code[ATOMIC].b = 5, code[ATOMIC].d[0] = 3;
  code[TEXTURE] = make("mov.b32");
  for (uint32_t i = 0; i < INSTRUCTIONS; i++) toy->lines[i] = 100 + i;
  toy->program = (Program){.decoded = code, .lines = toy->lines, .code_count = INSTRUCTIONS};
}

// Of "logic": bits 0 and 1, later bit 3, too.
enum { TOLD_FIRST = 0x3, TOLD_LATER = 0xB };
static inline bool is_told(const HookMachine *machine, const Site *site) {
  return ((machine->cycle < 39 ? TOLD_FIRST : TOLD_LATER) >> site->bit & 1) != 0;
}

static inline void open_with(Toy *toy, const AceOptions *options, AceProbe *probes, uint32_t count) {
  *toy = (Toy){.arena = arena_new(), .ace = ace_new(options)};
  write_program(toy);
  Diags diags = {0};
  HookShape shape = {.sms = 1, .warps = 1, .block_slots = 1};
  ace_ask(toy->ace, probes, count);
  hook_chain_add(&toy->chain, ace_hook(toy->ace));
  HookLayout *layout = hook_layout_begin(toy->arena, &table, &shape);
  assert_true(hook_layout_attach(layout, &toy->chain, &diags));
  toy->machine = (HookMachine){.regions = &table, .program = &toy->program, .warp_rows = ROWS, .is_told = is_told};
  Who who = WHO_NOBODY;
  hooks_launch(&toy->chain, &toy->machine, &(LaunchEvent){.who = &who, .kernel = "kernel"});
}

static inline void open_toy(Toy *toy) { open_with(toy, &(AceOptions){.window = 64}, NULL, 0); }

static inline void finish(Toy *toy) {
  toy->machine.cycle = END;
  hooks_finish(&toy->chain, &toy->machine);
  ace_end(toy->ace, true);
}

static inline void close_toy(Toy *toy) {
  ace_free(toy->ace);
  arena_free(toy->arena);
}

// ---- Events -------------------------------------------------------------------------------------------
static inline Who who_is(uint32_t pc, uint64_t issue) {
  Who who = WHO_NOBODY;
  who.sm = who.warp = who.block_slot = 0;
  who.pc = pc;
  who.issue = issue;
  return who;
}

static inline void cells(Toy *toy, uint64_t cycle, bool is_write, const Who *who, uint16_t region, uint64_t row, uint32_t units) {
  CellEvent event = {.who = who, .region = region, .units = units, .row = row};
  toy->machine.cycle = cycle;
  if (is_write) hooks_write(&toy->chain, &toy->machine, &event);
  else hooks_read(&toy->chain, &toy->machine, &event);
}

static inline void read_row(Toy *toy, uint64_t cycle, const Who *who, uint64_t row, uint32_t lanes) {
  cells(toy, cycle, false, who, RF, row, lanes);
}
static inline void write_row(Toy *toy, uint64_t cycle, const Who *who, uint64_t row, uint32_t lanes) {
  cells(toy, cycle, true, who, RF, row, lanes);
}

static inline Who issue(Toy *toy, uint64_t cycle, uint32_t pc, uint32_t mask) {
  Who who = who_is(pc, toy->issues++);
  toy->machine.cycle = cycle;
  hooks_issue(&toy->chain, &toy->machine,
              &(IssueEvent){.who = &who, .instr = &toy->code[pc], .unit = op_info[toy->code[pc].op].unit, .mask = mask});
  return who;
}

static inline void commit(Toy *toy, uint64_t cycle, const Who *who, uint32_t mask) {
  toy->machine.cycle = cycle;
  hooks_commit(&toy->chain, &toy->machine, &(CommitEvent){.who = who, .mask = mask, .instr = &toy->code[who->pc]});
}

// An instruction as a whole: reads in one cycle, writes in the next.
static inline void step(Toy *toy, uint64_t cycle, uint32_t pc, uint32_t mask, int a, int b, int d) {
  Who who = issue(toy, cycle, pc, mask);
  if (a >= 0) read_row(toy, cycle, &who, (uint64_t)a, mask);
  if (b >= 0) read_row(toy, cycle, &who, (uint64_t)b, mask);
  if (d >= 0) write_row(toy, cycle + 1, &who, (uint64_t)d, mask);
  commit(toy, cycle + 1, &who, mask);
}

static inline void result(Toy *toy, uint64_t cycle, const Who *who, uint32_t mask, uint32_t compared) {
  static const uint8_t owners[32];
  uint8_t threads[32];
  uint32_t rows[32] = {0};
  for (uint8_t i = 0; i < 32; i++) threads[i] = i;
  ResultEvent event = {.who = who,
                       .instr = &toy->code[who->pc],
                       .region = SP,
                       .row = 0,
                       .cycles = 1,
                       .mask = mask,
                       .owner_of = owners,
                       .thread = threads,
                       .owners = 1,
                       .copies = 1,
                       .is_last = true,
                       .compared = compared,
                       .rows = rows,
                       .row_count = 1};
  toy->machine.cycle = cycle;
  hooks_result(&toy->chain, &toy->machine, &event);
}

// ---- Sums ----------------------------------------------------------------------------------------------
static inline uint32_t structure(const Toy *toy, const char *name) {
  for (uint32_t i = 0; i < ace_structure_count(toy->ace); i++) {
    if (strcmp(ace_structure(toy->ace, i)->name, name) == 0) return i;
  }
  fail_msg("no structure %s", name);
  return 0;
}

static inline void expect(const Toy *toy, const char *name, AceCause cause, uint64_t bit_cycles) {
  uint32_t which = structure(toy, name);
  AceSums sums = ace_sums(toy->ace, which);
  uint64_t parts = ace_structure(toy->ace, which)->is_output ? ACE_PARTS : 1, all = 0;
  if (sums.bits[cause] != bit_cycles * parts)
    fail_msg("%s: %llu bit-cycles %s, not %llu", name, (unsigned long long)(sums.bits[cause] / parts), ace_causes[cause].name,
             (unsigned long long)bit_cycles);
  for (uint32_t k = 0; k < ACE_CAUSES; k++) all += sums.bits[k];
  assert_int_equal(all, parts * ace_structure(toy->ace, which)->bit_count * (END + 1)); // whatever there is, it adds up
}

enum { LANE = 32, ROW = 32 * 32 }; // bits

#endif
