// Loads that the reply to another SM's load answers, too: the coalescing unit of a TPC.
//
// A hook may name an SM of the same TPC when a load is about to leave (MemoryEvent.join). If that SM has a load of the line under way which
// covers the bytes, the request is not sent: it waits here, and takes the data when the other reply comes.
//
// A mirror joins loads of the TPC's other blocks, from when they are sent until their reply is taken. Its values count for nothing.
//
// A block that is no mirror joins loads of mirrors, and must see memory as it would have seen it by itself:
//   - The SM of the mirror may be broken. So its load is known here from when the network has it, and with what the network has of it. The reply
//     answers when it leaves the network. Between the two nothing of that SM is passed.
//   - The reply may be older than what the SM knows. So a mirror's load is stale for an SM that writes the line, reads it otherwise, or
//     synchronises while it is under way; and a line on which a store of the SM is under way is never joined. Volatile and ordered loads never join.
//
// Loads under way are known by their SM, the cycle in which they were sent and their turn in it. A table that is full notes no more, and then
// nothing joins. A reply that a fault has made unknown answers nobody; a mirror then waits until it is abandoned.
#include "machine/simt/simt.h"

static SentLoad *sent_of(const Simt *m, uint32_t sm) { return &m->at.sent[(size_t)sm * SIMT_SENT]; }
static JoinedLoad *joined_of(const Simt *m, uint32_t sm) { return &m->at.joined[(size_t)sm * SIMT_JOINED]; }
static uint32_t tpc_sms(const Simt *m) { return max_u32((uint32_t)m->spec->sm_per_tpc, 1); }
static uint8_t *stores_on(const Simt *m, uint32_t sm, uint64_t line) {
  return &m->at.joins[sm].stores[(line / LINE_BYTES ^ line / LINE_BYTES / SIMT_JOIN_STORES) % SIMT_JOIN_STORES];
}
// The SM's bit of SentLoad.stale; SMs of large TPCs share one.
static uint8_t stale_bit(const Simt *m, uint32_t sm) { return (uint8_t)(1u << min_u32(sm % tpc_sms(m), 7)); }

static bool is_load(const Packet *packet) { return packet->client == CLIENT_LOAD && packet->prefetch == 0; }
static bool may_be_stale(const Packet *packet) { return packet->quiet == 0; }

// Loads of the TPC's mirrors that are under way will be stale for this SM: those of a line, or (UINT64_MAX) all.
static void mark_stale(Simt *m, uint32_t sm, uint64_t line) {
  uint32_t first = sm / tpc_sms(m) * tpc_sms(m), end = min_u32(first + tpc_sms(m), m->dims.sms);
  for (uint32_t mate = first; mate < end; mate++) {
    SentLoad *sent = sent_of(m, mate);
    for (uint32_t i = 0; i < SIMT_SENT && mate != sm && m->at.joins[mate].mirrored != 0; i++) {
      if (sent[i].valid != 0 && (line == UINT64_MAX || sent[i].address == line)) sent[i].stale |= stale_bit(m, sm);
    }
  }
}

void join_synchronised(Simt *m, uint32_t sm) { mark_stale(m, sm, UINT64_MAX); }

// ---- Under way -----------------------------------------------------------------------------------------

static void note(Simt *m, uint32_t sm, const Packet *packet) {
  SentLoad *sent = sent_of(m, sm);
  for (uint32_t i = 0; i < SIMT_SENT; i++) {
    if (sent[i].valid != 0) continue;
    sent[i] = (SentLoad){.address = packet->address, .sent_at = packet->sent_at, .bytes = packet->bytes, .turn = packet->turn, .valid = 1};
    sent[i].mirror = packet->quiet != 0;
    m->at.joins[sm].mirrored += packet->quiet != 0;
    return;
  }
}

void join_sent(Simt *m, uint32_t sm, const Packet *packet) {
  if (packet->quiet != 0) return;
  if (packet->kind == PACKET_READ && is_load(packet)) note(m, sm, packet);
  if (packet->kind != PACKET_WRITE && packet->kind != PACKET_ATOMIC) return;
  uint8_t *stores = stores_on(m, sm, packet->address);
  *stores = (uint8_t)min_u32(*stores + 1u, UINT8_MAX);
  mark_stale(m, sm, packet->address);
}

void join_left(Simt *m, uint32_t sm, const Packet *packet) {
  if (packet->quiet == 0 || packet->kind != PACKET_READ || !is_load(packet)) return;
  // What a fault has done to it before may have made a request of it that is answered elsewhere, or with another line.
  if (packet->sm == sm && packet->partition == partition_of(m, packet->address)) note(m, sm, packet);
}

// ---- Joining -------------------------------------------------------------------------------------------

