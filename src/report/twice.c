// Campaigns with --twice: the host computes all of it twice, so it stands among the arguments of the program. For whoever reads a report it is a protection:
// named as one, and compared with a campaign without it.
#include "report/report_internal.h"

static const char KEY[] = "twice=";

// The line of the arguments that says it; NULL: there is none.
static const char *twice_line(const char *arguments) {
  for (const char *line = arguments; line != NULL && *line != '\0';) {
    if (strncmp(line, KEY, sizeof KEY - 1) == 0) return line;
    line = strchr(line, '\n');
    if (line != NULL) line++;
  }
  return NULL;
}

const JournalMeta *report_meta(const JournalMeta *from, Arena *arena) {
  const char *line = twice_line(from->arguments);
  if (line == NULL) return from;
  JournalMeta *meta = ARENA_NEW(arena, JournalMeta);
  const char *way = line + sizeof KEY - 1;
  int before = (int)(line - from->arguments), length = (int)strcspn(way, "\n");
  const char *after = way[length] == '\n' ? way + length + 1 : way + length;
  bool is_alone = strcmp(from->protection, "none") == 0;
  *meta = *from;
  meta->protection = arena_format(arena, "%s%s--twice %.*s", is_alone ? "" : from->protection, is_alone ? "" : " ", length, way);
  meta->arguments = arena_format(arena, "%.*s%s", before, from->arguments, after);
  return meta;
}

uint32_t report_boards(const Report *report) {
  const char *line = twice_line(journal_meta(report->journal)->arguments);
  return line != NULL && strcspn(line, "\n") == strlen("twice=boards") && strncmp(line, "twice=boards", strlen("twice=boards")) == 0 ? 2
                                                                                                                                     : 1;
}

uint64_t report_time(const Report *report) {
  if (report_boards(report) == 1) return report->cycles;
  uint64_t longest = 0;
  for (uint32_t i = 0; i < report->launches.count; i++) longest = max_u64(longest, report->launches.items[i].cycles);
  return longest;
}

double report_scheme_bits(const Report *report) {
  double own = report_note(report, NOTE_SCHEME_BITS), board = report_note(report, NOTE_CHIP_BITS) + own;
  return own + (report_boards(report) - 1) * board;
}
