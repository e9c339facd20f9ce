// The commands of a study's cells, looked at before the first of them runs: a slip in the last of them shall not cost hours.
#include "cli/campaign.h"
#include "cli/cli.h"
#include "cli/study.h"

// Words that options_parse may put in another order.
static char **words_of(const StudyCell *cell, Arena *arena) {
  char **words = ARENA_ARRAY(arena, char *, cell->words.count + 1);
  for (uint32_t i = 0; i < cell->words.count; i++) words[i] = arena_copy_text(arena, cell->words.items[i], strlen(cell->words.items[i]));
  return words;
}

static bool can_run(const RunOptions *options, const char *command) {
  Diags diags = {0};
  Attachments attachments = {0};
  AttachmentWishes wishes = {.protections = options->wishes.protections};
  bool is_one = options->application == NULL && options->target != NULL && !is_workload_list(options->target);
  if (is_one && run_check_target(options, command) != EXIT_OK) return false;
  bool good = attachments_open(&attachments, &wishes, &diags);
  good = attachments_close(&attachments, &diags) && good;
  if (!good) message_diags(&diags);
  return good;
}

// False, after a message: the command would end with bad usage.
static bool cell_can_run(const StudyCell *cell) {
  Arena *arena = arena_new();
  CampaignRun *run = ARENA_NEW(arena, CampaignRun);
  bool is_run = cell->part->section == SECTION_RUN;
  const Command *command = is_run ? &command_run : &command_campaign;
  Operands operands;
  run->arena = arena;
  run_options_default(&run->target);
  if (!is_run) run->target.machine.machine = NULL;
  bool good = options_parse(command, run, arena, (int)cell->words.count, words_of(cell, arena), &operands);
  good = good && (is_run ? run_options_complete(&run->target, &operands, arena) : campaign_complete(run, &operands));
  good = good && can_run(&run->target, command->name);
  arena_free(arena);
  return good;
}

bool cells_can_run(const StudyFile *study, const StudyCells *cells) {
  const StudyPart *bad = NULL; // one line for each section is enough
  bool good = true;
  for (uint32_t i = 0; i < cells->items.count; i++) {
    const StudyCell *cell = &cells->items.items[i];
    if (cell->part == bad || cell_can_run(cell)) continue;
    bad = cell->part;
    good = false;
    Diags diags = {0};
    Text command = {0};
    study_command(cell, &command);
    diags_add(&diags, study->path, bad->line, 0, "[%s %s] cannot be run: %s", study_section_names[bad->section], bad->name, command.at);
    text_free(&command);
    message_diags(&diags);
  }
  return good;
}
