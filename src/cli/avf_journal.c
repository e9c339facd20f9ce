// What ACE analysis found as rows of a journal, and the faults of a campaign that it is held against.
#include "cli/avf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// ---- The campaign's faults -----------------------------------------------------------------------------

static bool same(const char *what, const char *theirs, const char *ours, const char *path, Diags *diags) {
  if (strcmp(theirs, ours) == 0) return true;
  const char *their_line = theirs, *our_line = ours; // of settings: the first that differs
  while (*their_line != '\0' && *our_line != '\0') {
    size_t a = strcspn(their_line, "\n"), b = strcspn(our_line, "\n");
    if (a != b || strncmp(their_line, our_line, a) != 0) break;
    their_line += a + (their_line[a] == '\n');
    our_line += b + (our_line[b] == '\n');
  }
  return diags_add(diags, path, 0, 0, "is of another run: its %s is '%.*s', not '%.*s'", what, (int)strcspn(their_line, "\n"), their_line,
                   (int)strcspn(our_line, "\n"), our_line);
}

static bool is_same_run(const Journal *journal, const char *path, const JournalMeta *meta, Diags *diags) {
  const JournalMeta *theirs = journal_meta(journal);
  bool good =
      same("target", theirs->target, meta->target, path, diags) && same("arguments", theirs->arguments, meta->arguments, path, diags) &&
      same("machine", theirs->machine, meta->machine, path, diags) && same("settings", theirs->settings, meta->settings, path, diags) &&
      same("protection", theirs->protection, meta->protection, path, diags);
  if (good && theirs->standing != NULL && theirs->standing[0] != '\0')
    good = diags_add(diags, path, 0, 0, "has a fault that stands in every run (--with-fault): ACE analysis is of runs without faults");
  return good;
}

static bool add_cycles(void *context, const GoldenRow *row) {
  *(uint64_t *)context += row->cycles;
  return true;
}

static bool read_fault(void *context, const FaultRow *row) {
  AvfAgainst *against = context;
  bool is_single = strcmp(row->model, "flip") == 0 && row->row >= 0 && row->bit >= 0;
  if (!is_single || row->outcome == OUTCOME_INTERNAL) {
    against->left_out++;
    return true;
  }
  uint32_t index = against->count++;
  against->faults[index] = (AvfFault){row->outcome, row->settled};
  against->ids[index] = row->id;
  against->probes[index] = (AceProbe){.site = {.region = row->region,
                                               .row = (uint64_t)row->row,
                                               .unit = row->unit < 0 ? 0 : (uint32_t)row->unit,
                                               .bit = (uint32_t)row->bit},
                                      .cycle = row->cycle,
                                      .id = index};
  return true;
}

static bool read_structure(void *context, const StructureRow *row) {
  AvfAgainst *against = context;
  if (row->drawn < 1 && against->drawn_count < COUNT_OF(against->drawn))
    against->drawn[against->drawn_count++] = (AvfDrawn){row->region, row->drawn};
  return true;
}

bool avf_against_read(AvfAgainst *against, const char *path, const JournalMeta *meta, Diags *diags) {
  *against = (AvfAgainst){.path = path};
  Journal *journal = journal_read(path, diags);
  if (journal == NULL) return false;
  bool good = is_same_run(journal, path, meta, diags);
  size_t room = good ? journal_fault_count(journal) + 1 : 1;
  against->probes = calloc(room, sizeof *against->probes);
  against->faults = calloc(room, sizeof *against->faults);
  against->ids = calloc(room, sizeof *against->ids);
  ASSERT(against->probes != NULL && against->faults != NULL && against->ids != NULL);
  if (good && (!journal_each_golden(journal, add_cycles, &against->cycles) || !journal_each_structure(journal, read_structure, against) ||
               !journal_each_fault(journal, read_fault, against)))
    good = journal_damaged(journal, diags);
  journal_close(journal);
  if (!good) avf_against_free(against);
  return good;
}

void avf_against_free(AvfAgainst *against) {
  free(against->probes);
  free(against->faults);
  free(against->ids);
  *against = (AvfAgainst){0};
}

// ---- Rows ----------------------------------------------------------------------------------------------

