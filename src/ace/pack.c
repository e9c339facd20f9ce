// What was found as bytes, and back: CUDA programs run as processes of their own. Both ends are one build, so that numbers go as they lie in memory.
#include "ace/ace_internal.h"

#include <stdlib.h>

enum { PACK_MARK = 0x32454341 }; // "ACE2"

// ---- There -----------------------------------------------------------------------------------------------

static void put(Text *out, const void *bytes, size_t count) { text_add_bytes(out, bytes, count); }
static void put_number(Text *out, uint64_t number) { put(out, &number, sizeof number); }
static void put_name(Text *out, const char *name) {
  put_number(out, strlen(name));
  put(out, name, strlen(name));
}

void ace_pack(const Ace *ace, Text *out) {
  const Tally *tally = ace_tally(ace);
  put_number(out, PACK_MARK);
  put_number(out, ace_window(ace));
  put_number(out, ace_all_reads_count(ace));
  put_number(out, tally->count);
  put_number(out, tally->kernel_count);
  put_number(out, tally->line_count);
  put_number(out, tally->launch_count);
  put_number(out, tally->probe_count);
  put_number(out, tally->cycles);
  put_number(out, tally->slice);
  for (uint32_t i = 0; i < tally->count; i++) {
    put_name(out, tally->structures[i].name);
    put(out, &tally->structures[i], sizeof tally->structures[i]);
  }
  for (uint32_t i = 0; i < tally->kernel_count; i++) {
    put_name(out, tally->kernels[i].name);
    put_number(out, tally->kernels[i].launches);
    put_number(out, tally->kernels[i].cycles);
    put(out, tally->kernels[i].sums, tally->count * sizeof(AceSums));
  }
  for (uint32_t i = 0; i < tally->launch_count; i++) {
    put_number(out, tally->launches[i].kernel);
    put_number(out, tally->launches[i].cycles);
    put(out, tally->launches[i].bits, tally->count * sizeof(uint64_t));
    put(out, tally->launches[i].undecided, tally->count * sizeof(uint64_t));
  }
  for (uint32_t i = 0; i < tally->line_count; i++) {
    put_number(out, tally->lines[i].kernel);
    put_number(out, tally->lines[i].line);
    put(out, tally->lines[i].bits, tally->count * sizeof(uint64_t));
  }
  put(out, tally->slices, tally->count * sizeof *tally->slices);
  put(out, tally->probes, tally->probe_count * sizeof *tally->probes);
}

// ---- And back --------------------------------------------------------------------------------------------

typedef struct Unpacking {
  const char *at, *end;
  bool good;
} Unpacking;

static void get(Unpacking *from, void *bytes, size_t count) {
  from->good = from->good && (size_t)(from->end - from->at) >= count;
  if (!from->good || count == 0) return;
  memcpy(bytes, from->at, count);
  from->at += count;
}

static uint64_t get_number(Unpacking *from) {
  uint64_t number = 0;
  get(from, &number, sizeof number);
  return number;
}

static uint32_t get_count(Unpacking *from) { // of things that follow: each has a byte at least
  uint64_t count = get_number(from);
  from->good = from->good && count <= (uint64_t)(from->end - from->at);
  return from->good ? (uint32_t)count : 0;
}

static void *get_array(Unpacking *from, size_t count, size_t size) {
  if (!from->good || (size_t)(from->end - from->at) / size < count) {
    from->good = false;
    count = 0;
  }
  void *array = calloc(count > 0 ? count : 1, size);
  ASSERT(array != NULL);
  get(from, array, count * size);
  return array;
}

static char *get_name(Unpacking *from) {
  uint32_t length = get_count(from);
  char *name = calloc((size_t)length + 1, 1);
  ASSERT(name != NULL);
  get(from, name, length);
  return name;
}

static void get_launches(Unpacking *from, Tally *tally, uint32_t launches) {
  tally->launches = calloc((size_t)launches + 1, sizeof *tally->launches);
  ASSERT(tally->launches != NULL);
  for (uint32_t i = 0; i < launches && from->good; i++) {
    AceLaunch *launch = &tally->launches[tally->launch_count++];
    launch->kernel = (uint32_t)get_number(from);
    launch->cycles = get_number(from);
    launch->bits = get_array(from, tally->count, sizeof(uint64_t));
    launch->undecided = get_array(from, tally->count, sizeof(uint64_t));
    from->good = from->good && launch->kernel < tally->kernel_count;
  }
}

static void get_tables(Unpacking *from, Tally *tally, uint32_t kernels, uint32_t lines, uint32_t launches) {
  for (uint32_t i = 0; i < tally->count && from->good; i++) {
    tally->names[i] = get_name(from);
    get(from, &tally->structures[i], sizeof tally->structures[i]);
    tally->structures[i].name = tally->names[i];
  }
  for (uint32_t i = 0; i < kernels && from->good; i++) {
    AceKernel *kernel = &tally->kernels[tally->kernel_count++];
    kernel->name = get_name(from);
    kernel->launches = (uint32_t)get_number(from);
    kernel->cycles = get_number(from);
    kernel->sums = get_array(from, tally->count, sizeof(AceSums));
  }
  get_launches(from, tally, launches);
  for (uint32_t i = 0; i < lines && from->good; i++) {
    AceLine *line = &tally->lines[tally->line_count++];
    line->kernel = (uint32_t)get_number(from);
    line->line = (uint32_t)get_number(from);
    line->bits = get_array(from, tally->count, sizeof(uint64_t));
    from->good = from->good && line->kernel < tally->kernel_count;
  }
}

Ace *ace_unpack(const char *bytes, size_t count, AceProbe *probes, uint32_t probe_count) {
  Unpacking from = {bytes, bytes + count, true};
  from.good = get_number(&from) == PACK_MARK;
  uint32_t window = (uint32_t)get_number(&from);
  bool all_reads_count = get_number(&from) != 0;
  Ace *ace = ace_empty(window, all_reads_count);
  Tally *tally = ace_tally(ace);
  tally->count = get_count(&from);
  uint32_t kernels = get_count(&from), lines = get_count(&from), launches = get_count(&from), probed = get_count(&from);
  tally->cycles = get_number(&from);
  tally->slice = max_u64(get_number(&from), 1);
  tally->names = calloc((size_t)tally->count + 1, sizeof *tally->names);
  tally->structures = calloc((size_t)tally->count + 1, sizeof *tally->structures);
  tally->kernels = calloc((size_t)kernels + 1, sizeof *tally->kernels);
  tally->lines = calloc((size_t)lines + 1, sizeof *tally->lines);
  ASSERT(tally->names != NULL && tally->structures != NULL && tally->kernels != NULL && tally->lines != NULL);
  get_tables(&from, tally, kernels, lines, launches);
  tally->slices = get_array(&from, tally->count, sizeof *tally->slices);
  from.good = from.good && probed == probe_count;
  if (from.good) get(&from, probes, probe_count * sizeof *probes);
  if (from.good) return ace;
  ace_free(ace);
  return NULL;
}
