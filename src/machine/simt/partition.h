// What the files of a memory partition share.
//
//   partition.c    an L2 slice: its pipeline, lines, miss registers, replies
//   controllers.c  the DRAM controllers below the slices
//   flush.c        everything dirty to memory at once
//   host.c         what the host has written between launches
//   backing.c      the bytes behind physical addresses
#ifndef REDOUBT_SIMT_PARTITION_H
#define REDOUBT_SIMT_PARTITION_H

#include "machine/simt/simt.h"

// An L2 slice: typed pointers to its state.
typedef struct L2Slice {
  Simt *m;
  uint32_t index;
  PartitionState *state;
  Cache cache; // without an L2 its lines are the buffers of the miss registers
  Mshrs mshrs;
  Packet *waiting; // 2 * l2_mshrs places
} L2Slice;
L2Slice l2_slice(Simt *m, uint32_t index);

// Bytes of one of the slice's lines, with hooks told for which packet; NULL: for none.
void l2_line_read(L2Slice *slice, const Packet *packet, uint32_t line, ByteMask bytes, uint32_t to[LINE_WORDS]);
void l2_line_drop(L2Slice *slice, uint32_t line); // it holds nothing any more; whatever was dirty is lost
// Bytes that are in memory come into the slice, for nobody. False: newer lines have all the places.
bool l2_take_in(L2Slice *slice, uint64_t address, ByteMask bytes, const uint32_t data[LINE_WORDS]);
bool l2_find(const L2Slice *slice, uint64_t address, uint32_t *line); // false: it has nothing of it
// New values of the data that an atomic is for, into a line that holds the old ones.
void l2_atomic_apply(const Simt *m, const Packet *packet, uint32_t line[LINE_WORDS]);
uint64_t l2_line_address(const L2Slice *slice, uint32_t line); // physical
// All that wait for a fetch of the slice's enter that stage.
void l2_fetch_enters(Simt *m, const Packet *fetch, MemoryStage stage);
// Who they are, into waiters[MSHR_MOST_WAITERS]; how many. *first: the request that has waited longest, or NULL.
uint32_t l2_waiters(Simt *m, const Packet *fetch, Packet **first, Who *waiters);
// Data that a slice has asked for has come from DRAM; the packet is the request.
void l2_fill(Simt *m, const Packet *packet, const uint32_t data[LINE_WORDS]);

#endif