static Cell text(const char *value) { return (Cell){.kind = CELL_TEXT, .text = value}; }
static Cell whole(uint64_t value) { return (Cell){.kind = CELL_INTEGER, .integer = (int64_t)value}; }
static Cell real(double value) { return (Cell){.kind = CELL_REAL, .real = value}; }
#define PUT(table, ...) \
  journal_put_ace(journal, JOURNAL_ACE_##table, (const Cell[]){__VA_ARGS__}, COUNT_OF(((const Cell[]){__VA_ARGS__})), diags)

static double parts_of(const AceStructure *structure) { return structure->is_output ? ACE_PARTS : 1; }

static bool put_structures(Journal *journal, const Ace *ace, Diags *diags) {
  static const char *const told[] = {[ACE_TOLD] = "yes", [ACE_HELD_ALWAYS] = "held", [ACE_OUTSIDE] = "device memory"};
  bool good = true;
  for (uint32_t i = 0; i < ace_structure_count(ace) && good; i++) {
    const AceStructure *at = ace_structure(ace, i);
    good = PUT(STRUCTURES, text(at->name), text(told[at->told]), whole(at->is_followed), whole(at->bit_count),
               whole(at->is_output ? at->lanes : 0));
    for (uint32_t kernel = 0; kernel < ace_kernel_count(ace) && good && at->told != ACE_OUTSIDE; kernel++) {
      AceSums sums = ace_kernel_sums(ace, kernel, i);
      for (uint32_t k = 0; k < ACE_CAUSES && good; k++) {
        if (sums.bits[k] == 0 && sums.lanes[k] == 0) continue;
        good = PUT(SUMS, text(at->name), text(ace_kernel(ace, kernel)->name), text(ace_causes[k].name), whole(ace_causes[k].is_ace),
                   real((double)sums.bits[k] / parts_of(at)), real((double)sums.lanes[k] / parts_of(at)));
      }
    }
  }
  return good;
}

static bool put_launches(Journal *journal, const Ace *ace, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0; i < ace_launch_count(ace) && good; i++) {
    const AceLaunch *launch = ace_launch(ace, i);
    for (uint32_t k = 0; k < ace_structure_count(ace) && good; k++) {
      const AceStructure *at = ace_structure(ace, k);
      if (at->told == ACE_OUTSIDE) continue;
      good = PUT(LAUNCHES, whole(i + 1), text(ace_kernel(ace, launch->kernel)->name), text(at->name), whole(launch->cycles),
                 real((double)launch->bits[k] / parts_of(at)), real((double)launch->undecided[k] / parts_of(at)));
    }
  }
  return good;
}

static bool put_lines(Journal *journal, const Ace *ace, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0; i < ace_line_count(ace) && good; i++) {
    const AceLine *line = ace_line(ace, i);
    for (uint32_t k = 0; k < ace_structure_count(ace) && good; k++) {
      const AceStructure *at = ace_structure(ace, k);
      if (line->bits[k] == 0) continue;
      good = PUT(LINES, text(at->name), text(ace_kernel(ace, line->kernel)->name), whole(line->line),
                 real((double)line->bits[k] / parts_of(at)));
    }
  }
  return good;
}

static bool put_slices(Journal *journal, const Ace *ace, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0; i < ace_structure_count(ace) && good; i++) {
    const AceStructure *at = ace_structure(ace, i);
    uint64_t each, bits[ACE_SLICES];
    uint32_t count = at->told != ACE_OUTSIDE ? ace_slices(ace, i, &each, bits) : 0;
    for (uint32_t k = 0; k < count && good; k++) {
      uint64_t from = k * each, cycles = min_u64(each, ace_cycles(ace) - from);
      good = PUT(SLICES, text(at->name), whole(from), whole(cycles), real((double)bits[k] / parts_of(at)));
    }
  }
  return good;
}

// ---- Against injection -----------------------------------------------------------------------------------

typedef struct Group { // faults of a structure of which both say the same
  uint32_t structure, cause, outcome, settled;
  uint64_t first;
} Group;

static int by_group(const void *left, const void *right) {
  const Group *a = left, *b = right;
  int order = (a->structure > b->structure) - (a->structure < b->structure);
  if (order == 0) order = (a->cause > b->cause) - (a->cause < b->cause);
  if (order == 0) order = (a->outcome > b->outcome) - (a->outcome < b->outcome);
  if (order == 0) order = (a->settled > b->settled) - (a->settled < b->settled);
  return order != 0 ? order : (a->first > b->first) - (a->first < b->first);
}

static bool is_same_group(const Group *a, const Group *b) {
  return a->structure == b->structure && a->cause == b->cause && a->outcome == b->outcome && a->settled == b->settled;
}

