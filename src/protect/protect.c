// The table of protections and how their text is read: NAME or NAME:ARGUMENT,ARGUMENT with key=value or a word alone.
#include "protect/protect_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct Scheme {
  ProtectInfo info;
  const char *signs; // Hook.signs, where the scheme does not say otherwise
  Hook *(*make)(const ProtectArguments *arguments, Arena *arena, Diags *diags);
} Scheme;

static const Scheme schemes[] = {
    {{"none", "none", "no protection", "nothing", ""}, "", none_new},
    {{"null", "null[:plan,places,decisions]",
      "a hook that is told what happens (with plan: where threads go; with places: what is taken and released; with decisions: what "
      "control "
      "logic decides by) and changes nothing: what hooks alone cost",
      "nothing", ""},
     "",
     null_new},
    {{"dmr", "dmr[:entries=N,shuffle=L]",
      "full redundancy: every warp instruction issues twice in consecutive issue slots, results are compared at write-back, "
      "a third issue and a vote repair; with shuffle the second copy runs L lanes further, so that broken lanes are found too",
      "issue slots and unit time of the copies; N (32) instructions of an SM at a time in the holding buffer, more stall; comparison and "
      "crossbar take no time",
      "Tan and Fu, RISE, PACT 2012, sections 1 and 3: its baseline"},
     "copies",
     dmr_new},
    {{"hints", "hints[:faulty=LIST,use=off,types=LIST,...]",
      "faulty SMs (1+5+27, each: one of every TPC, none) run the blocks of a healthy SM of their TPC without effect, and warm its caches "
      "by hints; "
      "with use=off they are switched off. docs/hints.md has all options",
      "what mirrors and prefetches take of caches, network and DRAM; a queue of 2,048 hints of 104 bits a TPC, two registers and a counter "
      "per type an "
      "SM; resynchronising stops both blocks",
      "Durytskyy, Zahran and Karri, ICCD 2011"},
     "hints_mirrors",
     hints_new},
    {{"heal", "heal[:threshold=N,window=CYCLES,trials=N,rotate=L,entries=N,detect=dmr|rise,map=MAP,...]",
      "finds broken lanes by itself and goes on without them: every instruction twice on different lanes, a third issue and a vote repair; "
      "a lane "
      "that is outvoted N (4) times in a window (1024 cycles) goes into a map, and shield keeps threads away from it; what it would "
      "compute is "
      "looked at for N (16) further windows: permanent, intermittent, or back into use. With detect=rise only idle time is used to find "
      "lanes: cheaper, but wrong values are written until a lane is found",
      "that of dmr (or of rise) and of shield; votes take no time", ""},
     "copies redundancy_compared",
     heal_new},
    {{"parity", "parity", "parity on the register file: an odd number of wrong bits in a register's lane is detected at the next read",
      "one bit per 32, stored and itself struck by faults; encoding and checking take no time",
      "Hamming, Error Detecting and Error Correcting Codes, Bell System Technical Journal 29(2), 1950, section 3"},
     "check_bits",
     parity_new},
    {{"reissue", "reissue[:OPTION,...]",
      "everything is computed twice, compared before it counts, and issued again where it differs. On machines with a rasteriser: every "
      "point; "
      "raster operations compare, the domain buffer issues again; options toggle, apart, pairs, quad, geometry, copies=N, off, scatter, "
      "entries=N, points=N (docs/fragment.md). On SIMT machines: every block; its stores are held until both copies agree; options "
      "lines=N, "
      "sectors=N, "
      "tries=N, patience=N, same, free, strict; kernels that cannot run twice are named and not covered (docs/reissue.md)",
      "the whole machine's time for the copies; full/empty bits, domain buffer and path, or held lines and comparators, all struck by "
      "faults; "
      "the comparison itself takes no time",
      "Sheaffer, Luebke and Skadron, Graphics Hardware 2007, sections 3.2, 4.1 and 6"},
     "reissue_compared reissue_blocks reissue_overflows",
     reissue_new},
    {{"rise", "rise[:all|rp|is|full|partial][,OPTION=...]",
      "idle time of the SPs spent on a second computation: of blocks whose requests waited long at a memory controller (rp), of a block of "
      "SMs "
      "that run fewer (is), both (full), of other warps' threads on lanes that a diverged warp leaves idle (partial); docs/rise.md has the "
      "options",
      "issue slots and unit time of the copies; all its counters, timers and buffers are structures that faults strike; area after the "
      "paper: 3% of a "
      "memory controller, 1% of an SM, 1% more for partial; comparison and the search for a warp take no time",
      "Tan and Fu, RISE, PACT 2012, section 3"},
     "copies redundancy_compared rise_helped",
     rise_new},
    {{"secded", "secded:STRUCTURE,... | secded:all", "single errors of a cell's unit corrected, double errors detected, at every read",
      "7 check bits per 32, 8 per 64, stored and themselves struck by faults; encoding and checking take no time",
      "Hsiao, A Class of Optimal Minimum Odd-weight-column SEC-DED Codes, IBM J. R&D 14(4), 1970"},
     "check_bits",
     secded_new},
    {{"shield", "shield[:map=MAP,shuffle,deform,intersp,...]",
      "Warped-Shield: threads on broken lanes go to idle ones of their cluster (shuffle), warps with too many threads issue as sub-warps "
      "(deform), to the SP that needs fewer of them (intersp); all three unless some are named. MAP: K-per-cluster, K+K-per-cluster (SP 0 "
      "and "
      "SP 1), random (density=PERCENT, most=K of a cluster, seed=N) or a file; where=sp+sfu+fp64+tensor+agu; units=true maps integer and "
      "floating-point units apart; pool=true lets both halves of a warp share lanes; retire=true leaves SMs out that cannot run every warp",
      "issue slots and unit time of sub-warps; crossbar=N and control=N cycles (0); a bit per lane, itself struck by faults",
      "Dweik, Abdel-Majeed and Annavaram, Warped-Shield: Tolerating Hard Faults in GPGPUs, DSN 2014"},
     "moved parts bound",
     shield_new},
    {{"twin", "twin", "every arithmetic unit twice in its core; what differs is not written, and the instruction is carried out again",
      "a second arithmetic unit in each pipeline (--set fragment.units=2) and its energy; a cycle for each repeat",
      "Sheaffer, Luebke and Skadron, Graphics Hardware 2007, Figure 1: what the paper argues against"},
     "redundancy_compared",
     twin_new},
};
const uint32_t protect_count = COUNT_OF(schemes);

