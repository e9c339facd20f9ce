// libFuzzer entry: any text is a study, or is refused with diagnostics. Its cells are made, its SQL is prepared on empty tables; nothing runs.
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const *a_set(const char *name, Arena *arena) {
  (void)arena;
  static const char *const names[] = {"vecadd", "matmul", NULL};
  return strcmp(name, "none") == 0 ? NULL : names; // the studies that are its seeds name sets
}

static void use(const StudyFile *study, Diags *diags) {
  static const char *const columns[] = {"cycles", NULL};
  Arena *arena = arena_new();
  for (uint32_t quick = 0; quick < 2; quick++) {
    StudyChoice choice = {.quick = quick == 1, .program = 1, .set = a_set};
    StudyCells cells = {0};
    if (!study_cells(study, &choice, arena, &cells, diags)) continue;
    StudyResults *results = study_shape(study, &cells, columns, diags);
    if (results != NULL) study_results_close(results);
  }
  arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Diags diags = {0};
  char *text = malloc(size + 1);
  ASSERT(text != NULL);
  memcpy(text, data, size);
  text[size] = '\0';
  StudyFile *study = study_parse("fuzz.ini", text, &diags);
  ASSERT(study != NULL || diags.count > 0);
  if (study != NULL) {
    use(study, &diags);
    study_close(study);
  }
  free(text);
  diags_free(&diags);
  return 0;
}
