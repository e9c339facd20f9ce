// redoubt reproduce STUDY: a published study, run again, with every number beside the published one.
#include "cli/cli.h"
#include "study/study.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct ReproduceWishes {
  const char *study, *csv, *page;
  bool beyond, help, faults_given;
  StudyOptions options;
} ReproduceWishes;

static bool take_number(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
  char *end = NULL;
  errno = 0;
  *value = strtoull(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && text[0] != '-' && *value >= least && *value <= most;
}

static bool take_option(ReproduceWishes *wishes, const char *option, const char *value) {
  uint64_t number = 0;
  bool good = true;
  if (strcmp(option, "--csv") == 0) {
    wishes->csv = value;
  } else if (strcmp(option, "-o") == 0) {
    wishes->page = value;
  } else if (strcmp(option, "-j") == 0) {
    good = take_number(value, 1, 256, &number);
    wishes->options.workers = (uint32_t)number;
  } else if (strcmp(option, "--seed") == 0) {
    good = take_number(value, 0, UINT64_MAX, &wishes->options.seed);
  } else if (strcmp(option, "--faults") == 0) {
    good = take_number(value, 1, 1000000, &number);
    wishes->options.faults = (uint32_t)number;
    wishes->faults_given = true;
  } else if (strcmp(option, "--confidence") == 0) {
    char *end = NULL;
    wishes->options.confidence = strtod(value, &end);
    good = *end == '\0' && wishes->options.confidence > 0 && wishes->options.confidence < 1;
  } else {
    message_usage("reproduce", "unknown option '%s'", option);
    return false;
  }
  if (!good) message_usage("reproduce", "%s does not take '%s'", option, value);
  return good;
}

// "--csv=FOLDER" and "-j2": option and value in one word. False: the word is not so.
static bool split_word(const char *word, char option[16], const char **value) {
  const char *equals = strchr(word, '=');
  size_t length = strncmp(word, "--", 2) == 0 && equals != NULL ? (size_t)(equals - word) : 2;
  if (word[length] == '\0' || (length == 2 && strncmp(word, "--", 2) == 0) || length >= 16) return false;
  memcpy(option, word, length);
  option[length] = '\0';
  *value = word + length + (word[length] == '=' ? 1 : 0);
  return true;
}

static bool parse(ReproduceWishes *wishes, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char option[16];
    const char *value;
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      wishes->help = true;
    } else if (strcmp(argv[i], "--beyond") == 0) {
      wishes->beyond = true;
    } else if (argv[i][0] != '-') {
      if (wishes->study != NULL) return message_usage("reproduce", "one study at a time: '%s' or '%s'?", wishes->study, argv[i]), false;
      wishes->study = argv[i];
    } else if (split_word(argv[i], option, &value)) {
      if (!take_option(wishes, option, value)) return false;
    } else if (i + 1 == argc) {
      return message_usage("reproduce", "%s needs a value", argv[i]), false;
    } else {
      if (!take_option(wishes, argv[i], argv[i + 1])) return false;
      i++;
    }
  }
  return true;
}

// ---- Files -----------------------------------------------------------------------------------------

static bool write_file(const char *path, const Text *text, Diags *diags) {
  FILE *file = fopen(path, "wb");
  bool good = file != NULL && fwrite(text->at, 1, text->length, file) == text->length;
  if (file != NULL && fclose(file) != 0) good = false;
  return good || diags_add(diags, path, 0, 0, "cannot be written: %s", strerror(errno));
}

static bool make_folder(const char *folder, Diags *diags) {
  if (mkdir(folder, 0777) == 0 || errno == EEXIST) return true;
  return diags_add(diags, folder, 0, 0, "cannot be made: %s", strerror(errno));
}

static bool write_in(const char *folder, const char *name, const Text *text, Diags *diags) {
  Arena *arena = arena_new();
  bool good = write_file(arena_format(arena, "%s/%s", folder, name), text, diags);
  arena_free(arena);
  return good;
}

static bool write_tables(const Study *study, const char *folder, Diags *diags) {
  if (!make_folder(folder, diags)) return false;
  bool good = true;
  for (uint32_t i = 0; i < study_table_count && good; i++) {
    Text text = {0};
    study_tables[i].write(study, &text);
    good = write_in(folder, study_tables[i].file, &text, diags);
    text_free(&text);
  }
  return good;
}

// ---- The command -----------------------------------------------------------------------------------

static bool reproduce(const ReproduceWishes *wishes, Diags *diags) {
  double began = host_seconds();
  Study *study = study_new(&wishes->options, diags);
  if (study == NULL) return false;
  Text text = {0};
  study_text(study, &text);
  fputs(text.at, stdout);
  printf("\n%.1f s with %u processes\n", host_seconds() - began, wishes->options.workers);
  text_free(&text);
  bool good = wishes->csv == NULL || write_tables(study, wishes->csv, diags);
  if (good && wishes->page != NULL) {
    reproduce_page(study, &text);
    good = write_file(wishes->page, &text, diags);
    text_free(&text);
  }
  study_free(study);
  return good;
}

static bool reproduce_beyond(const ReproduceWishes *wishes, Diags *diags) {
  double began = host_seconds();
  Text text = {0}, csv = {0};
  bool good = study_beyond(&wishes->options, &text, &csv, diags);
  if (good) {
    fputs(text.at, stdout);
    printf("\n%.1f s with %u processes\n", host_seconds() - began, wishes->options.workers);
  }
  if (good && wishes->csv != NULL) good = make_folder(wishes->csv, diags) && write_in(wishes->csv, "beyond.csv", &csv, diags);
  text_free(&text);
  text_free(&csv);
  return good;
}

int command_reproduce(int argc, char **argv) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  ReproduceWishes wishes = {.options = {.seed = 1, .faults = STUDY_FAULTS, .confidence = 0.95, .workers = cores < 1 ? 1 : (uint32_t)cores}};
  if (!parse(&wishes, argc, argv)) return EXIT_BAD_INPUT;
  if (wishes.help) {
    help_reproduce();
    return EXIT_OK;
  }
  if (wishes.study == NULL || strcmp(wishes.study, "flexgrip") != 0)
    return message_usage("reproduce", "which study? There is one: flexgrip");
  if (wishes.beyond && wishes.page != NULL) return message_usage("reproduce", "--beyond makes no page; it takes --csv");
  if (wishes.beyond && !wishes.faults_given) wishes.options.faults = STUDY_BEYOND_FAULTS;
  Diags diags = {0};
  bool good = wishes.beyond ? reproduce_beyond(&wishes, &diags) : reproduce(&wishes, &diags);
  return good ? EXIT_OK : message_diags(&diags);
}
