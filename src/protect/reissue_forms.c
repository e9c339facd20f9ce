// Reissue has two forms: of points, on machines with a rasteriser (reissue.c), and of blocks, on machines that can hold stores (reissue_blocks.c).
// Which one serves is asked of what the machine offers. Until then the options decide.
#include "protect/protect_internal.h"

typedef struct Forms {
  Hook hook; // first: `fit` finds the rest by it
  ProtectArguments arguments;
  Arena *arena;
  bool is_of_blocks;
} Forms;

static bool is_of_points(const ProtectArguments *arguments) {
  static const char *const options[] = {"toggle", "apart", "pairs", "quad", "geometry", "copies", "off", "entries", "points"};
  for (uint32_t i = 0; i < arguments->count * COUNT_OF(options); i++) {
    if (strcmp(arguments->items[i / COUNT_OF(options)].key, options[i % COUNT_OF(options)]) == 0) return true;
  }
  return false;
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
  return take(forms, !is_of_points(arguments), diags) ? &forms->hook : NULL;
}
