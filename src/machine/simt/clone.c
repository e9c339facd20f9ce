// The state of the SIMT machine as others copy and compare it: block, local memory, device memory.
#include "machine/machine.h"
#include "machine/mirror.h"
#include "machine/pages.h"
#include "machine/simt/facts.h"

#include <stdlib.h>
#include <sys/mman.h>

uint64_t simt_machine_now(const Machine *machine) { return simt_now(simt_in(machine)); }
const RegionTable *simt_machine_regions(const Machine *machine) { return &simt_in(machine)->regions; }
uint8_t *simt_machine_block(Machine *machine) { return simt_of(machine)->block; }

// Bytes of each warp's local memory that may not be zero.
static uint64_t local_used(const Simt *m) {
  return m->backing.local == NULL ? 0 : min_u64(m->at.core->local_touched, m->backing.local_warp_bytes);
}

static void local_new(Simt *m) {
  m->backing.local = NULL;
  if (m->backing.local_bytes == 0) return;
  void *local = mmap(NULL, m->backing.local_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT(local != MAP_FAILED);
  m->backing.local = local;
}

// `used`: of either.
static void local_copy(Simt *to, const Simt *from, uint64_t used) {
  for (uint64_t at = 0; used > 0 && at + used <= from->backing.local_bytes; at += from->backing.local_warp_bytes) {
    memcpy(to->backing.local + at, from->backing.local + at, used);
  }
}

// Constants lie in device memory: those of the clone in its own.
static const uint8_t *same_place(const uint8_t *bytes, Memory *from, Memory *to) {
  const uint8_t *start = memory_bytes(from);
  bool is_there = bytes != NULL && bytes >= start && (uint64_t)(bytes - start) < memory_extent(from);
  return is_there ? memory_bytes(to) + (bytes - start) : bytes;
}

// A clone's printf.
static void note_print(void *context, const char *bytes, size_t count) {
  (void)bytes, (void)count;
  ((Machine *)context)->would_print = true;
}

Machine *simt_machine_clone(const Machine *machine, Memory *memory, const HookChain *given) {
  const Simt *from = simt_in(machine);
  Arena *arena = arena_new();
  SimtMachine *clone = ARENA_NEW(arena, SimtMachine);
  clone->base = (Machine){.kind = machine->kind};
  Simt *m = &clone->simt;
  *m = *from;
  m->arena = arena;
  m->mirror = NULL;
  m->whos = m->sm_whos = NULL; // machine_bind makes its own
  m->levels_told = NULL;
  m->facts = NULL;
  m->facts_count = 0;
  facts_prepare(m);
  m->block = state_block_new(m->block_bytes);
  m->regions.items = memcpy(ARENA_ARRAY(arena, Region, from->regions.count), from->regions.items, from->regions.count * sizeof(Region));
  ByteRange *hashed = ARENA_ARRAY(arena, ByteRange, from->state_layout.hashed_count);
  memcpy(hashed, from->state_layout.hashed, from->state_layout.hashed_count * sizeof *hashed);
  m->state_layout.hashed = hashed;
  m->state_layout.regions = &m->regions;
  m->hook_machine.regions = &m->regions;
  m->hook_machine.memory = memory_bytes(memory);
  m->cloned_environment = *from->environment;
  m->cloned_environment.memory = memory;
  m->cloned_environment.const_bank = same_place(from->environment->const_bank, from->backing.memory, memory);
  m->cloned_environment.print = note_print;
  m->cloned_environment.print_context = &clone->base;
  m->environment = &m->cloned_environment;
  m->backing.memory = memory;
  m->backing.banks[BANK_CONST] = m->cloned_environment.const_bank;
  local_new(m);
  ASSERT(hook_chain_clone(&from->hooks, given, &m->hooks));
  simt_meet_hooks(m);
  pages_copy(m->block, from->block, m->block_bytes);
  machine_bind(m);
  local_copy(m, from, local_used(from));
  return &clone->base;
}

void simt_machine_copy(Machine *clone, const Machine *machine) {
  Simt *to = simt_of(clone);
  memset(to->cluster_places, 0, sizeof to->cluster_places); // the same cycle may have other blocks now
  const Simt *from = simt_in(machine);
  uint64_t used = max_u64(local_used(to), local_used(from));
  size_t bytes = (size_t)align_up(from->block_bytes, MIRROR_PAGE); // as state_block_new makes them
  if (!mirror_is_of(to->mirror, to->block, from->block, bytes)) {
    mirror_free(to->mirror);
    to->mirror = mirror_new(to->block, from->block, bytes);
  }
  if (!mirror_copy(to->mirror)) {
    pages_copy(to->block, from->block, from->block_bytes);
    mirror_start(to->mirror);
  }
  local_copy(to, from, used);
  to->trap = from->trap;
  to->is_still = from->is_still;
  simt_name_warps(to); // they are of other blocks now
  ASSERT(memory_copy(to->backing.memory, from->backing.memory));
}

const Trap *simt_machine_trap(const Machine *machine) { return &simt_in(machine)->trap; }

// ---- Files -----------------------------------------------------------------------------------------
// Local memory; before it is filled, what the machine itself had there goes.
typedef struct LocalStream {
  Simt *m;
  uint64_t clear; // bytes of each warp's
} LocalStream;

static bool stream_local(void *context, MemoryStream stream, void *stream_context) {
  const LocalStream *local = context;
  const Backing *backing = &local->m->backing;
  uint64_t used = local_used(local->m), step = backing->local_warp_bytes;
  bool good = true;
  for (uint64_t at = 0; backing->local != NULL && step > 0 && at + step <= backing->local_bytes && good; at += step) {
    memset(backing->local + at, 0, local->clear);
    good = used == 0 || stream(stream_context, backing->local + at, used);
  }
  return good;
}

static Snapshot snapshot_of(Simt *m, LocalStream *local) {
  return (Snapshot){.layout = &m->state_layout,
                    .block = m->block,
                    .memory = m->backing.memory,
                    .spec = spec_hash(m->spec),
                    .program = m->program->hash,
                    .launch = launch_hash(m->launch),
                    .rest = stream_local,
                    .context = local};
}

bool simt_machine_save(Machine *machine, const char *path, Diags *diags) {
  LocalStream local = {simt_of(machine), 0};
  Snapshot snapshot = snapshot_of(simt_of(machine), &local);
  return snapshot_save(path, &snapshot, diags);
}

bool simt_machine_load(Machine *machine, const char *path, Diags *diags) {
  Simt *m = simt_of(machine);
  LocalStream local = {m, local_used(m)};
  Snapshot snapshot = snapshot_of(m, &local);
  if (!snapshot_load(path, &snapshot, diags)) return false;
  machine_bind(m);
  memset(m->cluster_places, 0, sizeof m->cluster_places);
  m->is_still = false;
  return true;
}

void simt_machine_move(Machine *machine) {
  Simt *m = simt_of(machine);
  m->block = state_block_moved(m->block, m->block_bytes);
  machine_bind(m);
}

uint64_t simt_machine_hash(const Machine *machine) {
  const Simt *m = simt_in(machine);
  WatchedPages pages;
  bool is_watched = mirror_pages(m->mirror, &pages);
  uint64_t hash = state_hash(&m->state_layout, m->block, is_watched ? &pages : NULL), used = local_used(m);
  for (uint64_t at = 0; used > 0 && at + used <= m->backing.local_bytes; at += m->backing.local_warp_bytes) {
    hash = hash_bytes(m->backing.local + at, used, hash);
  }
  return m->backing.memory == NULL ? hash : memory_hash(m->backing.memory, hash);
}

uint64_t simt_machine_digest(const Machine *machine) { return state_digest(&simt_in(machine)->state_layout, simt_in(machine)->block); }

bool simt_machine_diff(const Machine *a, const Machine *b, Text *out) {
  uint64_t bits = state_diff(&simt_in(a)->state_layout, simt_in(a)->block, simt_in(b)->block, out);
  bool same = bits == 0 && simt_machine_hash(a) == simt_machine_hash(b);
  if (bits == 0 && !same) text_add(out, "state that is no hardware cell, or memory, differs\n");
  return !same;
}
