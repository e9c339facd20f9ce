// Names of actions, as messages have them.
#include "hook/action.h"

const char *const action_names[ACTION_KINDS] = {
    [ACTION_NONE] = "nothing",          [ACTION_PREFETCH] = "prefetch",       [ACTION_DROP] = "drop stores",
    [ACTION_MIRROR] = "mirror a block", [ACTION_ABANDON] = "abandon a block", [ACTION_REDISPATCH] = "redispatch a block",
    [ACTION_COPY] = "copy a block",     [ACTION_FENCE] = "fence an SM",       [ACTION_HOLD] = "hold stores of a block",
};
