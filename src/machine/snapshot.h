// A machine's state as bytes: hash, difference by name, save and load. Works on any machine whose state is one pointer-free block
// that a RegionTable describes.
#ifndef REDOUBT_SNAPSHOT_H
#define REDOUBT_SNAPSHOT_H

#include "hook/hook.h"
#include "machine/machine.h"
#include "machine/pages.h"

typedef struct ByteRange {
  size_t offset, bytes;
} ByteRange;

// Words of 64 bits of which not every bit decides what happens next. States that differ in such bits alone are the same.
typedef enum FieldKind {
  FIELD_UNTIL,     // a time until which something waits: once it has come, it is of no interest
  FIELD_STATISTIC, // decides nothing
} FieldKind;
typedef struct StateField { // of each element of an array
  FieldKind kind;
  size_t offset, stride; // of the first element's; from one element to the next
  uint64_t count;        // of elements
  uint32_t words;        // side by side in each element
  uint64_t scale;        // FIELD_UNTIL: units of time in a cycle
} StateField;
enum { STATE_MOST_FIELDS = 16 };

// How a block is to be read. `hashed` are the stretches that decide what happens next: the machine's own arrays that are not
// statistics, and the schemes' regions behind them. Ascending, apart.
typedef struct StateLayout {
  const RegionTable *regions;
  const ByteRange *hashed;
  uint32_t hashed_count;
  StateField fields[STATE_MOST_FIELDS]; // within `hashed`; those of one kind in ascending order
  uint32_t field_count;
  size_t clock;  // with fields: where the block has the cycle, 64 bits
  size_t digest; // bytes, from the first stretch on, that state_digest reads: whole stretches, with zeros between them
} StateLayout;

// XXH3 over the hashed stretches, of fields only over what decides. The block is private anonymous memory: pages that were never touched are zero, and are not read.
// Which these are, the host is asked, or somebody who watches a block that begins at a page (NULL: nobody does).
uint64_t state_hash(const StateLayout *layout, const uint8_t *block, const WatchedPages *watched);
// Of a little of what state_hash reads: blocks in which it differs have other hashes. Costs next to nothing. Never 0.
uint64_t state_digest(const StateLayout *layout, const uint8_t *block);
// What differs between two blocks, one line per structure: its first differing bit, the two values, how many bits differ.
// Statistics and cells outside the block are not looked at. Returns the number of differing bits; 0 adds no text.
uint64_t state_diff(const StateLayout *layout, const uint8_t *a, const uint8_t *b, Text *out);

// ---- For machines whose state is such a block ----------------------------------------------------
uint8_t *state_block_new(size_t bytes); // zeroed; begins at a page
// The same for a machine's first block, with these structures; NULL, with a diagnostic: they are too large.
uint8_t *state_block_make(const RegionTable *regions, Diags *diags);
void state_block_free(uint8_t *block, size_t bytes);
uint8_t *state_block_moved(uint8_t *block, size_t bytes); // the same at another address; the old one is freed
// A layout of its own for a clone, in its arena.
void state_layout_copy(Arena *arena, const StateLayout *from, StateLayout *to, RegionTable *regions);

// ---- Snapshots in files --------------------------------------------------------------------------
// What a state belongs to. A snapshot is loaded only where all of these are the same.
uint64_t layout_hash(const StateLayout *layout);
uint64_t spec_hash(const Spec *spec);       // all parameters; not the machine's name
uint64_t launch_hash(const Launch *launch); // kernel, sizes, parameters, number

typedef struct Snapshot {
  const StateLayout *layout;
  uint8_t *block;
  Memory *memory;                 // NULL: the machine has all its memory in the block
  uint64_t spec, program, launch; // hashes
  // Further bytes, behind the block: `rest` hands each stretch to the stream, which takes it (save) or fills it (load; the
  // block is there by then and may say how long they are). NULL: none.
  bool (*rest)(void *context, MemoryStream stream, void *stream_context);
  void *context;
} Snapshot;
// The file appears whole or not at all.
bool snapshot_save(const char *path, const Snapshot *snapshot, Diags *diags);
// Refuses, with one line that says what differs, before anything is changed; a damaged file is found by its checksum, and leaves block and
// memory to be thrown away.
bool snapshot_load(const char *path, const Snapshot *snapshot, Diags *diags);

#endif
