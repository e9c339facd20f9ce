// The arbiters around the SMs (thesis 3.3): IDLE, REQUESTED, WAITING_ACK. All SMs that want a port are served, one at a
// time and in turn; those that wait are stalled. The multiplexers follow the grant.
//
// The thesis gives no cycle counts; those of ArbiterTiming were chosen once for all machines (docs/DEVIATIONS.md).
#include "machine/g80/g80_internal.h"

static uint32_t sm_bit(uint32_t sm) { return 1u << (sm & 31); }
static uint32_t all_sms(const G80Machine *m) { return m->sms == 32 ? UINT32_MAX : (1u << m->sms) - 1; }

void arbiter_request(G80Machine *m, PortId id, uint32_t sm, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  port->request |= sm_bit(sm);
  if ((port->state & 3) == ARBITER_IDLE) {
    port->state = ARBITER_REQUESTED;
    port->next = cycle + m->arbiter.grant;
  } else {
    port->stall |= sm_bit(sm);
  }
}

// From the pointer on, the first SM that wants the port; m->sms: none.
static uint32_t choose(const G80Machine *m, const G80Port *port, uint32_t *passed) {
  for (uint32_t i = 0; i < m->sms; i++) {
    uint32_t sm = ((port->pointer & 31) + i) % m->sms;
    *passed = i;
    if ((port->request & sm_bit(sm)) != 0) return sm;
  }
  return m->sms;
}

static void grant(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  uint32_t passed = 0;
  uint32_t sm = choose(m, port, &passed);
  if (sm == m->sms) {
    port->state = ARBITER_IDLE;
    port->next = G80_NEVER;
    return;
  }
  uint64_t at = cycle + (uint64_t)passed * m->arbiter.walk;
  if (at > cycle) { // the pointer walks first; the SMs passed over may still ask, for the next round
    port->pointer = sm;
    port->next = at;
    return;
  }
  port->grant = sm_bit(sm);
  port->stall = port->request & ~port->grant & all_sms(m);
  port->pointer = (sm + 1) % m->sms;
  port->state = ARBITER_WAITING_ACK;
  port->next = access_granted(m, id, sm, cycle);
  port->ack = 0;
}

static void acknowledge(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  port->ack = port->grant;
  port->request &= ~port->grant;
  port->grant = 0;
  bool more = (port->request & all_sms(m)) != 0;
  port->state = more ? ARBITER_REQUESTED : ARBITER_IDLE;
  port->next = more ? cycle + m->arbiter.turn : G80_NEVER;
}

void arbiter_step(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  port->next = G80_NEVER;
  switch (port->state & 3) {
  case ARBITER_IDLE:
  case ARBITER_REQUESTED: grant(m, id, cycle); break;
  case ARBITER_WAITING_ACK: acknowledge(m, id, cycle); break;
  default: break; // illegal: stays
  }
}

void arbiter_forget(G80Machine *m, uint32_t sm) {
  for (uint32_t i = 0; i < PORT_COUNT; i++) {
    G80Port *port = &m->shared->ports[i];
    port->request &= ~sm_bit(sm);
    port->stall &= ~sm_bit(sm);
    if ((port->grant & sm_bit(sm)) == 0) continue;
    port->grant = 0;
    port->state = ARBITER_REQUESTED;
  }
}
