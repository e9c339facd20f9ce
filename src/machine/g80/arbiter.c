// The arbiters around the SMs (thesis 3.3): IDLE, REQUESTED, WAITING_ACK. SMs that ask at the same time form a round: they are
// served one after the other while the rest is stalled, and "only when all the requests coming simultaneously are
// considered, the execution can go ahead". Whoever asks later waits for the next round. The multiplexers follow the grant.
//
// Two variants show what that is worth. The arbiter of the released RTL "will serve only one of the devices requesting the common resource (so all
// the other requests are lost) and then it will wait for new requests" (thesis, 2.1.2): an SM that asks together with another, or while the port is
// in use, waits for ever. With ports of its own no SM waits: the bound without contention.
//
// The thesis gives no cycle counts; those of ArbiterTiming were chosen once for all machines (docs/DEVIATIONS.md).
#include "machine/g80/g80_internal.h"

static uint32_t sm_bit(uint32_t sm) { return 1u << (sm & 31); }
static uint32_t all_sms(const G80Machine *m) { return m->sms == 32 ? UINT32_MAX : (1u << m->sms) - 1; }

// A port that nobody else has: the access takes place as soon as it can. Its effect comes with the request, not arbiter_grant cycles later.
static void serve_at_once(G80Machine *m, PortId id, uint32_t sm, uint64_t cycle) {
  access_released(m, id, sm, access_granted(m, id, sm, cycle + m->arbiter.grant) + 1);
}

// Requests that come while others are being served wait for the next round.
void arbiter_request(G80Machine *m, PortId id, uint32_t sm, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  if (m->private_ports) {
    serve_at_once(m, id, sm, cycle);
    return;
  }
  tell_port(m, id, false);
  port->request |= sm_bit(sm);
  tell_port(m, id, true);
  if ((port->state & 3) == ARBITER_IDLE && port->next == G80_NEVER) port->next = cycle + m->arbiter.grant - 1;
}

// From the pointer on, the first SM of the round; m->sms: none is left.
static uint32_t choose(const G80Machine *m, const G80Port *port, uint32_t *passed) {
  for (uint32_t i = 0; i < m->sms; i++) {
    uint32_t sm = ((port->pointer & 31) + i) % m->sms;
    *passed = i;
    if ((port->stall & sm_bit(sm)) != 0) return sm;
  }
  return m->sms;
}

// A round begins: those that want the port now are served before anybody else.
static void begin_round(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  port->stall = port->request & all_sms(m);
  if (port->stall == 0) return;
  uint32_t passed;
  if (m->loses_requests) port->stall = port->request = sm_bit(choose(m, port, &passed));
  port->state = ARBITER_REQUESTED;
  port->next = cycle + 1;
}

static void grant(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  uint32_t passed = 0;
  uint32_t sm = choose(m, port, &passed);
  if (sm == m->sms) {
    port->state = ARBITER_IDLE;
    port->next = cycle + 1;
    return;
  }
  port->pointer = sm;
  if (passed != 0 && m->arbiter.walk != 0) { // the pointer walks over the SMs that are not in the round
    port->next = cycle + (uint64_t)passed * m->arbiter.walk;
    return;
  }
  port->grant = sm_bit(sm);
  port->ack = 0;
  port->stall &= ~port->grant;
  port->pointer = (sm + 1) % m->sms;
  port->state = ARBITER_WAITING_ACK;
  port->next = access_granted(m, id, sm, cycle);
}

static void acknowledge(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  port->ack = port->grant;
  port->request &= m->loses_requests ? 0 : ~port->grant; // those that came meanwhile
  port->grant = 0;
  bool more = (port->stall & all_sms(m)) != 0;
  port->served |= port->ack;
  for (uint32_t i = 0; !more && i < m->sms; i++) {
    if ((port->served & sm_bit(i)) != 0) access_released(m, id, i, cycle + 1);
  }
  if (!more) port->served = 0;
  port->state = more ? ARBITER_REQUESTED : ARBITER_IDLE;
  port->next = cycle + (more ? m->arbiter.turn : 1);
}

void arbiter_step(G80Machine *m, PortId id, uint64_t cycle) {
  G80Port *port = &m->shared->ports[id];
  port->next = G80_NEVER;
  tell_port(m, id, false);
  switch (port->state & 3) {
  case ARBITER_IDLE: begin_round(m, id, cycle); break;
  case ARBITER_REQUESTED: grant(m, id, cycle); break;
  case ARBITER_WAITING_ACK: acknowledge(m, id, cycle); break;
  default: break; // illegal: stays
  }
  tell_port(m, id, true);
}

void arbiter_forget(G80Machine *m, uint32_t sm) {
  for (uint32_t i = 0; i < PORT_COUNT; i++) {
    G80Port *port = &m->shared->ports[i];
    port->request &= ~sm_bit(sm);
    port->stall &= ~sm_bit(sm);
    port->served &= ~sm_bit(sm);
    if ((port->grant & sm_bit(sm)) != 0) {
      port->grant = 0;
      port->state = ARBITER_REQUESTED;
    }
    tell_port(m, (PortId)i, true);
  }
}
