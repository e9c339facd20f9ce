// The observer: hands each event to those who keep account of it, and gives out what they found.
#include "ace/ace_internal.h"

#include <stdlib.h>

struct Ace {
  Hook hook;
  AceOptions options;
  char *structures;
  RegionTable regions; // as they were when it was attached
  bool is_open;
  AceProbe *probes;
  uint32_t probe_count;
  Tally tally;
  Flow flow;
  Cells cells;
};

// ---- Events ------------------------------------------------------------------------------------------

static bool attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Ace *ace = hook->own;
  const RegionTable *regions = hook_layout_regions(layout);
  Region *copy = malloc((regions->count + 1) * sizeof *copy);
  ASSERT(copy != NULL && !ace->is_open);
  memcpy(copy, regions->items, regions->count * sizeof *copy);
  ace->regions = *regions;
  ace->regions.items = copy;
  if (!tally_open(&ace->tally, &ace->regions, ace->structures, diags)) return false;
  tally_ask(&ace->tally, ace->probes, ace->probe_count);
  flow_open(&ace->flow, &ace->tally, layout, &ace->options);
  cells_open(&ace->cells, &ace->tally, &ace->flow);
  if (!cells_decide_any(&ace->cells)) hook->decide = NULL; // to be told of what nobody wants takes long
  if (!cells_take_any(&ace->cells)) hook->take = hook->release = NULL;
  ace->is_open = true;
  return true;
}

static bool watches(const Hook *hook, uint16_t region) {
  const Ace *ace = hook->own;
  return !ace->is_open || flow_has(&ace->flow, region) || (region < ace->regions.count && tally_wants(&ace->tally, region));
}

static Verdict on_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Ace *ace = hook->own;
  if (tally_is_new_code(&ace->tally, machine, event->kernel)) flow_decide_all(&ace->flow);
  tally_decided(&ace->tally, min_u32(flow_oldest_launch(&ace->flow), cells_oldest_launch(&ace->cells)));
  tally_launch(&ace->tally, machine, event->kernel);
  flow_launch(&ace->flow, machine);
  cells_launch(&ace->cells, machine);
  return VERDICT_PASS;
}

static Verdict on_issue(Hook *hook, HookMachine *machine, const IssueEvent *event) {
  (void)machine;
  flow_issue(&((Ace *)hook->own)->flow, event);
  return VERDICT_PASS;
}

static Verdict on_read(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Ace *ace = hook->own;
  if (flow_has(&ace->flow, event->region)) flow_read(&ace->flow, machine, event);
  else cells_read(&ace->cells, machine, event);
  return VERDICT_PASS;
}

static Verdict on_write(Hook *hook, HookMachine *machine, const CellEvent *event) {
  Ace *ace = hook->own;
  if (flow_has(&ace->flow, event->region)) flow_write(&ace->flow, machine, event);
  else cells_write(&ace->cells, machine, event);
  return VERDICT_PASS;
}

static Verdict on_result(Hook *hook, HookMachine *machine, ResultEvent *event) {
  Ace *ace = hook->own;
  unit_result(&ace->flow, machine, event);
  if (ace->flow.follows_memory) memory_addresses(&ace->flow, event);
  return VERDICT_PASS;
}

static Verdict on_take(Hook *hook, HookMachine *machine, const HoldEvent *event) {
  cells_take(&((Ace *)hook->own)->cells, machine, event);
  return VERDICT_PASS;
}

static Verdict on_release(Hook *hook, HookMachine *machine, const HoldEvent *event) {
  cells_release(&((Ace *)hook->own)->cells, machine, event);
  return VERDICT_PASS;
}

static Verdict on_decide(Hook *hook, HookMachine *machine, const DecideEvent *event) {
  cells_decide(&((Ace *)hook->own)->cells, machine, event);
  return VERDICT_PASS;
}

static Verdict on_commit(Hook *hook, HookMachine *machine, const CommitEvent *event) {
  (void)machine;
  flow_commit(&((Ace *)hook->own)->flow, event);
  return VERDICT_PASS;
}

static Verdict on_host(Hook *hook, HookMachine *machine, const HostEvent *event) {
  (void)machine;
  memory_host(&((Ace *)hook->own)->flow, event);
  return VERDICT_PASS;
}

static void on_finish(Hook *hook, HookMachine *machine) {
  Ace *ace = hook->own;
  flow_finish(&ace->flow, machine);
  cells_finish(&ace->cells, machine);
  tally_finish(&ace->tally, machine);
}

