// The FlexGripPlus machine as others see it. So far it runs alone (g80.h): no device can be made with it.
#include "machine/machines.h"

static uint32_t abilities(const Spec *spec) {
  (void)spec;
  return 0;
}

static Machine *make(const Spec *spec, const HookChain *hooks, Diags *diags) {
  (void)hooks;
  diags_add(diags, NULL, 0, 0, "machine '%s' runs G80 machine code: name a FILE.sass or FILE.hex", spec->machine);
  return NULL;
}

const MachineKind g80_machine = {.name = "flexgrip", .form = FORM_G80, .abilities = abilities, .make = make};
