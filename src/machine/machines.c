// Which machines there are, and how their functions are called. The one place that knows them all.
#include "machine/machines.h"

static const MachineKind *const kinds[] = {[MODEL_FUNCTIONAL] = &functional_machine,
                                           [MODEL_SIMT] = &simt_machine,
                                           [MODEL_FLEXGRIP] = &g80_machine,
                                           [MODEL_FRAGMENT] = &fragment_machine};

static const MachineKind *kind_of(const Spec *spec) {
  ASSERT(spec->machine_model < COUNT_OF(kinds));
  return kinds[spec->machine_model];
}

bool machine_can(const Spec *spec, uint32_t abilities) { return (kind_of(spec)->abilities(spec) & abilities) == abilities; }
MachineAccesses machine_accesses(const Spec *spec) {
  ASSERT(machine_can(spec, MACHINE_IS_FOLLOWED));
  return kind_of(spec)->accesses(spec);
}
ProgramForm machine_form(const Spec *spec) { return kind_of(spec)->form; }

Machine *machine_new(const Spec *spec, const HookChain *hooks, Diags *diags) {
  bool is_plain = hooks == NULL || hooks->count == 0;
  if (!is_plain && !hook_chain_served(hooks, kind_of(spec)->actions, spec->machine, diags)) return NULL;
  if (is_plain || machine_can(spec, MACHINE_HAS_TIME)) return kind_of(spec)->make(spec, hooks, diags);
  diags_add(diags, NULL, 0, 0, "machine '%s' has no time: nothing can be attached to it", spec->machine);
  return NULL;
}

void machine_free(Machine *machine) {
  if (machine != NULL) machine->kind->free(machine);
}

bool machine_admits(const Machine *machine, const Launch *launch, Diags *diags) {
  return machine->kind->admits == NULL || machine->kind->admits(machine, launch, diags);
}

void machine_begin(Machine *machine, const MachineEnvironment *environment, const Launch *launch) {
  machine->kind->begin(machine, environment, launch);
}

bool machine_run(Machine *machine, uint64_t until) { return machine->kind->run(machine, until); }
void machine_end(Machine *machine, Stats *stats, Trap *trap) { machine->kind->end(machine, stats, trap); }
uint64_t machine_now(const Machine *machine) { return machine->kind->now(machine); }
const RegionTable *machine_regions(const Machine *machine) { return machine->kind->regions(machine); }
uint8_t *machine_block(Machine *machine) { return machine->kind->block(machine); }

Machine *machine_clone(const Machine *machine, Memory *memory, const HookChain *given) {
  return machine->kind->clone(machine, memory, given);
}

void machine_copy(Machine *clone, const Machine *machine) {
  ASSERT(clone->kind == machine->kind);
  clone->kind->copy(clone, machine);
  clone->would_print = false;
}

bool machine_would_print(const Machine *clone) { return clone->would_print; }

const Trap *machine_trap(const Machine *machine) { return machine->kind->trap(machine); }
bool machine_save(Machine *machine, const char *path, Diags *diags) { return machine->kind->save(machine, path, diags); }
bool machine_load(Machine *machine, const char *path, Diags *diags) { return machine->kind->load(machine, path, diags); }
void machine_flush(Machine *machine) { machine->kind->flush(machine); }
void machine_move(Machine *machine) { machine->kind->move(machine); }
uint64_t machine_hash(const Machine *machine) { return machine->kind->hash(machine); }
uint64_t machine_digest(const Machine *machine) { return machine->kind->digest == NULL ? 0 : machine->kind->digest(machine); }

bool machine_diff(const Machine *a, const Machine *b, Text *out) {
  ASSERT(a->kind == b->kind);
  return a->kind->diff(a, b, out);
}
