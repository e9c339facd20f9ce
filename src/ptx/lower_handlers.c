// Instructions that need more than their row says, by base opcode. In the order of strcmp, for the search.
#include "ptx/lower.h"

static const HandlerEntry handlers[] = {
    {"add", lower_add},
    {"applypriority", lower_hint},
    {"atom", lower_atom},
    {"bar", lower_bar},
    {"barrier", lower_bar},
    {"bfi", lower_bfi},
    {"bra", lower_bra},
    {"brx", lower_brx},
    {"call", lower_call},
    {"cp", lower_cp},
    {"createpolicy", lower_createpolicy},
    {"cvt", lower_cvt},
    {"cvta", lower_cvta},
    {"discard", lower_hint},
    {"elect", lower_members},
    {"exit", lower_exit},
    {"fence", lower_fence},
    {"fma", lower_arithmetic},
    {"getctarank", lower_getctarank},
    {"griddepcontrol", lower_hint},
    {"isspacep", lower_isspacep},
    {"ld", lower_load},
    {"ldmatrix", lower_matrix},
    {"ldu", lower_load},
    {"lop3", lower_lop3},
    {"mapa", lower_mapa},
    {"match", lower_members},
    {"max", lower_extreme},
    {"mbarrier", lower_mbarrier},
    {"membar", lower_fence},
    {"min", lower_extreme},
    {"mma", lower_matrix},
    {"mov", lower_mov},
    {"movmatrix", lower_matrix},
    {"mul", lower_arithmetic},
    {"pmevent", lower_hint},
    {"prefetch", lower_hint},
    {"prefetchu", lower_hint},
    {"red", lower_red},
    {"redux", lower_members},
    {"ret", lower_ret},
    {"set", lower_set},
    {"setmaxnreg", lower_hint},
    {"setp", lower_setp},
    {"shfl", lower_shfl},
    {"st", lower_store},
    {"stmatrix", lower_matrix},
    {"sub", lower_arithmetic},
    {"suld", lower_texture},
    {"suq", lower_texture},
    {"sured", lower_texture},
    {"sust", lower_texture},
    {"tex", lower_texture},
    {"tld4", lower_texture},
    {"trap", lower_trap},
    {"txq", lower_texture},
    {"vabsdiff", lower_video},
    {"vabsdiff2", lower_video},
    {"vabsdiff4", lower_video},
    {"vadd", lower_video},
    {"vadd2", lower_video},
    {"vadd4", lower_video},
    {"vavrg2", lower_video},
    {"vavrg4", lower_video},
    {"vmad", lower_video},
    {"vmax", lower_video},
    {"vmax2", lower_video},
    {"vmax4", lower_video},
    {"vmin", lower_video},
    {"vmin2", lower_video},
    {"vmin4", lower_video},
    {"vote", lower_vote},
    {"vset", lower_video},
    {"vset2", lower_video},
    {"vset4", lower_video},
    {"vshl", lower_video},
    {"vshr", lower_video},
    {"vsub", lower_video},
    {"vsub2", lower_video},
    {"vsub4", lower_video},
    {"wmma", lower_matrix},
};

static int compare(Slice base, const char *name) {
  size_t length = strlen(name);
  int order = memcmp(base.at, name, min_u64(base.length, length));
  return order ? order : (base.length > length) - (base.length < length);
}

Handler handler_find(Slice base) {
  size_t first = 0, end = COUNT_OF(handlers);
  while (first < end) {
    size_t middle = (first + end) / 2;
    int order = compare(base, handlers[middle].base);
    if (order == 0) return handlers[middle].handler;
    if (order < 0) {
      end = middle;
    } else {
      first = middle + 1;
    }
  }
  return NULL;
}
