// Which blocks of a pass go to which SM. The thesis deals them out in turn: SM s takes the blocks s, s + N, s + 2N, ... of the pass (SM_LOCAL and
// the step of idx_i in its SMP controller). The other policies are those that machines with a block queue have (dispatch.policy), as far as they make
// sense where blocks are handed out in passes: how many blocks an SM takes stays as Algorithm 1 says.
//   ordered   SM 0 takes the first blocks of the pass, SM 1 the next, ...
//   even-odd  in turn, but the even SMs come before the odd ones
//   random    in turn, the SMs in an order that is drawn for each pass
#include "machine/g80/g80_internal.h"

typedef enum G80Policy { POLICY_IN_TURN, POLICY_ORDERED, POLICY_EVEN_ODD, POLICY_RANDOM } G80Policy; // as dispatch.policy

static uint32_t drawn_rank(const G80Machine *m, uint32_t sm, uint32_t first_block) {
  uint32_t order[32];
  for (uint32_t i = 0; i < m->sms; i++) order[i] = i;
  for (uint32_t i = m->sms; i > 1; i--) {
    uint32_t other = (uint32_t)random_below(random_draw(m->policy_seed, first_block, i), i), last = order[i - 1];
    order[i - 1] = order[other];
    order[other] = last;
  }
  return order[sm];
}

uint32_t policy_rank(const G80Machine *m, uint32_t sm, uint32_t first_block) {
  switch ((G80Policy)m->policy) {
  case POLICY_EVEN_ODD: return sm % 2 == 0 ? sm / 2 : (m->sms + 1) / 2 + sm / 2;
  case POLICY_RANDOM: return drawn_rank(m, sm, first_block);
  default: return sm;
  }
}

uint32_t policy_place(const G80Machine *m, uint32_t sm) {
  const G80Scheduler *s = &m->shared->scheduler;
  if ((G80Policy)m->policy != POLICY_ORDERED) return policy_rank(m, sm, s->block_idx_out & 0xFFFF);
  uint32_t before = 0;
  for (uint32_t i = 0; i < sm; i++) before += s->num_blocks_out[i] & 15;
  return before;
}

// The same as hardware does it: what it looks at is told.
uint32_t policy_first(const G80Machine *m, uint32_t sm) {
  G80Policy policy = (G80Policy)m->policy;
  if (policy == POLICY_RANDOM) reads(m, REGION_ID_bs_block_idx_out, 0);
  for (uint32_t i = 0; i < sm && policy == POLICY_ORDERED; i++) reads(m, REGION_ID_bs_num_blocks_out, i);
  return policy_place(m, sm);
}

uint32_t policy_step(const G80Machine *m) { return (G80Policy)m->policy == POLICY_ORDERED ? 1 : m->sms; }
