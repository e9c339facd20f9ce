// Loads of mirrors that another SM's reply answers, too.
//
// A hook may name an SM of the same TPC when a mirror's load is about to leave (MemoryEvent.join). If that SM has a load of the line under way which
// covers the bytes, the mirror's request is not sent: it waits here, and takes the data when the other reply is taken. Loads that are no
// mirror's are never joined: they must see memory as it is when their turn comes.
//
// Loads under way are known by their SM, the cycle in which they were sent and their turn in it. A table that is full notes no more, and then
// nothing joins. A reply that a fault has made unknown answers nobody; a mirror then waits until it is abandoned.
#include "machine/simt/simt.h"

static SentLoad *sent_of(const Simt *m, uint32_t sm) { return &m->at.sent[(size_t)sm * SIMT_SENT]; }
static JoinedLoad *joined_of(const Simt *m, uint32_t sm) { return &m->at.joined[(size_t)sm * SIMT_JOINED]; }

static bool is_load(const Packet *packet) { return packet->client == CLIENT_LOAD && packet->prefetch == 0; }

void join_sent(Simt *m, uint32_t sm, const Packet *packet) {
  if (!is_load(packet) || packet->kind != PACKET_READ || packet->quiet != 0) return;
  SentLoad *sent = sent_of(m, sm);
  for (uint32_t i = 0; i < SIMT_SENT; i++) {
    if (sent[i].valid != 0) continue;
    sent[i] = (SentLoad){.address = packet->address, .sent_at = packet->sent_at, .bytes = packet->bytes, .turn = packet->turn, .valid = 1};
    return;
  }
}

bool join_other(Simt *m, uint32_t sm, const Packet *packet, uint32_t other) {
  uint32_t per_tpc = max_u32((uint32_t)m->spec->sm_per_tpc, 1);
  if (other >= m->dims.sms || other == sm || other / per_tpc != sm / per_tpc || !is_load(packet) || packet->quiet == 0) return false;
  const SentLoad *sent = sent_of(m, other), *found = NULL;
  JoinedLoad *joined = joined_of(m, sm), *place = NULL;
  for (uint32_t i = 0; i < SIMT_SENT && found == NULL; i++) {
    if (sent[i].valid != 0 && sent[i].address == packet->address && bytes_cover(sent[i].bytes, packet->bytes)) found = &sent[i];
  }
  for (uint32_t i = 0; i < SIMT_JOINED && place == NULL; i++) {
    if (joined[i].valid == 0) place = &joined[i];
  }
  if (found == NULL || place == NULL) return false;
  *place = (JoinedLoad){.sent_at = found->sent_at, .sm = (uint16_t)other, .turn = found->turn, .valid = 1};
  memcpy(&place->request, packet, offsetof(Packet, data));
  simt_count(m, STAT_JOINED_LOADS, 1);
  return true;
}

void join_replied(Simt *m, uint32_t sm, const Packet *packet) {
  if (!is_load(packet) || packet->kind != PACKET_READ_REPLY || packet->quiet != 0) return;
  uint32_t per_tpc = max_u32((uint32_t)m->spec->sm_per_tpc, 1), first = sm / per_tpc * per_tpc;
  SentLoad *sent = sent_of(m, sm);
  for (uint32_t i = 0; i < SIMT_SENT; i++) {
    if (sent[i].valid != 0 && sent[i].sent_at == packet->sent_at && sent[i].turn == packet->turn) sent[i] = (SentLoad){0};
  }
  for (uint32_t mate = first; mate < min_u32(first + per_tpc, m->dims.sms); mate++) {
    JoinedLoad *joined = joined_of(m, mate);
    for (uint32_t i = 0; i < SIMT_JOINED && mate != sm; i++) {
      if (joined[i].valid == 0 || joined[i].sm != sm || joined[i].sent_at != packet->sent_at || joined[i].turn != packet->turn) continue;
      Packet reply = joined[i].request;
      reply.kind = PACKET_READ_REPLY;
      memcpy(reply.data, packet->data, sizeof reply.data);
      memset(&joined[i], 0, sizeof joined[i]);
      sm_give_reply(m, mate, &reply);
    }
  }
}
