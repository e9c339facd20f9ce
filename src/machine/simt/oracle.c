// Loads of mirrors that cost nothing, for limit studies (Hook.mirrors): a fixed number of cycles after it was made, a load is answered with what memory
// holds when it is made. It takes no place in the network, the L2 or DRAM. Local memory of mirrors is written at once, likewise. Their
// instructions, constants and textures come as always.
//
// Bytes that a slice has given back and DRAM has not written yet are not seen: mirrors may read what was there before.
#include "machine/simt/partition.h"

static FreeLoad *loads_of(const Simt *m, uint32_t sm) { return &m->at.free_loads[(size_t)sm * SIMT_FREE_LOADS]; }

static FreeLoad *free_place(const Simt *m, uint32_t sm) {
  FreeLoad *loads = loads_of(m, sm);
  for (uint32_t i = 0; i < SIMT_FREE_LOADS; i++) {
    if (loads[i].ready_at == 0) return &loads[i];
  }
  return NULL;
}

bool oracle_has_room(const Simt *m, uint32_t sm) { return free_place(m, sm) != NULL; }

void oracle_load(Simt *m, uint32_t sm, const Packet *packet) {
  FreeLoad *place = free_place(m, sm);
  L2Slice slice = l2_slice(m, packet->partition);
  uint32_t line;
  if (place == NULL) return;
  place->ready_at = simt_now(m) + m->dims.mirror_free;
  memcpy(&place->reply, packet, offsetof(Packet, data));
  place->reply.kind = PACKET_READ_REPLY;
  backing_read(&m->backing, packet->address, packet->bytes, place->reply.data);
  if (l2_find(&slice, packet->address, &line))
    bytes_copy(place->reply.data, slice.cache.data[line].word,
               bytes_and(packet->bytes, cache_bytes(slice.cache.shape, &slice.cache.lines[line])));
  sm_wake(m, sm, place->ready_at);
}

void oracle_store(Simt *m, const Packet *packet) {
  L2Slice slice = l2_slice(m, partition_of(m, packet->address));
  uint32_t line;
  backing_write(&m->backing, packet->address, packet->bytes, packet->data);
  if (l2_find(&slice, packet->address, &line))
    bytes_copy(slice.cache.data[line].word, packet->data,
               bytes_and(packet->bytes, cache_bytes(slice.cache.shape, &slice.cache.lines[line])));
}

void oracle_cycle(Simt *m, uint32_t sm) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < SIMT_FREE_LOADS; i++) {
    FreeLoad *load = &loads_of(m, sm)[i];
    if (load->ready_at == 0) continue;
    if (load->ready_at > simt_now(m)) {
      next = min_u64(next, load->ready_at);
      continue;
    }
    Packet reply = load->reply;
    memset(load, 0, sizeof *load);
    sm_give_reply(m, sm, &reply);
  }
  sm_wake(m, sm, next);
}
