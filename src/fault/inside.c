// Faults in values inside a functional unit: of a matrix product, the products of two elements and the sums so far. The unit has, for each
// lane and step of k, one multiplier and one adder; the elements of a lane's fragment take turns on them, and so do steps that
// are `steps` apart. A transient strikes the one value that is there in its cycle, one that lasts every value that passes. What that
// makes of the result is found by making the struck elements again (isa/matrix.h); the result changes where they differ.
#include "fault/fault_internal.h"
#include "isa/matrix.h"

bool inside_has(const ResultEvent *event, uint16_t region) {
  return event->inside != NULL && (region == event->inside->product || region == event->inside->sum);
}

// The values of one element that are struck.
typedef struct Struck {
  FaultModel model;
  MatrixStage stage;
  uint32_t steps;     // of the unit
  bool is_one;        // only the value of this pass and word
  uint32_t pass;      // step / steps
  uint32_t word;      // of a value
  uint32_t masks[64]; // by step of the unit: the bits
} Struck;

static uint32_t touch(void *own, MatrixStage stage, unsigned step, unsigned word, uint32_t value) {
  const Struck *struck = own;
  uint32_t mask = struck->masks[step % struck->steps];
  if (stage != struck->stage || (struck->is_one && (struck->pass != step / struck->steps || struck->word != word))) return value;
  if (!fault_models[struck->model].permanent) return value ^ mask;
  return struck->model == FAULT_STUCK0 ? value & ~mask : value | mask;
}

// Bits of the fault that meet this lane slot, by step. False: none.
static bool find_masks(const ResultEvent *event, const Region *region, uint32_t slot, const Site *sites, uint32_t count, Struck *struck) {
  uint32_t steps = event->inside->steps;
  bool any = false;
  memset(struck->masks, 0, sizeof struck->masks);
  for (uint32_t i = 0; i < count; i++) {
    if (sites[i].row / steps != event->row || sites[i].unit != slot % region->units) continue;
    struck->masks[sites[i].row % steps % COUNT_OF(struck->masks)] |= 1u << sites[i].bit;
    any = true;
  }
  return any;
}

// Which value of a multiplier or adder is there in a cycle: elements take turns, then steps that share it, then words. False: none, since the product
// has fewer steps.
static bool choose_value(const Fault *fault, const MatrixInside *product, Struck *struck, uint32_t *element) {
  uint32_t first = (uint32_t)(fault->site.row % struck->steps), elements = product->elements;
  if (first >= product->steps) return false;
  uint32_t passes = (product->steps - first + struck->steps - 1) / struck->steps;
  uint32_t number = (uint32_t)(fault->from % (elements * passes * product->words));
  *element = number % elements;
  struck->is_one = true;
  struck->pass = number / elements % passes;
  struck->word = number / (elements * passes);
  return true;
}

static void change_element(const MatrixInside *product, ResultEvent *damaged, uint32_t slot, uint32_t element, uint64_t change) {
  uint32_t at = element * product->bits / 32;
  for (uint32_t word = 0; word < (product->bits + 31u) / 32 && at + word < damaged->row_count; word++)
    damaged->rows[(at + word) * WARP_LANES + slot] ^= (uint32_t)(change >> 32 * word) << element * product->bits % 32;
}

bool inside_damage(const RegionTable *regions, const Fault *fault, const OutputMoment *moment, const ResultEvent *event,
                   ResultEvent *damaged) {
  const Region *region = &regions->items[fault->site.region];
  const ResultInside *inside = event->inside;
  LaneOp op = {.a = inside->a, .b = inside->b, .c = inside->c, .imm = event->instr->imm};
  MatrixInside product;
  HookMachine nowhere = {.regions = regions};
  Site sites[FAULT_MAX_BITS];
  uint32_t count = fault_bits(regions, &nowhere, fault, sites), only = 0;
  Struck struck = {.model = fault->model, .steps = inside->steps};
  bool alters = false;
  struck.stage = fault->site.region == inside->product ? MATRIX_PRODUCT : MATRIX_SUM;
  if (!matrix_look_inside(event->instr->op, &op, &product)) return false;
  if (moment != NULL && !choose_value(fault, &product, &struck, &only)) return false;
  for (uint32_t slot = 0; slot < WARP_LANES; slot++) {
    if ((event->mask >> slot & 1) == 0 || (moment != NULL && slot / region->units != moment->turn)) continue;
    if (!find_masks(event, region, slot, sites, count, &struck)) continue;
    uint32_t thread = event->thread == NULL ? slot : event->thread[slot] % WARP_LANES;
    for (uint32_t element = 0; element < product.elements; element++) {
      if (moment != NULL && element != only) continue;
      uint64_t change =
          matrix_make_element(&product, thread, element, touch, &struck) ^ matrix_make_element(&product, thread, element, NULL, NULL);
      alters |= change != 0;
      if (damaged != NULL) change_element(&product, damaged, slot, element, change);
    }
  }
  return alters;
}

uint32_t inside_bits(const RegionTable *regions, const Fault *fault, const OutputMoment *moment, const ResultEvent *event,
                     ResultBit bits[FAULT_MAX_BITS]) {
  uint32_t rows[RESULT_MAX_ROWS * WARP_LANES] = {0}, found = 0;
  ResultEvent damaged = *event;
  damaged.rows = rows;
  damaged.row_count = min_u32(event->row_count, RESULT_MAX_ROWS);
  if (!inside_damage(regions, fault, moment, event, &damaged)) return 0;
  for (uint32_t i = 0; i < damaged.row_count * WARP_LANES; i++)
    for (uint32_t left = rows[i]; left != 0 && found < FAULT_MAX_BITS; left &= left - 1)
      bits[found++] = (ResultBit){.slot = i % WARP_LANES, .word = i / WARP_LANES, .bit = (uint32_t)__builtin_ctz(left)};
  return found;
}

// A thread of it is on a lane that is struck.
bool inside_meets(const RegionTable *regions, const Fault *fault, const ResultEvent *event) {
  const Region *region = &regions->items[fault->site.region];
  bool any = false;
  for (uint32_t slot = fault->site.unit; slot < WARP_LANES; slot += region->units) any |= (event->mask >> slot & 1) != 0;
  return any && fault->site.row / event->inside->steps == event->row;
}

bool inside_passes(const RegionTable *regions, const Fault *fault, const OutputMoment *moment, const ResultEvent *event) {
  const Region *region = &regions->items[fault->site.region];
  const ResultInside *inside = event->inside;
  LaneOp op = {.a = inside->a, .b = inside->b, .c = inside->c, .imm = event->instr->imm};
  MatrixInside product;
  if (fault->site.row / inside->steps != event->row || !matrix_look_inside(event->instr->op, &op, &product)) return false;
  bool any = false;
  for (uint32_t slot = fault->site.unit; slot < WARP_LANES; slot += region->units)
    any |= (event->mask >> slot & 1) != 0 && (moment == NULL || slot / region->units == moment->turn);
  return any && fault->site.row % inside->steps < product.steps;
}
