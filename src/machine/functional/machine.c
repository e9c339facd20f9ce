// The functional machine as others see it. It has no time: a launch is carried out as a whole when it is run, and nothing is left of it.
#include "machine/machines.h"

typedef struct FunctionalMachine {
  Machine base;
  Arena *arena;
  const MachineEnvironment *environment;
  const Launch *launch;
  Stats stats;
  Trap trap;
} FunctionalMachine;

static FunctionalMachine *own(Machine *machine) { return (FunctionalMachine *)machine; }

static uint32_t abilities(const Spec *spec) {
  (void)spec;
  return MACHINE_IS_WATCHED;
}

static Machine *make(const Spec *spec, const HookChain *hooks, Diags *diags) {
  (void)spec, (void)hooks, (void)diags;
  Arena *arena = arena_new();
  FunctionalMachine *m = ARENA_NEW(arena, FunctionalMachine);
  *m = (FunctionalMachine){.base.kind = &functional_machine, .arena = arena};
  return &m->base;
}

static void free_machine(Machine *machine) { arena_free(own(machine)->arena); }

static void begin(Machine *machine, const MachineEnvironment *environment, const Launch *launch) {
  FunctionalMachine *m = own(machine);
  m->environment = environment;
  m->launch = launch;
  m->stats = (Stats){0};
  m->trap = (Trap){0};
}

static bool run(Machine *machine, uint64_t until) {
  FunctionalMachine *m = own(machine);
  (void)until;
  functional_run(m->environment, m->launch, &m->stats, &m->trap);
  return true;
}

static void end(Machine *machine, Stats *stats, Trap *trap) {
  *stats = own(machine)->stats;
  *trap = own(machine)->trap;
}

const MachineKind functional_machine = {.name = "functional",
                                        .form = FORM_REDOUBT,
                                        .abilities = abilities,
                                        .make = make,
                                        .free = free_machine,
                                        .begin = begin,
                                        .run = run,
                                        .end = end};