static const SentLoad *find(const Simt *m, uint32_t sm, const Packet *packet, uint32_t other) {
  const SentLoad *sent = sent_of(m, other);
  for (uint32_t i = 0; i < SIMT_SENT; i++) {
    bool is_same = sent[i].valid != 0 && sent[i].address == packet->address && bytes_cover(sent[i].bytes, packet->bytes);
    if (!is_same || (sent[i].mirror != 0) != may_be_stale(packet)) continue;
    if (!may_be_stale(packet) || (sent[i].stale & stale_bit(m, sm)) == 0) return &sent[i];
  }
  return NULL;
}

bool join_other(Simt *m, uint32_t sm, const Packet *packet, uint32_t other) {
  if (other >= m->dims.sms || other == sm || other / tpc_sms(m) != sm / tpc_sms(m) || !is_load(packet)) return false;
  if (may_be_stale(packet) && (packet->joins == 0 || *stores_on(m, sm, packet->address) != 0)) return false;
  const SentLoad *found = find(m, sm, packet, other);
  JoinedLoad *joined = joined_of(m, sm), *place = NULL;
  for (uint32_t i = 0; i < SIMT_JOINED && place == NULL; i++) {
    if (joined[i].valid == 0) place = &joined[i];
  }
  if (found == NULL || place == NULL) return false;
  *place = (JoinedLoad){.sent_at = found->sent_at, .sm = (uint16_t)other, .turn = found->turn, .valid = 1};
  memcpy(&place->request, packet, offsetof(Packet, data));
  simt_count(m, may_be_stale(packet) ? STAT_SHARED_REPLIES : STAT_JOINED_LOADS, 1);
  return true;
}

// ---- Replies -------------------------------------------------------------------------------------------

// Its number alone would do, were there no faults: a broken SM may have given two of its loads the same one.
static bool is_reply_to(const Packet *reply, uint64_t sent_at, uint8_t turn, uint64_t address) {
  return reply->sent_at == sent_at && reply->turn == turn && reply->address == address;
}

static void forget(Simt *m, uint32_t sm, const Packet *packet) {
  SentLoad *sent = sent_of(m, sm);
  for (uint32_t i = 0; i < SIMT_SENT; i++) {
    if (sent[i].valid == 0 || !is_reply_to(packet, sent[i].sent_at, sent[i].turn, sent[i].address)) continue;
    m->at.joins[sm].mirrored -= sent[i].mirror != 0 && m->at.joins[sm].mirrored > 0;
    sent[i] = (SentLoad){0};
  }
}

// Those of the TPC that wait for this reply have it.
static void answer(Simt *m, uint32_t sm, const Packet *packet) {
  uint32_t first = sm / tpc_sms(m) * tpc_sms(m), end = min_u32(first + tpc_sms(m), m->dims.sms);
  for (uint32_t mate = first; mate < end; mate++) {
    JoinedLoad *joined = joined_of(m, mate);
    for (uint32_t i = 0; i < SIMT_JOINED && mate != sm; i++) {
      const Packet *request = &joined[i].request;
      if (joined[i].valid == 0 || joined[i].sm != sm || !is_reply_to(packet, joined[i].sent_at, joined[i].turn, request->address)) continue;
      if (!bytes_cover(packet->bytes, request->bytes)) continue;
      Packet reply = joined[i].request;
      reply.kind = PACKET_READ_REPLY;
      memcpy(reply.data, packet->data, sizeof reply.data);
      memset(&joined[i], 0, sizeof joined[i]);
      if (may_be_stale(&reply)) mark_stale(m, mate, reply.address);
      sm_give_reply(m, mate, &reply);
    }
  }
}

void join_delivered(Simt *m, uint32_t sm, const Packet *packet) {
  if (packet->quiet == 0 || packet->kind != PACKET_READ_REPLY || !is_load(packet)) return;
  forget(m, sm, packet);
  answer(m, sm, packet);
}

void join_replied(Simt *m, uint32_t sm, const Packet *packet) {
  if (packet->quiet != 0) return;
  if (packet->kind == PACKET_WRITE_REPLY || packet->kind == PACKET_ATOMIC_REPLY) {
    uint8_t *stores = stores_on(m, sm, packet->address);
    *stores = (uint8_t)(*stores - (*stores > 0 ? 1 : 0));
    mark_stale(m, sm, packet->kind == PACKET_WRITE_REPLY ? packet->address : UINT64_MAX);
  } else if (packet->kind == PACKET_READ_REPLY && is_load(packet)) {
    mark_stale(m, sm, packet->joins != 0 ? packet->address : UINT64_MAX);
    forget(m, sm, packet);
    answer(m, sm, packet);
  }
}
