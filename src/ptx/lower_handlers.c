// Instructions that need more than their row says, by base opcode.
#include "ptx/lower.h"

static const HandlerEntry handlers[] = {
    {"mov", lower_mov},   {"ld", lower_load}, {"ldu", lower_load},    {"st", lower_store},  {"cvta", lower_cvta},
    {"add", lower_add},   {"bra", lower_bra}, {"brx", lower_brx},     {"ret", lower_ret},   {"exit", lower_exit},
    {"trap", lower_trap}, {"bar", lower_bar}, {"barrier", lower_bar}, {"call", lower_call}, {"isspacep", lower_isspacep},
};

Handler handler_find(Slice base) {
  for (size_t i = 0; i < COUNT_OF(handlers); i++) {
    if (slice_is(base, handlers[i].base)) return handlers[i].handler;
  }
  return NULL;
}
