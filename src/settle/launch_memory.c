// What is kept of a launch for simulations that end before it does; see follow.h.
#include "settle/follow.h"

#include <stdlib.h>

void launch_memory_free(LaunchMemory *kept) {
  free(kept->after);
  free(kept->uses);
  *kept = (LaunchMemory){0};
}

LaunchMemory launch_memory_after(Memory *memory, const Launch *launch) {
  LaunchMemory kept = {.launch = (uint32_t)launch->number,
                       .blocks = launch->grid[0] * launch->grid[1] * launch->grid[2],
                       .base = memory_base(memory),
                       .words = memory_extent(memory) / sizeof(uint32_t)};
  kept.after = malloc(kept.words * sizeof *kept.after + 1);
  ASSERT(kept.after != NULL);
  memcpy(kept.after, memory_bytes(memory), kept.words * sizeof *kept.after);
  return kept;
}

LineState launch_memory_line(const LaunchMemory *kept, uint64_t line, uint32_t block, uint32_t begun, const uint8_t *ended) {
  uint64_t first = (line - kept->base) / sizeof(uint32_t) / kept->line_words * kept->line_words;
  LineState state = LINE_DECIDED;
  for (uint64_t i = first; i < first + kept->line_words && i < kept->words; i++) {
    const KeptUse *use = &kept->uses[i];
    if (use->reader != 0 && use->reader != block + 1) return LINE_READ;
    if (use->writer != 0 && use->writer <= begun && ended[use->writer - 1] == 0) state = LINE_WAITS;
  }
  return state;
}

void launch_memory_compare(const LaunchMemory *kept, Memory *memory, const uint8_t *ended, WordList *words) {
  const uint8_t *bytes = memory_bytes(memory);
  if (ended == NULL && memcmp(bytes, kept->after, kept->words * sizeof *kept->after) == 0) return;
  for (uint64_t i = 0; i < kept->words; i++) {
    uint32_t value, writer = ended == NULL ? 0 : kept->uses[i].writer;
    memcpy(&value, bytes + i * sizeof value, sizeof value);
    bool is_to_come = writer != 0 && ended[writer - 1] == 0;
    if (value != kept->after[i] && !is_to_come) words_add(words, kept->base + i * sizeof value, value);
  }
}
