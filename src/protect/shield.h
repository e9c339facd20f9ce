// What Warped-Shield is made of, for the schemes that use it: the map of broken lanes (shield_map.c) and where threads go that
// meet them (shield_place.c). shield.c is the protection, heal.c one that finds the broken lanes itself.
#ifndef REDOUBT_PROTECT_SHIELD_H
#define REDOUBT_PROTECT_SHIELD_H

#include "protect/protect_internal.h"

enum { SHIELD_CLUSTER = 4, SHIELD_PIPES = 2, SHIELD_MOST_SPS = 32 };
#define SHIELD_NEVER UINT32_MAX

// Units with lanes, each with the structure of its outputs: unit.sp, ...
typedef enum ShieldUnitId { SHIELD_SP, SHIELD_SFU, SHIELD_FP64, SHIELD_TENSOR, SHIELD_AGU, SHIELD_UNITS } ShieldUnitId;
extern const char *const shield_unit_names[SHIELD_UNITS];

// ---- The rule --------------------------------------------------------------------------------------
typedef struct ShieldRule {
  bool shuffle; // threads go to idle lanes of their cluster
  bool deform;  // what finds none comes in a later sub-warp
  bool intersp; // the SP that needs fewer sub-warps takes the warp
  bool pool;    // both halves of a warp share a cluster's lane slots
} ShieldRule;

// How many sub-warps the part needs on a unit of so many lanes of which `healthy` are whole; SHIELD_NEVER: it cannot run there.
uint32_t shield_needs(const ShieldRule *rule, const LanePart *part, uint32_t lanes, uint32_t healthy);
// The next of them: threads that find no place are taken out. Every thread that stays is on a healthy lane of its cluster.
void shield_deal(const ShieldRule *rule, LanePart *part, uint32_t lanes, uint32_t healthy);

// ---- The map ---------------------------------------------------------------------------------------
typedef struct ShieldUnit {
  uint16_t output; // structure of its outputs; REGION_NONE: the machine has no such unit
  uint16_t map;    // structure of its map: a row for each row of outputs and each pipe, a bit for each lane; 1: broken
  uint32_t lanes, rows;
  uint32_t *given; // what the map holds at first
} ShieldUnit;

typedef struct Shield {
  const char *name; // of the protection: its structures are NAME.sp, ...
  Arena *arena;
  ShieldRule rule;
  bool retire;                // SMs that cannot run every warp get no blocks
  uint32_t pipes;             // 2: integer and floating-point units of a lane are mapped apart
  uint32_t crossbar, control; // cycles
  const char *map;            // as it was given; NULL: empty
  uint64_t seed, density, most;
  uint32_t where; // bit for each unit that patterns break
  uint32_t sms, sps;
  ShieldUnit unit[SHIELD_UNITS];
} Shield;

extern const char *const shield_options[];
extern const uint32_t shield_option_count;
// An option of the scheme. False: it is none of these, or (with a diagnostic) it is wrong.
bool shield_option(Shield *shield, const ProtectArguments *arguments, const ProtectArgument *argument, bool *good, Diags *diags);
Shield shield_make(const char *name, Arena *arena); // nothing is broken, no technique is chosen
void shield_choose(Shield *shield);                 // all techniques, if none was chosen

bool shield_attach(Shield *shield, HookLayout *layout, Diags *diags); // structures of the map; refuses maps that leave too little
void shield_begin(const Shield *shield, const HookMachine *machine);  // the map as it was given goes into the block
// Lanes that are broken, as the map in the block says.
uint32_t shield_broken(const Shield *shield, const HookMachine *machine, ShieldUnitId unit, uint32_t row, uint32_t pipe);
void shield_break(const Shield *shield, const HookMachine *machine, ShieldUnitId unit, uint32_t row, uint32_t pipe, uint32_t lane,
                  bool is_broken);
// Can every warp run on the SM?
bool shield_sm_is_usable(const Shield *shield, const HookMachine *machine, uint32_t sm);

// ---- Placing ---------------------------------------------------------------------------------------
ShieldUnitId shield_unit_of(const Instr *instr);
static inline uint32_t shield_pipe_of(const Shield *shield, const Instr *instr) {
  return shield->pipes > 1 && op_info[instr->op].unit == UNIT_FP32 ? 1 : 0;
}
// Puts the part of the event on healthy lanes, on the SP that fits. False: there is no way.
bool shield_place(const Shield *shield, const HookMachine *machine, PlaceEvent *event);
// A further copy of a part, whose lane slots are those of the copy before: each thread goes to another healthy lane of its turn, of whatever cluster, that is
// none of `avoid` (bits, for each lane slot as offered): `by` lanes on, or the next that is free. Those that find none are left out, unless the part is whole. False: there is no way.
bool shield_place_apart(const Shield *shield, const HookMachine *machine, PlaceEvent *event, uint32_t by, const uint32_t avoid[PART_SLOTS]);
// No lane is broken that the part could meet.
bool shield_is_clear(const Shield *shield, const HookMachine *machine, const PlaceEvent *event);

#endif