Ace *ace_new(const AceOptions *options) {
  Ace *ace = calloc(1, sizeof *ace);
  ASSERT(ace != NULL);
  ace->options = *options;
  if (options->structures != NULL) {
    ace->structures = strdup(options->structures);
    ASSERT(ace->structures != NULL);
  }
  ace->hook = (Hook){.name = "ace",
                     .kind = HOOK_OBSERVER,
                     .own = ace,
                     .attach = attach,
                     .watches = watches,
                     .launch = on_launch,
                     .issue = on_issue,
                     .read = on_read,
                     .write = on_write,
                     .result = on_result,
                     .take = on_take,
                     .release = on_release,
                     .decide = on_decide,
                     .commit = on_commit,
                     .host = on_host,
                     .finish = on_finish,
                     .next_cycle = UINT64_MAX};
  return ace;
}

void ace_free(Ace *ace) {
  if (ace == NULL) return;
  cells_close(&ace->cells);
  flow_close(&ace->flow);
  tally_close(&ace->tally);
  free((void *)(uintptr_t)ace->regions.items);
  free(ace->structures);
  free(ace);
}

void ace_end(Ace *ace, bool host_sees) {
  if (!ace->is_open || ace->tally.launch_number == 0) return;
  memory_end(&ace->flow, host_sees);
  flow_decide_all(&ace->flow);
  cells_end(&ace->cells);
  tally_decided(&ace->tally, ace->tally.launch_number + 1);
}

Hook *ace_hook(Ace *ace) { return &ace->hook; }
Tally *ace_tally(const Ace *ace) { return (Tally *)(uintptr_t)&ace->tally; }

void ace_ask(Ace *ace, AceProbe *probes, uint32_t count) {
  ace->probes = probes;
  ace->probe_count = count;
}

Ace *ace_empty(uint32_t window, bool all_reads_count) {
  Ace *ace = calloc(1, sizeof *ace);
  ASSERT(ace != NULL);
  ace->flow.window = window;
  ace->flow.all_reads_count = all_reads_count;
  return ace;
}

// ---- What was found ------------------------------------------------------------------------------------

uint32_t ace_structure_count(const Ace *ace) { return ace->tally.count; }
const AceStructure *ace_structure(const Ace *ace, uint32_t structure) { return &ace->tally.structures[structure]; }
uint32_t ace_kernel_count(const Ace *ace) { return ace->tally.kernel_count; }
const AceKernel *ace_kernel(const Ace *ace, uint32_t kernel) { return &ace->tally.kernels[kernel]; }
uint64_t ace_cycles(const Ace *ace) { return ace->tally.cycles; }
uint32_t ace_window(const Ace *ace) { return ace->flow.window; }
bool ace_all_reads_count(const Ace *ace) { return ace->flow.all_reads_count; }
uint32_t ace_launch_count(const Ace *ace) { return ace->tally.launch_count; }
const AceLaunch *ace_launch(const Ace *ace, uint32_t launch) { return &ace->tally.launches[launch]; }
uint32_t ace_line_count(const Ace *ace) { return ace->tally.line_count; }
const AceLine *ace_line(const Ace *ace, uint32_t index) { return &ace->tally.lines[index]; }

// What is left of all bit-cycles is empty.
static AceSums filled(const AceStructure *structure, const AceSums *sums, uint64_t cycles) {
  AceSums all = *sums;
  uint64_t parts = structure->is_output ? ACE_PARTS : 1;
  uint64_t bits = structure->bit_count * cycles * parts, lanes = structure->is_output ? structure->lanes * cycles * parts : 0;
  for (uint32_t k = 0; k < ACE_CAUSES; k++) {
    bits -= min_u64(bits, sums->bits[k]);
    lanes -= min_u64(lanes, sums->lanes[k]);
  }
  all.bits[ACE_EMPTY] += bits;
  all.lanes[ACE_EMPTY] += lanes;
  return all;
}

AceSums ace_kernel_sums(const Ace *ace, uint32_t kernel, uint32_t structure) {
  const AceKernel *at = &ace->tally.kernels[kernel];
  return filled(&ace->tally.structures[structure], &at->sums[structure], at->cycles);
}

AceSums ace_sums(const Ace *ace, uint32_t structure) {
  AceSums all = {{0}, {0}};
  for (uint32_t i = 0; i < ace->tally.kernel_count; i++) {
    AceSums one = ace_kernel_sums(ace, i, structure);
    for (uint32_t k = 0; k < ACE_CAUSES; k++) {
      all.bits[k] += one.bits[k];
      all.lanes[k] += one.lanes[k];
    }
  }
  return all;
}

uint32_t ace_slices(const Ace *ace, uint32_t structure, uint64_t *cycles_each, uint64_t bits[ACE_SLICES]) {
  const Slices *slices = &ace->tally.slices[structure];
  *cycles_each = ace->tally.slice;
  uint32_t count = (uint32_t)min_u64((ace->tally.cycles + ace->tally.slice - 1) / ace->tally.slice, ACE_SLICES);
  int64_t level = 0;
  for (uint32_t i = 0; i < count; i++) {
    bits[i] = (uint64_t)(slices->at[i].part + level * (int64_t)ace->tally.slice);
    level += slices->at[i].after;
  }
  return count;
}
