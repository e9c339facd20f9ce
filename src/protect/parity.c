// Parity on the register file: the worked example of CONTRIBUTING.md ("Write a scheme in an hour").
//
// Source: one even parity bit per word is the oldest error-detecting code; R. W. Hamming, "Error Detecting and Error Correcting Codes", Bell
// System Technical Journal 29(2), 1950, section 3.
// Modelled: a parity bit per lane of each register, written with the register and checked at every read. An odd number of wrong bits
// ends the launch (HALT, detected). An even number is not seen; nothing is ever put right.
// Not modelled: time of the trees of XOR gates.
// Cost: the parity bits, which are cells like others: parity.rf is hashed, cloned and struck by faults. And the energy of their accesses, which
// `check_bits` counts.
#include "protect/protect_internal.h"

typedef struct Parity {
  uint16_t rf, bits; // structures: what is protected, and its parity bits
} Parity;

// Bit i: the parity of lane i's word.
static uint32_t parity_of(const uint8_t *data) {
  uint32_t parity = 0;
  for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
    uint32_t word;
    memcpy(&word, data + lane * sizeof word, sizeof word);
    parity |= (uint32_t)__builtin_parity(word) << lane;
  }
  return parity;
}

static uint8_t *kept_at(const Parity *own, const HookMachine *machine, uint64_t row) {
  const Region *region = &machine->regions->items[own->bits];
  return machine->block + region->base + row * region->row_bytes;
}

// Bits have entered a register: `units` are the lanes that were written.
static Verdict parity_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  const Parity *own = hook->own;
  if (event->region != own->rf) return VERDICT_PASS;
  const Region *region = &machine->regions->items[own->bits];
  uint8_t *kept = kept_at(own, machine, event->row);
  uint64_t fresh = parity_of(event->data) & event->units;
  hook_tally(machine, TALLY_CHECK_BITS, count_ones(event->units));
  unit_set(region, kept, (unit_get(region, kept) & ~(uint64_t)event->units) | fresh);
  return VERDICT_PASS;
}

// Bits leave a register: only the lanes that are read matter.
static Verdict parity_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  const Parity *own = hook->own;
  if (event->region != own->rf) return VERDICT_PASS;
  uint64_t kept = unit_get(&machine->regions->items[own->bits], kept_at(own, machine, event->row));
  hook_tally(machine, TALLY_CHECK_BITS, count_ones(event->units));
  if (((parity_of(event->data) ^ kept) & event->units) == 0) return VERDICT_PASS;
  ++*machine->detected;
  return VERDICT_HALT;
}

// The machine is being laid out: a row of parity bits for each row of the register file.
static bool parity_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Parity *own = hook->own;
  own->rf = region_with_role(hook_layout_regions(layout), REGION_ROLE_REGISTERS);
  if (own->rf == REGION_NONE) return diags_add(diags, NULL, 0, 0, "parity: this machine has no register file");
  const Region rf = hook_layout_regions(layout)->items[own->rf]; // a copy: adding a structure moves the table
  if ((rf.flags & REGION_TRACED) == 0 || rf.units != WARP_LANES || rf.bits != 32)
    return diags_add(diags, NULL, 0, 0, "parity: the register file of this machine is not 32 lanes of 32 bits whose accesses are told");
  Region wanted = {.name = "parity.rf",
                   .title = "parity bits, register file",
                   .unit = "entry",
                   .meaning = "a bit per lane of each register",
                   .dim_count = rf.dim_count,
                   .units = 1,
                   .bits = WARP_LANES,
                   .unit_bytes = 4};
  memcpy(wanted.dims, rf.dims, sizeof wanted.dims);
  own->bits = hook_add_region(layout, &wanted, LIFE_LAUNCH, diags); // zeroed with the registers: the parity of zeros is zero
  return own->bits != REGION_NONE;
}

Hook *parity_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  if (arguments->count > 0) {
    protect_unknown(arguments, arguments->items[0].key, NULL, 0, diags);
    return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "parity",
                 .kind = HOOK_PROTECTION,
                 .own = ARENA_NEW(arena, Parity),
                 .attach = parity_attach,
                 .read = parity_read,
                 .write = parity_write,
                 .next_cycle = UINT64_MAX};
  return hook;
}
