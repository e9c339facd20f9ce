// See golden_store.h. A file is numbers in the host's order, then their hash: it is for this machine and this program alone. It appears when it
// is whole, so that campaigns that run at the same time may share a folder. What is loaded is checked as any golden run is: the run
// with the drawn cells watched must be the same (campaign.c).
#include "campaign/golden_store.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FORMAT = 4, MOST_ITEMS = 1 << 20, MOST_TEXT = 1 << 16, PATH_BYTES = 4096 };

// One description of the file serves both ways.
typedef struct Stream {
  FILE *file;
  bool writes, good;
  uint64_t hash, left; // left: bytes that a file may still have; nothing larger is believed
  Arena *arena;        // of what is read
} Stream;

static void pass(Stream *at, void *bytes, size_t count) {
  if (!at->writes && count > at->left) at->good = false;
  if (!at->good || count == 0) return;
  at->good = (at->writes ? fwrite(bytes, count, 1, at->file) : fread(bytes, count, 1, at->file)) == 1;
  at->left -= at->writes ? 0 : count;
  if (at->good) at->hash = hash_bytes(bytes, count, at->hash);
}

static uint64_t pass_number(Stream *at, uint64_t value) {
  pass(at, &value, sizeof value);
  return at->good ? value : 0;
}

static uint32_t pass_count(Stream *at, uint32_t count, uint32_t most) {
  uint64_t passed = pass_number(at, count);
  if (passed > most) at->good = false;
  return at->good ? (uint32_t)passed : 0;
}

static const char *pass_text(Stream *at, const char *text) {
  uint32_t length = pass_count(at, at->writes ? (uint32_t)strlen(text) : 0, MOST_TEXT);
  char *copy = arena_alloc(at->arena, length + 1);
  if (at->writes) memcpy(copy, text, length);
  pass(at, copy, length);
  return copy;
}

// ---- What a golden run is ------------------------------------------------------------------------------

static void pass_launches(Stream *at, Golden *golden) {
  uint32_t count = pass_count(at, golden->launches.count, MOST_ITEMS);
  if (!at->writes) golden->residents = ARENA_ARRAY(at->arena, Resident, count + 1);
  for (uint32_t i = 0; i < count && at->good; i++) {
    GoldenRow *row = at->writes ? &golden->launches.items[i] : VEC_PUSH(&golden->launches, at->arena);
    row->kernel = pass_text(at, row->kernel);
    row->launch = (uint32_t)pass_number(at, row->launch);
    row->registers = (uint32_t)pass_number(at, row->registers);
    row->needs = (uint32_t)pass_number(at, row->needs);
    row->began_at = pass_number(at, row->began_at);
    row->cycles = pass_number(at, row->cycles);
    row->thread_instructions = pass_number(at, row->thread_instructions);
    row->warp_instructions = pass_number(at, row->warp_instructions);
    pass(at, &golden->residents[i], sizeof golden->residents[i]);
  }
}

static void pass_phases(Stream *at, Golden *golden) {
  uint32_t count = pass_count(at, golden->phases.count, MOST_ITEMS);
  for (uint32_t i = 0; i < count && at->good; i++) {
    GoldenPhase *phase = at->writes ? &golden->phases.items[i] : VEC_PUSH(&golden->phases, at->arena);
    phase->name = pass_text(at, phase->name);
    phase->launch = (uint32_t)pass_number(at, phase->launch);
    phase->sm = (int64_t)pass_number(at, (uint64_t)phase->sm);
    phase->at = pass_number(at, phase->at);
  }
}

static void pass_outputs(Stream *at, TargetOutputs *outputs) {
  outputs->count = pass_count(at, outputs->count, TARGET_MAX_OUTPUTS);
  for (uint32_t i = 0; i < outputs->count && at->good; i++) {
    TargetOutput *output = &outputs->items[i];
    output->name = pass_text(at, output->name);
    output->type = (ElementType)pass_number(at, output->type);
    output->count = pass_number(at, output->count);
    output->width = pass_number(at, output->width);
    output->address = pass_number(at, output->address);
    uint64_t bytes = pass_number(at, output->count * element_bytes(output->type));
    if (!at->writes && bytes > at->left) at->good = false;
    if (!at->writes && at->good) output->bytes = arena_alloc(at->arena, bytes + 1);
    pass(at, output->bytes, at->good ? bytes : 0);
  }
}

// Regions are those of the machine; of device memory, as many rows as the run had allocated.
static void pass_regions(Stream *at, Golden *golden) {
  uint64_t layout = golden->layout_hash;
  if (pass_number(at, layout) != layout) at->good = false;
  for (uint32_t i = 0; i < golden->table.count && at->good; i++) {
    Region *region = &golden->regions[i];
    if ((region->flags & REGION_OUTSIDE) == 0) continue;
    region->rows = pass_number(at, region->rows);
    region->dims[0].count = (uint32_t)region->rows;
  }
}

