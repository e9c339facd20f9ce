// Reissue has two forms: of points, on machines with a rasteriser (reissue.c), and of blocks, on machines that can hold stores (reissue_blocks.c).
// Which one serves is asked of what the machine offers. Until then the options decide.
#include "protect/protect_internal.h"

typedef struct Forms {
  Hook hook; // first: `fit` finds the rest by it
  ProtectArguments arguments;
  Arena *arena;
  bool is_of_blocks;
} Forms;

// Options of points come first.
static const char *const options[] = {"toggle", "apart",   "pairs", "lockstep", "quad",  "geometry", "copies", "off",    "entries",
                                      "points", "scatter", "lines", "sectors",  "tries", "patience", "same",   "strict", "free"};
enum { OPTIONS_OF_POINTS = 11 };

// Its place among them; COUNT_OF(options): there is none of that name.
static uint32_t option_of(const ProtectArgument *argument) {
  uint32_t i = 0;
  while (i < COUNT_OF(options) && strcmp(argument->key, options[i]) != 0) i++;
  return i;
}

static bool is_of_points(const ProtectArguments *arguments) {
  bool any = false;
  for (uint32_t i = 0; i < arguments->count; i++) any |= option_of(&arguments->items[i]) < OPTIONS_OF_POINTS;
  return any;
}

static bool take(Forms *forms, bool of_blocks, Diags *diags);

static bool fit(Hook *hook, uint32_t offers, Diags *diags) {
  Forms *forms = (Forms *)(void *)hook;
  bool of_blocks = (offers & ACTION_BIT(ACTION_HOLD)) != 0;
  return of_blocks == forms->is_of_blocks || take(forms, of_blocks, diags);
}

static bool take(Forms *forms, bool of_blocks, Diags *diags) {
  const Hook *made = (of_blocks ? reissue_blocks_new : reissue_points_new)(&forms->arguments, forms->arena, diags);
  if (made == NULL) return false;
  forms->hook = *made;
  forms->hook.fit = fit;
  forms->is_of_blocks = of_blocks;
  return true;
}

Hook *reissue_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Forms *forms = ARENA_NEW(arena, Forms);
  *forms = (Forms){.arguments = *arguments, .arena = arena};
  for (uint32_t i = 0; i < arguments->count; i++) {
    if (option_of(&arguments->items[i]) < COUNT_OF(options)) continue;
    protect_unknown(arguments, arguments->items[i].key, options, COUNT_OF(options), diags);
    return NULL;
  }
  return take(forms, !is_of_points(arguments), diags) ? &forms->hook : NULL;
}