const ProtectInfo *protect_info(uint32_t index) { return &schemes[index].info; }

void protections_list(Text *out) {
  for (size_t i = 0; i < COUNT_OF(schemes); i++) {
    const ProtectInfo *info = &schemes[i].info;
    text_add(out, "%-34s %s\n%-34s cost: %s\n", info->usage, info->summary, "", info->cost);
    if (info->source[0] != '\0') text_add(out, "%-34s %s\n", "", info->source);
  }
}

bool protect_number(const ProtectArguments *arguments, const ProtectArgument *argument, uint64_t least, uint64_t most, uint64_t *value,
                    Diags *diags) {
  const char *word = argument->value == NULL ? "" : argument->value;
  char *end;
  errno = 0;
  uint64_t number = strtoull(word, &end, 10);
  bool whole = word[0] >= '0' && word[0] <= '9' && *end == '\0' && errno == 0;
  if (!whole || number < least || number > most) {
    return diags_add(diags, NULL, 0, 0, "%s: %s must be a whole number from %" PRIu64 " to %" PRIu64, arguments->text, argument->key, least,
                     most);
  }
  *value = number;
  return true;
}

Region protect_cells(const CellsRow *row, const char *dim, uint32_t count) {
  return (Region){.name = row->name,
                  .title = row->title,
                  .unit = row->unit,
                  .meaning = row->meaning,
                  .dims = {{dim, count}},
                  .dim_count = 1,
                  .units = row->units,
                  .bits = row->bits,
                  .unit_bytes = 8};
}

bool protect_unknown(const ProtectArguments *arguments, const char *key, const char *const *known, uint32_t known_count, Diags *diags) {
  const char *near = text_nearest(key, known, known_count);
  if (near != NULL) return diags_add(diags, NULL, 0, 0, "%s: unknown option '%s'; did you mean '%s'?", arguments->text, key, near);
  return diags_add(diags, NULL, 0, 0, "%s: unknown option '%s'", arguments->text, key);
}

static const Scheme *find_scheme(const char *text, const char *name, Diags *diags) {
  const char *names[COUNT_OF(schemes)];
  for (size_t i = 0; i < COUNT_OF(schemes); i++) {
    names[i] = schemes[i].info.name;
    if (strcmp(names[i], name) == 0) return &schemes[i];
  }
  const char *near = text_nearest(name, names, COUNT_OF(names));
  if (strpbrk(name, ",+") != NULL) {
    diags_add(diags, NULL, 0, 0, "%s: there is no protection '%s'; for several, repeat --protect", text, name);
  } else if (near != NULL) {
    diags_add(diags, NULL, 0, 0, "%s: there is no protection '%s'; did you mean '%s'?", text, name, near);
  } else {
    diags_add(diags, NULL, 0, 0, "%s: there is no protection '%s'; 'redoubt list protections' shows all", text, name);
  }
  return NULL;
}

Hook *protect_new(const char *text, Arena *arena, Diags *diags) {
  size_t name_length = strcspn(text, ":");
  const Scheme *scheme = find_scheme(text, arena_copy_text(arena, text, name_length), diags);
  if (scheme == NULL) return NULL;
  VEC(ProtectArgument) items = {0};
  const char *rest = text[name_length] == ':' ? text + name_length + 1 : text + name_length;
  while (*rest != '\0') {
    size_t length = strcspn(rest, ",");
    char *word = arena_copy_text(arena, rest, length);
    char *equals = strchr(word, '=');
    if (equals != NULL) *equals = '\0';
    *VEC_PUSH(&items, arena) = (ProtectArgument){word, equals == NULL ? NULL : equals + 1};
    rest += length;
    if (*rest == ',') rest++;
  }
  ProtectArguments arguments = {arena_copy_text(arena, text, strlen(text)), items.items, items.count};
  Hook *hook = scheme->make(&arguments, arena, diags);
  // Machines would not clone it, and would not obey it; nor let it change anything in `cycle`.
  ASSERT(hook == NULL || (hook->kind == HOOK_PROTECTION && !hook->only_looks));
  if (hook != NULL && hook->signs == NULL) hook->signs = scheme->signs;
  return hook;
}
