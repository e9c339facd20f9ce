// State as bytes: the hash covers what decides, differences have names, files come back whole or are refused with a reason.
#include "machine/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

// 0..127 registers, 128..143 queue bookkeeping that no structure names, 144..151 statistics, 192..255 a scheme's.
static const Region items[] = {
    {.name = "rf",
     .title = "register file",
     .unit = "lane",
     .meaning = "",
     .dims = {{"reg", 8}},
     .dim_count = 1,
     .flags = REGION_HASHED | REGION_INJECTABLE,
     .rows = 8,
     .units = 4,
     .bits = 32,
     .row_bytes = 16,
     .unit_bytes = 4},
    {.name = "count",
     .title = "",
     .unit = "",
     .meaning = "",
     .flags = REGION_STAT,
     .rows = 1,
     .units = 1,
     .bits = 64,
     .base = 144,
     .row_bytes = 8,
     .unit_bytes = 8},
    {.name = "ecc.rf",
     .title = "",
     .unit = "lane",
     .meaning = "",
     .dims = {{"reg", 8}},
     .dim_count = 1,
     .flags = REGION_HASHED | REGION_INJECTABLE,
     .rows = 8,
     .units = 4,
     .bits = 7,
     .base = 192,
     .row_bytes = 4,
     .unit_bytes = 1},
};
static const RegionTable table = {items, COUNT_OF(items), 256};
static const ByteRange hashed[] = {{0, 144}, {192, 64}};
static const StateLayout layout = {.regions = &table, .hashed = hashed, .hashed_count = COUNT_OF(hashed)};

static void fill(uint8_t *block, uint64_t seed) {
  for (uint32_t i = 0; i < 256; i++) block[i] = (uint8_t)random_draw(seed, i, 0);
}

static void test_hash_covers_what_decides(void **state) {
  (void)state;
  uint8_t block[256];
  fill(block, 1);
  uint64_t hash = state_hash(&layout, block, NULL);
  for (uint32_t i = 0; i < 256 * 8; i++) {
    bool decides = i / 8 < 144 || i / 8 >= 192;
    block[i / 8] ^= (uint8_t)(1u << i % 8);
    assert_int_equal(state_hash(&layout, block, NULL) != hash, decides);
    block[i / 8] ^= (uint8_t)(1u << i % 8);
  }
}

