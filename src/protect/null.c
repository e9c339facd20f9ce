// The protection that is told everything and passes everything: it proves that hooks alone change nothing, and
// measures what being asked costs. Also "none", which wants nothing and so costs nothing.
#include "protect/protect_internal.h"

#define EVENT(name, ID, Event, direction, verdicts, moment)                    \
  static Verdict null_##name(Hook *hook, HookMachine *machine, Event *event) { \
    (void)hook, (void)machine, (void)event;                                    \
    return VERDICT_PASS;                                                       \
  }
#define MOMENT(name, ID, moment) \
  static void null_##name(Hook *hook, HookMachine *machine) { (void)hook, (void)machine; }
#include "hook/hook.def"
#undef EVENT
#undef MOMENT

Hook *none_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  if (arguments->count > 0) {
    protect_unknown(arguments, arguments->items[0].key, NULL, 0, diags);
    return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "none", .kind = HOOK_PROTECTION, .passes_values = true, .next_cycle = UINT64_MAX};
  return hook;
}

// Some events come with work that is theirs alone: "plan" adds those that place threads on lanes, "places" those of places
// taken and released, "decisions" what control logic decides by.
Hook *null_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  static const char *const known[] = {"plan", "places", "decisions"};
  bool has[COUNT_OF(known)] = {false};
  for (uint32_t i = 0; i < arguments->count; i++) {
    uint32_t k = 0;
    while (k < COUNT_OF(known) && (strcmp(arguments->items[i].key, known[k]) != 0 || arguments->items[i].value != NULL)) k++;
    if (k == COUNT_OF(known)) {
      protect_unknown(arguments, arguments->items[i].key, known, COUNT_OF(known), diags);
      return NULL;
    }
    has[k] = true;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "null", .kind = HOOK_PROTECTION, .next_cycle = UINT64_MAX};
#define EVENT(name, ID, Event, direction, verdicts, moment) hook->name = null_##name;
#define MOMENT(name, ID, moment) hook->name = null_##name;
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  if (!has[0]) hook->plan = NULL, hook->place = NULL, hook->home = NULL;
  if (!has[1]) hook->take = hook->release = NULL;
  if (!has[2]) hook->decide = NULL;
  return hook;
}
