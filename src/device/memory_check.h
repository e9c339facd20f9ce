// --check memory: what a program without faults does to memory that it should not. Watches the functional machine
// and reports, per kernel and line:
//   reads of bytes that nobody has written: no host, no memset, no kernel since they were allocated (global), since the
//     block began (shared) or the thread began (local);
//   reads and writes of global memory outside of every allocation that the machine lets pass, because it checks by pages
//     (memory.granule).
//   with --check races: races in shared and global memory (race_check.h).
// Not reported: what the source does not show (spills, arguments of calls), registers, copies back to the host, constant
// memory and parameters. Copies on the device move the marks with the bytes.
#ifndef REDOUBT_MEMORY_CHECK_H
#define REDOUBT_MEMORY_CHECK_H

#include "machine/machine.h"

typedef enum FindingKind { FINDING_UNWRITTEN, FINDING_READ_OUTSIDE, FINDING_WRITE_OUTSIDE, FINDING_RACE, FINDING_KINDS } FindingKind;
extern const char *const finding_name[FINDING_KINDS];

typedef struct MemoryFinding {
  FindingKind kind;
  Space space;
  const char *kernel, *file; // copies
  uint32_t line;             // of the PTX; 0: not known
  uint64_t accesses;         // by single threads
  uint64_t threads;          // that did so, summed over launches; 0: not counted, too many
  // The first of them:
  uint64_t launch; // number, from 1
  uint64_t address;
  uint32_t bytes, pc;
  uint32_t block[3], thread[3];
  uint64_t near_start, near_bytes; // the allocation that holds it or is nearest; 0, 0: none
  uint64_t last_launch;            // in which it was seen
  // A race: the access that it races with
  uint32_t other_line, other_pc; // as above
  bool other_wrote;
  uint32_t other_block[3], other_warp; // the warp's index in the block
} MemoryFinding;
// Where the first access was, for people: "4 bytes at 0x200000000190, 0 bytes past the end of a 400-byte allocation".
void finding_place(const MemoryFinding *finding, Text *out);

// What is looked for.
enum { CHECK_MEMORY = 1, CHECK_RACES = 2 };

typedef struct MemoryCheck MemoryCheck;
MemoryCheck *memory_check_new(Memory *memory, unsigned what); // before the first allocation; NULL: no room
void memory_check_free(MemoryCheck *check);
MachineWatch *memory_check_begin(MemoryCheck *check, const Launch *launch); // for the environment of this launch
void memory_check_end(MemoryCheck *check);
uint32_t memory_check_count(const MemoryCheck *check);
const MemoryFinding *memory_check_finding(const MemoryCheck *check, uint32_t index); // in the order of their first access

#endif
