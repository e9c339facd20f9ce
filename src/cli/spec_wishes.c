// The machine that --machine and --set ask for.
#include "cli/cli.h"

bool key_value_split(KeyValue *pair, Arena *arena, const char *text) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) return false;
  *pair = (KeyValue){arena_copy_text(arena, text, (size_t)(equals - text)), equals + 1};
  return true;
}

bool option_setting(const OptionUse *use) {
  SpecWishes *wishes = option_field(use);
  return key_value_split(VEC_PUSH(&wishes->settings, use->arena), use->arena, use->text) || option_wrong(use, "write NAME=VALUE");
}

bool spec_wishes_load(Spec *spec, Arena *arena, const SpecWishes *wishes, Diags *diags) {
  bool ok = spec_load(spec, arena, wishes->machine, diags);
  for (uint32_t i = 0; ok && i < wishes->settings.count; i++) {
    ok = spec_set(spec, wishes->settings.items[i].key, wishes->settings.items[i].value, NULL, 0, diags);
  }
  return ok && spec_check(spec, NULL, diags);
}

void spec_say_model(const Spec *spec, bool quiet) {
  if (spec->model_is_named) return;
  message_note(quiet, "machine '%s' names no model: the functional machine was taken, which has no time; another: [machine] model = simt",
               spec->machine);
}