static uint32_t structure_of(const Ace *ace, uint16_t region) {
  uint32_t i = 0;
  while (i < ace_structure_count(ace) && ace_structure(ace, i)->region != region) i++;
  return i;
}

static bool put_groups(Journal *journal, const Ace *ace, const Group *groups, uint32_t count, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0, next; i < count && good; i = next) {
    const Group *at = &groups[i];
    for (next = i + 1; next < count && is_same_group(at, &groups[next]);) next++;
    good = PUT(FAULTS, text(ace_structure(ace, at->structure)->name), text(ace_causes[at->cause].name), whole(ace_causes[at->cause].is_ace),
               text(outcome_info[at->outcome].name), text(outcome_info[at->outcome].group), text(settled_text[at->settled]),
               whole(next - i), whole(at->first));
  }
  return good;
}

static bool put_drawn(Journal *journal, const Ace *ace, const AvfAgainst *against, Diags *diags) {
  bool good = true;
  for (uint32_t i = 0; i < against->drawn_count && good; i++) {
    uint32_t structure = structure_of(ace, against->drawn[i].region);
    char key[128], value[32];
    if (structure >= ace_structure_count(ace)) continue;
    snprintf(key, sizeof key, "drawn %s", ace_structure(ace, structure)->name);
    snprintf(value, sizeof value, "%.17g", against->drawn[i].share);
    good = PUT(NOTES, text(key), text(value));
  }
  return good;
}

static bool put_against(Journal *journal, const Ace *ace, const AvfAgainst *against, Diags *diags) {
  Group *groups = calloc((size_t)against->count + 1, sizeof *groups);
  ASSERT(groups != NULL);
  uint32_t count = 0;
  uint64_t left_out = against->left_out;
  for (uint32_t i = 0; i < against->count; i++) {
    const AceProbe *probe = &against->probes[i];
    const AvfFault *fault = &against->faults[probe->id];
    uint32_t structure = structure_of(ace, probe->site.region);
    if (probe->is_known && structure < ace_structure_count(ace))
      groups[count++] =
          (Group){structure, probe->cause, fault->outcome % OUTCOME_COUNT, fault->settled % SETTLED_COUNT, against->ids[probe->id]};
    else left_out++;
  }
  qsort(groups, count, sizeof *groups, by_group);
  char number[24];
  snprintf(number, sizeof number, "%" PRIu64, left_out);
  bool good = put_groups(journal, ace, groups, count, diags) && PUT(NOTES, text("against"), text(against->path)) &&
              PUT(NOTES, text("left out"), text(number)) && put_drawn(journal, ace, against, diags);
  free(groups);
  return good;
}

// Mean shares of the register file that resident blocks hold, and that their code names.
static bool put_registers(Journal *journal, const Ace *ace, const AvfFacts *facts, Diags *diags) {
  enum { ROW_BITS = WARP_LANES * 32 };
  for (uint32_t i = 0; i < ace_structure_count(ace) && facts->needed_rows > 0; i++) {
    const AceStructure *at = ace_structure(ace, i);
    if (strcmp(at->name, "rf") != 0) continue;
    double all = (double)(at->bit_count / ROW_BITS) * (double)ace_cycles(ace);
    char used[32], needed[32];
    snprintf(used, sizeof used, "%.9g", facts->held_rows / all);
    snprintf(needed, sizeof needed, "%.9g", facts->needed_rows / all);
    return PUT(NOTES, text("rf used"), text(used)) && PUT(NOTES, text("rf needed"), text(needed));
  }
  return true;
}

bool avf_journal_fill(Journal *journal, const Ace *ace, const AvfAgainst *against, const AvfFacts *facts, Diags *diags) {
  char cycles[24], window[24];
  snprintf(cycles, sizeof cycles, "%" PRIu64, ace_cycles(ace));
  snprintf(window, sizeof window, "%u", ace_window(ace));
  bool good = journal_begin_ace(journal, diags) && put_structures(journal, ace, diags) && put_launches(journal, ace, diags) &&
              put_lines(journal, ace, diags) && put_slices(journal, ace, diags) && PUT(NOTES, text("cycles"), text(cycles)) &&
              PUT(NOTES, text("window"), text(window)) && PUT(NOTES, text("all reads count"), text(facts->all_reads_count ? "1" : "0")) &&
              put_registers(journal, ace, facts, diags);
  if (good && against->path != NULL) good = put_against(journal, ace, against, diags);
  return good && journal_commit(journal, diags);
}