static void pass_golden(Stream *at, Golden *golden) {
  pass_regions(at, golden);
  golden->checkpoint_count = pass_count(at, golden->checkpoint_count, MOST_CHECKPOINTS);
  pass(at, golden->checkpoints, golden->checkpoint_count * sizeof *golden->checkpoints);
  golden->spacing = pass_number(at, golden->spacing);
  golden->cycles = pass_number(at, golden->cycles);
  golden->program_hash = pass_number(at, golden->program_hash);
  golden->memory_hash = pass_number(at, golden->memory_hash);
  golden->adds_floats = pass_number(at, golden->adds_floats);
  golden->corrected = pass_number(at, golden->corrected);
  pass(at, &golden->seconds, sizeof golden->seconds);
  pass(at, &golden->dynamic_nj, sizeof golden->dynamic_nj);
  pass(at, &golden->leakage_nj, sizeof golden->leakage_nj);
  pass(at, golden->uncovered, sizeof golden->uncovered);
  pass(at, golden->idle, sizeof golden->idle);
  pass_launches(at, golden);
  pass_phases(at, golden);
  pass_outputs(at, &golden->outputs);
}

// A number at the beginning says what the file is, one at the end that it is whole.
static void pass_all(Stream *at, uint64_t key, Golden *golden) {
  if (pass_number(at, key) != key) at->good = false;
  pass_golden(at, golden);
  uint64_t hash = at->hash;
  if (pass_number(at, hash) != hash) at->good = false;
}

// ---- Files -----------------------------------------------------------------------------------------------

static uint64_t add_text(const char *text, uint64_t hash) { return hash_bytes(text, strlen(text) + 1, hash); }

uint64_t golden_key(const GoldenStore *store, Target *target) {
  if (store->folder == NULL || store->binary == NULL || (!target->is_repeatable && target->inputs == NULL)) return 0;
  uint64_t inputs = target->is_repeatable ? 1 : target->inputs(target);
  if (inputs == 0) return 0;
  uint64_t hash = hash_bytes(&inputs, sizeof inputs, add_text(store->binary, FORMAT));
  hash = add_text(store->protection, hash);
  hash = add_text(target->name, hash);
  hash = add_text(target->arguments, hash);
  hash = add_text(target->spec->machine, hash);
  for (uint32_t i = 0; i < param_count; i++) {
    uint64_t value = spec_get(target->spec, i);
    hash = hash_bytes(&value, sizeof value, add_text(param_info[i].key, hash));
  }
  return hash == 0 ? 1 : hash;
}

static bool path_of(const GoldenStore *store, uint64_t key, const char *ending, char path[PATH_BYTES]) {
  int length = snprintf(path, PATH_BYTES, "%s/%016llx%s", store->folder, (unsigned long long)key, ending);
  return length > 0 && length < PATH_BYTES;
}

bool golden_load(const GoldenStore *store, Target *target, const HookChain *protections, Golden *golden) {
  char path[PATH_BYTES];
  struct stat about;
  Arena *arena = golden->arena;
  uint64_t key = golden_key(store, target);
  FILE *file = key != 0 && path_of(store, key, ".golden", path) ? fopen(path, "rbe") : NULL;
  if (file == NULL) return false;
  Diags ignored = {0};
  Machine *like = fstat(fileno(file), &about) == 0 ? machine_new(target->spec, protections, &ignored) : NULL;
  diags_free(&ignored);
  Stream stream = {.file = file, .good = like != NULL, .left = (uint64_t)about.st_size, .arena = arena};
  *golden = (Golden){.arena = arena};
  if (like != NULL) golden_keep_regions(golden, machine_regions(like));
  machine_free(like);
  pass_all(&stream, key, golden);
  fclose(file);
  if (!stream.good) *golden = (Golden){.arena = arena};
  return stream.good;
}

void golden_save(const GoldenStore *store, Target *target, Golden *golden) {
  char path[PATH_BYTES], part[PATH_BYTES], ending[32];
  uint64_t key = golden_key(store, target);
  snprintf(ending, sizeof ending, ".%d", (int)getpid());
  if (key == 0 || !path_of(store, key, ".golden", path) || !path_of(store, key, ending, part)) return;
  mkdir(store->folder, 0777);
  FILE *file = fopen(part, "wbe");
  if (file == NULL) return;
  Stream stream = {.file = file, .writes = true, .good = true, .arena = golden->arena};
  pass_all(&stream, key, golden);
  bool whole = fclose(file) == 0 && stream.good;
  if (!whole || rename(part, path) != 0) unlink(part);
}
