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

// "places": told of places taken and released too, of which there are many.
Hook *null_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  static const char *const known[] = {"places"};
  bool places = arguments->count == 1 && strcmp(arguments->items[0].key, known[0]) == 0 && arguments->items[0].value == NULL;
  if (arguments->count > 0 && !places) {
    protect_unknown(arguments, arguments->items[0].key, known, COUNT_OF(known), diags);
    return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "null", .kind = HOOK_PROTECTION, .next_cycle = UINT64_MAX};
#define EVENT(name, ID, Event, direction, verdicts, moment) hook->name = null_##name;
#define MOMENT(name, ID, moment) hook->name = null_##name;
#include "hook/hook.def"
#undef EVENT
#undef MOMENT
  if (!places) hook->take = hook->release = NULL;
  return hook;
}
