// What ACE analysis found, from its journal: tables for people, CSV, JSON, a page.
#include "cli/avf.h"

#include "cli/reading.h"
#include "cli/screen.h"

bool avf_to_folder(const AvfShown *shown) { return shown->csv != NULL && is_folder(shown->csv); }

const char *avf_table_path(const AvfShown *shown, uint32_t table) {
  return arena_format(shown->files->arena, "%s/%s.csv", shown->csv, avf_tables[table]);
}

static bool write_file(const AvfShown *shown, const char *path, Text *text, bool good, const Journal *journal, Diags *diags) {
  good = good ? out_text(shown->files, path, text, diags) : journal_damaged(journal, diags);
  text_free(text);
  return good;
}

// Into a file, or to the terminal, the structures; into a folder all tables.
static bool write_tables(const AvfShown *shown, const Journal *journal, Diags *diags) {
  bool to_folder = avf_to_folder(shown), good = true;
  for (uint32_t i = 0; i < (to_folder ? AVF_TABLES : 1) && good; i++) {
    Text text = {0};
    bool whole = avf_csv(journal, (AvfTable)i, &text);
    good = write_file(shown, to_folder ? avf_table_path(shown, i) : shown->csv, &text, whole, journal, diags);
  }
  return good;
}

bool avf_show(const AvfShown *shown, const Journal *journal, Diags *diags) {
  Text text = {0}, json = {0}, page = {0};
  bool is_quiet = shown->page != NULL || shown->has_csv || shown->has_json, good = true;
  if (!is_quiet) {
    good = avf_text(journal, &text) || journal_damaged(journal, diags);
    if (good) screen_print(text.at);
    text_free(&text);
  }
  if (good && shown->has_csv) good = write_tables(shown, journal, diags);
  if (good && shown->has_json) {
    bool whole = avf_json(journal, &json);
    good = write_file(shown, shown->json, &json, whole, journal, diags);
  }
  if (good && shown->page != NULL) {
    bool whole = avf_page(journal, &page);
    good = write_file(shown, shown->page, &page, whole, journal, diags);
  }
  return good;
}

bool avf_show_two(const Journal *a, const Journal *b, Diags *diags) {
  Text text = {0};
  bool good = avf_compare(a, b, &text) || journal_damaged(a, diags);
  if (good) screen_print(text.at);
  text_free(&text);
  return good;
}
