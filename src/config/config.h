// Parameters of a machine. config.def declares each in one row; a machine file (machines/*.ini)
// or --set key=value gives values; the result is one immutable Spec.
#ifndef REDOUBT_CONFIG_H
#define REDOUBT_CONFIG_H

#include "base/base.h"

// PARAM_U64(section, name, default, least, most, unit, help); PARAM_CHOICE takes "a|b|c" and
// stores the index. Key as users write it: section.name.
typedef struct Spec {
  const char *machine; // its name: the file's stem
  bool model_is_named; // somebody has said machine.model: the machine file, or --set
#define PARAM_U64(section, name, initial, least, most, unit, help) uint64_t section##_##name;
#define PARAM_CHOICE(section, name, initial, choices, help) uint32_t section##_##name;
#include "config/config.def"
#undef PARAM_U64
#undef PARAM_CHOICE
} Spec;

uint64_t spec_granule(const Spec *spec); // memory.granule as it is meant: bytes

typedef enum RegisterSource { REGISTERS_OURS, REGISTERS_ESTIMATE, REGISTERS_GIVEN } RegisterSource; // sm.register_source
typedef enum BankLayout { BANKS_BY_ROW, BANKS_BY_WARP, BANKS_OF_SUBCORES } BankLayout;              // collector.layout
enum { MODEL_FUNCTIONAL, MODEL_SIMT, MODEL_FLEXGRIP, MODEL_FRAGMENT }; // machine.model: the order of its choices

typedef struct ParamInfo {
  const char *key, *unit, *help;
  const char *choices; // NULL for numbers
  uint64_t initial, least, most;
} ParamInfo;
extern const ParamInfo param_info[];
extern const uint32_t param_count;

void spec_default(Spec *spec);
// A name from the built-in machines, or a path to an .ini file. Unknown keys and values out of
// range are errors with file, line and column, and the nearest key.
bool spec_load(Spec *spec, Arena *arena, const char *name_or_path, Diags *diags);
bool spec_set(Spec *spec, const char *key, const char *value, const char *file, int line, Diags *diags);
bool spec_check(const Spec *spec, const char *file, Diags *diags); // relations between parameters; after spec_set
uint64_t spec_get(const Spec *spec, uint32_t param);
void params_markdown(Text *out); // docs/parameters.md

// Machines that are built in: the files of machines/, embedded.
typedef struct BuiltinMachine {
  const char *name, *text;
} BuiltinMachine;
extern const BuiltinMachine builtin_machines[];
extern const uint32_t builtin_machine_count;

#endif