// Where the block lies in the host's memory, and which of its pages were touched, must not show.
static void test_hash_of_sparse_blocks(void **state) {
  (void)state;
  enum { BYTES = 40 * 4096 };
  static const RegionTable wide = {NULL, 0, BYTES};
  static const ByteRange ranges[] = {{100, 5 * 4096}, {6 * 4096 + 8, BYTES - 6 * 4096 - 8}};
  static const StateLayout sparse = {.regions = &wide, .hashed = ranges, .hashed_count = COUNT_OF(ranges)};
  void *fresh[2];
  for (uint32_t i = 0; i < 2; i++) {
    fresh[i] = mmap(NULL, BYTES + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(fresh[i], MAP_FAILED);
  }
  uint8_t *a = fresh[0], *b = (uint8_t *)fresh[1] + 192;
  memset(b, 0, BYTES); // all of its pages are there
  static const size_t places[] = {100, 4095, 4096, 5 * 4096 + 99, 6 * 4096 + 8, 20 * 4096 + 5, BYTES - 1};
  uint64_t last = state_hash(&sparse, a, NULL);
  for (uint32_t i = 0; i < COUNT_OF(places); i++) {
    a[places[i]] = b[places[i]] = 1;
    uint64_t hash = state_hash(&sparse, a, NULL);
    assert_true(hash != last && hash == state_hash(&sparse, b, NULL));
    last = hash;
  }
  a[20 * 4096 + 5] = 0; // the same byte elsewhere is another state
  a[21 * 4096 + 5] = 1;
  assert_true(state_hash(&sparse, a, NULL) != last);
  a[5 * 4096 + 100] = a[6 * 4096 + 7] = 1; // between the stretches
  a[21 * 4096 + 5] = 0;
  a[20 * 4096 + 5] = 1;
  assert_int_equal(state_hash(&sparse, a, NULL), last);
  for (uint32_t i = 0; i < 2; i++) munmap(fresh[i], BYTES + 4096);
}

// A clock, then pages of bits that all decide, then times and counts.
enum { TIMES_AT = 8 + 256 * 56, TIMES = 40, TIMES_STRIDE = 32 };
enum { FIELD_BYTES = TIMES_AT + TIMES * TIMES_STRIDE, NOW = 5000, SCALE = 64 };
static const RegionTable field_table = {NULL, 0, FIELD_BYTES};
static const ByteRange field_range = {0, FIELD_BYTES};
static const StateLayout field_layout = {
    .regions = &field_table,
    .hashed = &field_range,
    .hashed_count = 1,
    .fields = {{.kind = FIELD_UNTIL, .offset = TIMES_AT, .stride = TIMES_STRIDE, .count = TIMES, .words = 2, .scale = SCALE},
               {.kind = FIELD_STATISTIC, .offset = TIMES_AT + 24, .stride = TIMES_STRIDE, .count = TIMES, .words = 1}},
    .field_count = 2,
    .clock = 0};

static void put(uint8_t *block, size_t at, uint64_t value) { memcpy(block + at, &value, sizeof value); }

// A time that has come is as good as none; statistics decide nothing.
static void test_hash_of_times(void **state) {
  (void)state;
  uint8_t *block = calloc(1, FIELD_BYTES);
  assert_non_null(block);
  put(block, 0, NOW);
  uint64_t empty = state_hash(&field_layout, block, NULL);
  for (uint32_t i = 0; i < TIMES * 4; i++) {
    size_t at = TIMES_AT + (size_t)i * 8;
    put(block, at, NOW * SCALE);
    bool decides = i % 4 == 2; // neither
    assert_int_equal(state_hash(&field_layout, block, NULL) != empty, decides);
    put(block, at, NOW * SCALE + 1);
    uint64_t later = state_hash(&field_layout, block, NULL);
    assert_int_equal(later != empty, i % 4 != 3);
    put(block, at, NOW * SCALE + 2);
    assert_int_equal(state_hash(&field_layout, block, NULL) != later, i % 4 != 3);
    put(block, at, 0);
  }
  free(block);
}

static void assert_differs(const uint8_t *a, const uint8_t *b, uint64_t bits, const char *said) {
  Text text = {0};
  assert_int_equal(state_diff(&layout, a, b, &text), bits);
  assert_string_equal(text.at == NULL ? "" : text.at, said);
  text_free(&text);
}

static void test_differences_have_names(void **state) {
  (void)state;
  uint8_t a[256], b[256];
  fill(a, 2);
  memcpy(b, a, sizeof b);
  assert_differs(a, b, 0, "");
  b[144] ^= 0xFF; // statistics decide nothing
  assert_differs(a, b, 0, "");
  a[5 * 16 + 2 * 4 + 1] = 0x00;
  b[5 * 16 + 2 * 4 + 1] = 0x10;
  assert_differs(a, b, 1, "rf[reg=5,lane=2,bit=12]: 0 and 1; 1 bit of rf differs\n");
  assert_differs(b, a, 1, "rf[reg=5,lane=2,bit=12]: 1 and 0; 1 bit of rf differs\n");
  a[7 * 16] = 0xFF, b[7 * 16] = 0x00;
  a[192] = 0x01, b[192] = 0x00;
  a[193] = 0x80, b[193] = 0x00; // above the seven bits
  a[130] = 0x03, b[130] = 0x00;
  assert_differs(a, b, 13,
                 "rf[reg=5,lane=2,bit=12]: 0 and 1; 9 bits of rf differ\n"
                 "ecc.rf[reg=0,lane=0,bit=0]: 1 and 0; 1 bit of ecc.rf differs\n"
                 "byte 130 of the block: 3 bits that no structure names\n");
}

// ---- Files -----------------------------------------------------------------------------------------
typedef struct Folder {
  char path[64], file[96];
} Folder;

static int open_folder(void **state) {
  Folder *folder = calloc(1, sizeof *folder);
  strcpy(folder->path, P_tmpdir "/redoubt-snapshot-XXXXXX");
  if (mkdtemp(folder->path) == NULL) return -1;
  snprintf(folder->file, sizeof folder->file, "%s/state", folder->path);
  *state = folder;
  return 0;
}

static int close_folder(void **state) {
  Folder *folder = *state;
  unlink(folder->file);
  int result = rmdir(folder->path); // fails when anything else was left there
  free(folder);
  return result;
}

static Memory *make_memory(uint64_t capacity, uint64_t seed) {
  Diags diags = {0};
  Memory *memory = memory_new(&(MemoryOptions){.base = GLOBAL_BASE64, .capacity = capacity, .granule = 1}, &diags);
  for (uint64_t i = 0; i < seed; i++) {
    uint64_t bytes = 1000 * (i + 1), address = memory_alloc(memory, bytes, 256);
    for (uint64_t k = 0; k < bytes; k++) memory_at(memory, address, bytes)[k] = (uint8_t)random_draw(seed, i, k);
  }
  return memory;
}

static void save(const Folder *folder, const Snapshot *snapshot) {
  Diags diags = {0};
  assert_true(snapshot_save(folder->file, snapshot, &diags));
  assert_int_equal(diags.count, 0);
}

static void assert_refused(const char *path, const Snapshot *snapshot, const char *said) {
  Diags diags = {0};
  assert_false(snapshot_load(path, snapshot, &diags));
  assert_int_equal(diags.count, 1);
  if (strstr(diags.items[0].text, said) == NULL) fail_msg("'%s' does not contain '%s'", diags.items[0].text, said);
  diags_free(&diags);
}

// Further bytes of a machine: as many as the block's first byte says.
static bool stream_rest(void *context, MemoryStream stream, void *stream_context) {
  uint8_t **parts = context; // block, bytes
  return stream(stream_context, parts[1], parts[0][0]);
}

static void test_further_bytes(void **state) {
  const Folder *folder = *state;
  uint8_t block[256], other[256] = {0}, bytes[100], loaded_bytes[100] = {0};
  fill(block, 3);
  memset(bytes, 0xAB, sizeof bytes);
  block[0] = 60;
  uint8_t *saved_parts[] = {block, bytes}, *loaded_parts[] = {other, loaded_bytes};
  Snapshot saved = {.layout = &layout, .block = block, .rest = stream_rest, .context = saved_parts};
  Snapshot loaded = {.layout = &layout, .block = other, .rest = stream_rest, .context = loaded_parts};
  Diags diags = {0};
  save(folder, &saved);
  assert_true(snapshot_load(folder->file, &loaded, &diags));
  assert_memory_equal(block, other, sizeof block);
  assert_memory_equal(bytes, loaded_bytes, 60);
  assert_int_equal(loaded_bytes[60], 0);
  loaded.rest = NULL; // the frame then holds more than is asked for
  assert_refused(folder->file, &loaded, "damaged");
}

static void test_save_and_load(void **state) {
  const Folder *folder = *state;
  uint8_t block[256], other[256];
  fill(block, 3);
  fill(other, 4);
  Memory *memory = make_memory(1 << 20, 9), *empty = make_memory(1 << 20, 2);
  Snapshot saved = {.layout = &layout, .block = block, .memory = memory, .spec = 1, .program = 2, .launch = 3},
           loaded = {.layout = &layout, .block = other, .memory = empty, .spec = 1, .program = 2, .launch = 3};
  Diags diags = {0};
  save(folder, &saved);
  assert_true(snapshot_load(folder->file, &loaded, &diags));
  assert_memory_equal(block, other, sizeof block);
  assert_true(memory_hash(memory, 0) == memory_hash(empty, 0));
  fill(block, 5); // over an older one, and without device memory
  saved.memory = loaded.memory = NULL;
  save(folder, &saved);
  assert_true(snapshot_load(folder->file, &loaded, &diags));
  assert_memory_equal(block, other, sizeof block);
  assert_false(snapshot_save("/nowhere/at/all", &saved, &diags));
  assert_non_null(strstr(diags.items[0].text, "cannot be written: No such file"));
  diags_free(&diags);
  memory_free(memory);
  memory_free(empty);
}

static void test_mismatches_are_named(void **state) {
  const Folder *folder = *state;
  uint8_t block[256], before[256];
  fill(block, 3);
  memcpy(before, block, sizeof block);
  Memory *memory = make_memory(1 << 20, 3), *larger = make_memory(2 << 20, 3);
  uint64_t hash = memory_hash(memory, 0);
  const Snapshot good = {.layout = &layout, .block = block, .memory = memory, .spec = 1, .program = 2, .launch = 3};
  save(folder, &good);
  Snapshot wrong = good;
  wrong.spec = 9;
  assert_refused(folder->file, &wrong, "another machine: its parameters differ");
  wrong = good;
  wrong.program = 9;
  assert_refused(folder->file, &wrong, "another program");
  wrong = good;
  wrong.launch = 9;
  assert_refused(folder->file, &wrong, "another launch");
  wrong = good;
  wrong.memory = NULL;
  assert_refused(folder->file, &wrong, "another layout");
  Region changed[COUNT_OF(items)];
  memcpy(changed, items, sizeof items);
  changed[2].bits = 6;
  StateLayout other_layout = layout;
  other_layout.regions = &(RegionTable){changed, COUNT_OF(changed), 256};
  wrong = good;
  wrong.layout = &other_layout;
  assert_refused(folder->file, &wrong, "another layout");
  assert_refused("README.md", &good, "is not a snapshot");
  assert_refused("/nowhere/at/all", &good, "cannot be opened");
  assert_memory_equal(block, before, sizeof block); // nothing was changed
  assert_true(memory_hash(memory, 0) == hash);
  wrong = good;
  wrong.memory = larger;
  assert_refused(folder->file, &wrong, "device memory has another size");
  memory_free(memory);
  memory_free(larger);
}

static void write_file(const char *path, const void *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  fclose(file);
}

// Cut short anywhere, with a byte too many, or with any bit flipped: refused, and no crash.
static void test_damage_is_found(void **state) {
  const Folder *folder = *state;
  uint8_t block[256];
  fill(block, 3);
  Memory *memory = make_memory(1 << 20, 2);
  const Snapshot snapshot = {.layout = &layout, .block = block, .memory = memory, .spec = 1, .program = 2, .launch = 3};
  save(folder, &snapshot);
  Arena *arena = arena_new();
  Diags diags = {0};
  char *bytes;
  size_t count;
  assert_true(file_read(arena, folder->file, &bytes, &count, &diags));
  for (size_t end = 0; end < count; end += end < 100 ? 1 : 37) {
    write_file(folder->file, bytes, end);
    assert_false(snapshot_load(folder->file, &snapshot, &diags));
  }
  write_file(folder->file, bytes, count + 1); // file_read puts a NUL there
  assert_false(snapshot_load(folder->file, &snapshot, &diags));
  for (size_t i = 0; i < 8 * count; i += 61) {
    bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
    write_file(folder->file, bytes, count);
    if (snapshot_load(folder->file, &snapshot, &diags)) fail_msg("bit %zu flipped and not found", i);
    bytes[i / 8] = (char)(bytes[i / 8] ^ 1 << i % 8);
  }
  write_file(folder->file, bytes, count);
  assert_true(snapshot_load(folder->file, &snapshot, &diags));
  diags_free(&diags);
  arena_free(arena);
  memory_free(memory);
}

static void test_identities(void **state) {
  (void)state;
  Spec a, b;
  spec_default(&a);
  spec_default(&b);
  b.machine = "another name";
  assert_true(spec_hash(&a) == spec_hash(&b));
  b.sm_count++;
  assert_true(spec_hash(&a) != spec_hash(&b));
  uint8_t params[8] = {1, 2, 3};
  Function kernel = {.name = "k", .param_bytes = 8};
  Launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = params, .number = 1};
  uint64_t hash = launch_hash(&launch);
  assert_true(launch_hash(&launch) == hash);
  launch.number = 2;
  assert_true(launch_hash(&launch) != hash);
  launch.number = 1;
  params[7] = 1;
  assert_true(launch_hash(&launch) != hash);
}

