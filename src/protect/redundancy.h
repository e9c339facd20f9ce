// What schemes share that compute an instruction more than once and compare: a holding buffer, the comparison, the third issue, the vote.
//
// A part's results go to the buffer under their instruction's number; when the next copy of the same threads comes, it is compared
// thread by thread, whatever lanes either was on. A mismatch asks for a third issue, and the three vote per thread and register. Two orders:
// COMPARE_FIRST holds the first copy until its comparison, so that no wrong value is ever written; WRITE_FIRST writes it at once,
// and a vote writes over it. Address generation of memory instructions is compared alike; the access waits for it in both orders.
//
// A thread may also be computed by a shadow: as a guest of another warp's part before its own instruction issues, or in a second lane slot of its own
// part. The shadow's results wait in an entry of the thread's own instruction and are compared with those of the thread itself; then a mismatch
// asks for that instruction once more, and shadow, thread and repeat vote. Threads without a shadow must agree with their repeat.
//
// A third copy that reads the registers anew finds what the first has written there. So with WRITE_FIRST an instruction that overwrites a source of
// its own cannot be repaired: its mismatch ends the launch. (The machine itself keeps the operands; this is the paper's hardware.)
//
// State: per SM `entries`, taken when a part is planned and freed when all its threads have been compared. A free entry is all
// zeros. Any bits are legal: an entry that a fault made unfindable costs a third issue. Comparators and voters take no time.
#ifndef REDOUBT_PROTECT_REDUNDANCY_H
#define REDOUBT_PROTECT_REDUNDANCY_H

#include "hook/hook.h"

enum { REDUNDANCY_MOST_ENTRIES = 256 };
typedef enum RedundancyOrder { COMPARE_FIRST, WRITE_FIRST } RedundancyOrder;

typedef struct Redundancy {
  const char *tag_name, *mask_name, *rows_name; // of its structures: "dmr.tag", "dmr.mask", "dmr.rows"
  RedundancyOrder order;
  uint32_t entries;           // per SM
  uint32_t sms;               // filled in by redundancy_attach, as the rest
  uint16_t tags, words, rows; // regions
} Redundancy;

bool redundancy_attach(Redundancy *at, HookLayout *layout, Diags *diags);
// Has a result that can be computed twice: not control flow, barriers, fences and system calls, nor reads of clocks.
bool redundancy_covers(const Instr *instr);
// An entry for the instruction that is being planned. False: none is left.
bool redundancy_reserve(const Redundancy *at, const HookMachine *machine, const PlanEvent *event);
// An entry for the shadows of a warp's next instruction. False: there is one already, or none is left.
bool redundancy_expect(const Redundancy *at, const HookMachine *machine, uint32_t sm, const PartOwner *helped);
// A part's results: its shadows are kept for their threads' own results, and its threads are compared with what shadows have left for them.
// event->compared says which, for observers. False: there was nothing to be decided, and `verdict` is not set.
bool redundancy_helped(const Redundancy *at, HookMachine *machine, ResultEvent *event, Verdict *verdict);
// A copy's results: what becomes of them. Says in event->compared that all of them are compared, for observers.
Verdict redundancy_result(const Redundancy *at, HookMachine *machine, ResultEvent *event);
// The buffer's entry of a part's copies, for schemes that note something beside it; `entries` and more: there is none.
uint32_t redundancy_entry(const Redundancy *at, const HookMachine *machine, const Who *who, const Instr *instr, uint32_t part);
// Threads that stand in two lane slots of this part agree.
bool redundancy_agrees_within(const ResultEvent *event);
// Nothing is under way when a launch begins, nor of a block that has ended: what a trap or a fault left behind goes.
void redundancy_clear(const Redundancy *at, const HookMachine *machine);
void redundancy_clear_block(const Redundancy *at, const HookMachine *machine, uint32_t sm, uint32_t block_slot);

// Each thread of the part goes `by` lanes further within its turn; by at least one where the unit has several.
void redundancy_rotate(PlaceEvent *event, uint32_t by);
// So many lanes on a unit of so many: at least one, where it has several.
static inline uint32_t redundancy_shift(uint32_t by, uint32_t lanes) { return by % lanes == 0 && lanes > 1 ? 1 : by % lanes; }

#endif