// It reads the first bytes as the hash does: what it differs in, the hash differs in, and what decides nothing it does not see.
static void test_digest(void **state) {
  (void)state;
  enum { READ = TIMES_AT + 5 * TIMES_STRIDE };
  StateLayout part = field_layout;
  part.digest = READ;
  uint8_t *block = calloc(1, FIELD_BYTES);
  assert_non_null(block);
  put(block, 0, NOW);
  uint64_t empty = state_digest(&part, block), hash = state_hash(&part, block, NULL);
  assert_int_not_equal(empty, 0);
  for (size_t at = 0; at < FIELD_BYTES; at++) {
    block[at] ^= 1;
    if (at < 8) block[at] ^= 1, block[at] ^= 0x80; // the clock, but not back to before any time
    bool differs = state_digest(&part, block) != empty;
    if (differs) assert_true(at < READ && state_hash(&part, block, NULL) != hash);
    bool is_past = at >= TIMES_AT && at % 8 < 3 && (at - TIMES_AT) % TIMES_STRIDE / 8 != 2; // too small a time to be still to come
    bool is_statistic = at >= TIMES_AT && (at - TIMES_AT) % TIMES_STRIDE / 8 == 3;
    if (at < READ && !is_past && !is_statistic) assert_true(differs);
    block[at] ^= at < 8 ? 0x80 : 1;
  }
  assert_int_equal(state_digest(&part, block), empty);
  free(block);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hash_covers_what_decides),
      cmocka_unit_test(test_hash_of_sparse_blocks),
      cmocka_unit_test(test_hash_of_times),
      cmocka_unit_test(test_digest),
      cmocka_unit_test(test_differences_have_names),
      cmocka_unit_test_setup_teardown(test_save_and_load, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_further_bytes, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_mismatches_are_named, open_folder, close_folder),
      cmocka_unit_test_setup_teardown(test_damage_is_found, open_folder, close_folder),
      cmocka_unit_test(test_identities),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
