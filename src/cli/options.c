// See options.h. getopt_long finds options and values in argv; what they mean is in the tables.
#include "cli/options.h"

#include "cli/cli.h"
#include "journal/statistics.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_OPTIONS = 128, FIRST_LONG = 256 };

static const Option common_options[] = {
    {"quiet", 'q', NULL, "do not say what went well", .take = NULL},
    {"help", 'h', NULL, "this text", .take = NULL},
};
const OptionGroup common_group = OPTION_GROUP(NULL, common_options);

// The rows of a command, those of every command last.
typedef struct Rows {
  const Option *items[MOST_OPTIONS];
  uint32_t count;
} Rows;

static void add_rows(Rows *rows, const OptionGroup *group) {
  for (uint32_t i = 0; i < group->count; i++) {
    ASSERT(rows->count < MOST_OPTIONS);
    rows->items[rows->count++] = &group->options[i];
  }
}

static void rows_of(const Command *command, Rows *rows) {
  rows->count = 0;
  for (uint32_t i = 0; i < MOST_GROUPS && command->groups[i] != NULL; i++) add_rows(rows, command->groups[i]);
  add_rows(rows, &common_group);
}

// ---- Values ------------------------------------------------------------------------------------------

void *option_field(const OptionUse *use) { return (char *)use->wishes + use->option->offset; }

bool option_wrong(const OptionUse *use, const char *format, ...) {
  char why[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  message_usage(use->command, "%s %s: %s", use->name, use->text, why);
  return false;
}

bool option_flag(const OptionUse *use) { return *(bool *)option_field(use) = true; }

bool option_off(const OptionUse *use) {
  *(bool *)option_field(use) = false;
  return true;
}

bool option_text(const OptionUse *use) {
  *(const char **)option_field(use) = use->text;
  return true;
}

// What is empty is mostly a variable of a shell that nobody set.
static bool add_to(const OptionUse *use, const char *between, const char *if_empty) {
  const char **list = option_field(use);
  if (use->text[strspn(use->text, " ")] == '\0') return option_wrong(use, "%s", if_empty);
  *list = *list == NULL ? use->text : arena_format(use->arena, "%s%s%s", *list, between, use->text);
  return true;
}

bool option_words(const OptionUse *use) { return add_to(use, " ", "is empty; the word for none is none"); }
bool option_list(const OptionUse *use) { return add_to(use, ",", "is empty; name at least one"); }

static bool take_whole(const OptionUse *use, uint64_t most, uint64_t *value) {
  const char *text = use->text;
  char *end;
  errno = 0;
  *value = strtoull(text, &end, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0') return option_wrong(use, "must be a whole number");
  uint64_t least = use->option->least;
  if (errno == 0 && *value >= least && *value <= most) return true;
  return option_wrong(use, "must be %llu to %llu", (unsigned long long)least, (unsigned long long)most);
}

bool option_u64(const OptionUse *use) { return take_whole(use, use->option->most, option_field(use)); }

bool option_u32(const OptionUse *use) {
  uint64_t value;
  if (!take_whole(use, min_u64(use->option->most, UINT32_MAX), &value)) return false;
  *(uint32_t *)option_field(use) = (uint32_t)value;
  return true;
}

bool pair_parse(const char *text, char between, uint32_t pair[2]) {
  const char ends[2] = {between, '\0'};
  for (int i = 0; i < 2; i++) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != ends[i] || errno != 0 || value > UINT32_MAX) return false;
    pair[i] = (uint32_t)value;
    text = end + 1;
  }
  return true;
}

static bool read_real(const char *text, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0';
}

double option_value(const OptionUse *use) {
  double value;
  return read_real(use->text, &value) ? value : NAN;
}

bool option_real(const OptionUse *use, double least, double most, double *value) {
  if (read_real(use->text, value) && *value >= least && *value <= most) return true;
  return option_wrong(use, "must be a number from %g to %g", least, most);
}

bool option_confidence(const OptionUse *use) {
  double *value = option_field(use);
  *value = option_value(use);
  return confidence_is_possible(*value) || option_wrong(use, "%s", confidence_rule);
}

// ---- What is not understood --------------------------------------------------------------------------

static const Option *find_row(const Rows *rows, const char *name) {
  for (uint32_t i = 0; i < rows->count; i++) {
    if (strcmp(rows->items[i]->name, name) == 0) return rows->items[i];
  }
  return NULL;
}

// "'redoubt run' and 'redoubt replay'": commands that take an option of this name.
static uint32_t add_takers(const char *name, Text *out) {
  Rows rows;
  const char *found[64];
  uint32_t count = 0;
  for (uint32_t i = 0; i < command_count && count < COUNT_OF(found); i++) {
    rows_of(commands[i], &rows);
    if (find_row(&rows, name) != NULL) found[count++] = commands[i]->name;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (i > 0) text_add(out, i + 1 == count ? " and " : ", ");
    text_add(out, "'redoubt %s'", found[i]);
  }
  return count;
}

// An abbreviation that fits several options; "": it is none.
static void add_meanings(const Rows *rows, const char *name, Text *out) {
  text_add(out, "%s", "");
  for (uint32_t i = 0; i < rows->count && name[0] != '\0'; i++) {
    if (strncmp(rows->items[i]->name, name, strlen(name)) != 0) continue;
    text_add(out, "%s--%s", out->length == 0 ? "" : ", ", rows->items[i]->name);
  }
}

static int unknown_long(const Command *command, const Rows *rows, const char *word) {
  Text meanings = {0}, takers = {0};
  char name[64];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(word + 2, "="), word + 2);
  const char *names[MOST_OPTIONS];
  for (uint32_t i = 0; i < rows->count; i++) names[i] = rows->items[i]->name;
  const char *near = text_nearest(name, names, rows->count);
  add_meanings(rows, name, &meanings);
  if (find_row(rows, name) != NULL) message_usage(command->name, "option '--%s' takes no value", name);
  else if (meanings.length > 0) message_usage(command->name, "option '--%s' may be one of %s", name, meanings.at);
  else if (add_takers(name, &takers) > 0) message_usage(command->name, "--%s is for %s", name, takers.at);
  else if (near != NULL) message_usage(command->name, "unknown option '--%s'; did you mean '--%s'?", name, near);
  else message_usage(command->name, "unknown option '--%s'", name);
  text_free(&meanings);
  text_free(&takers);
  return EXIT_BAD_INPUT;
}

// getopt_long stopped at it.
static int not_understood(const Command *command, const Rows *rows, int result, const char *word) {
  bool is_long = strncmp(word, "--", 2) == 0;
  char letter[3] = {'-', (char)optopt, '\0'};
  if (result == ':') return message_usage(command->name, "option '%s' needs a value", is_long ? word : letter);
  if (is_long) return unknown_long(command, rows, word);
  return message_usage(command->name, "unknown option '%s'", letter);
}

// ---- A command line ----------------------------------------------------------------------------------

// The tables as getopt_long wants them.
typedef struct Known {
  struct option longs[MOST_OPTIONS + 1];
  char letters[2 * MOST_OPTIONS + 2];
} Known;

static void know(const Rows *rows, Known *known) {
  *known = (Known){0};
  size_t length = 0;
  known->letters[length++] = ':'; // a missing value is told apart
  for (uint32_t i = 0; i < rows->count; i++) {
    const Option *row = rows->items[i];
    int argument = row->argument == NULL ? no_argument : row->may_lack ? optional_argument : required_argument;
    known->longs[i] = (struct option){row->name, argument, NULL, FIRST_LONG + (int)i};
    if (row->letter == 0) continue;
    known->letters[length++] = row->letter;
    if (row->argument != NULL) known->letters[length++] = ':';
  }
}

static const Option *row_of(const Rows *rows, int result) {
  if (result >= FIRST_LONG) return rows->items[result - FIRST_LONG];
  uint32_t i = 0;
  while (rows->items[i]->letter != result) i++;
  return rows->items[i];
}

static int print_help(const Command *command) {
  Text text = {0};
  command_help(command, &text);
  fputs(text.at, stdout);
  text_free(&text);
  return EXIT_OK;
}

static bool check_operands(const Command *command, const Operands *operands) {
  uint32_t most = command->most_operands;
  if (operands->count < command->least_operands) return message_usage(command->name, "%s", command->wanted) == EXIT_OK;
  if (operands->count <= most) return true;
  if (most == 1) {
    message_usage(command->name, "one %s at a time, not '%s' and '%s'", command->operand, operands->items[0], operands->items[1]);
  } else {
    message_usage(command->name, "'%s' is one too many: %s", operands->items[most], command->wanted);
  }
  return false;
}

// Takes away what follows "--": it is another program's.
static int split_application(const Command *command, int argc, char **argv, Operands *operands) {
  for (int i = 1; i < argc && command->takes_application; i++) {
    if (strcmp(argv[i], "--") != 0) continue;
    operands->application = argv + i + 1;
    return i;
  }
  return argc;
}

bool options_parse(const Command *command, void *wishes, Arena *arena, int argc, char **argv, Operands *operands) {
  Rows rows;
  Known known;
  *operands = (Operands){.exit_code = EXIT_BAD_INPUT};
  rows_of(command, &rows);
  know(&rows, &known);
  argc = split_application(command, argc, argv, operands);
  opterr = 0;
  optind = 0;
  int result, place = -1;
  while ((result = getopt_long(argc, argv, known.letters, known.longs, &place)) != -1) {
    if (result == ':' || result == '?') return not_understood(command, &rows, result, argv[optind - 1]) == EXIT_OK;
    const Option *row = row_of(&rows, result);
    if (row->letter == 'h') {
      operands->exit_code = print_help(command);
      return false;
    }
    if (row->letter == 'q') {
      operands->quiet = true;
      continue;
    }
    OptionUse use = {.option = row, .text = optarg, .wishes = wishes, .arena = arena, .command = command->name};
    use.name = place < 0 ? arena_format(arena, "-%c", row->letter) : arena_format(arena, "--%s", row->name);
    if (!row->take(&use)) return false;
    place = -1;
  }
  operands->items = argv + optind;
  operands->count = (uint32_t)(argc - optind);
  return check_operands(command, operands);
}

// ---- Help --------------------------------------------------------------------------------------------

enum { HELP_COLUMN = 25, HELP_WIDTH = 110 };

// Words of a line, broken before HELP_WIDTH; what follows the first line stands at HELP_COLUMN.
static void add_wrapped(const char *line, Text *out) {
  size_t column = HELP_COLUMN;
  for (const char *word = line; *word != '\0';) {
    size_t length = strcspn(word, " ");
    bool is_first = word == line, fits = column + 1 + length <= HELP_WIDTH;
    if (!is_first && fits) text_add(out, " ");
    if (!is_first && !fits) text_add(out, "\n%*s", HELP_COLUMN, "");
    column = is_first ? column + length : fits ? column + 1 + length : HELP_COLUMN + length;
    text_add_bytes(out, word, length);
    word += length + (word[length] == ' ');
  }
  text_add(out, "\n");
}

static void add_option(const Option *row, Text *out) {
  Text left = {0};
  text_add(&left, "  ");
  if (row->letter != 0) text_add(&left, "-%c, ", row->letter);
  text_add(&left, "--%s", row->name);
  if (row->argument != NULL) text_add(&left, row->may_lack ? "[=%s]" : " %s", row->argument);
  bool fits = left.length < HELP_COLUMN;
  text_add(out, "%-*s", fits ? HELP_COLUMN : 0, left.at);
  if (!fits) text_add(out, "\n%*s", HELP_COLUMN, "");
  text_free(&left);
  add_wrapped(row->help, out);
}

static void add_group(const OptionGroup *group, Text *out) {
  text_add(out, "\n");
  if (group->title != NULL) text_add(out, "%s:\n", group->title);
  for (uint32_t i = 0; i < group->count; i++) add_option(&group->options[i], out);
}

void command_help(const Command *command, Text *out) {
  text_add(out, "%s", command->synopsis);
  if (command->about != NULL) text_add(out, "\n%s", command->about);
  uint32_t count = 0;
  for (; count < MOST_GROUPS && command->groups[count] != NULL; count++) add_group(command->groups[count], out);
  // Where the last group has no title of its own, what every command takes goes on with it.
  if (count == 0 || command->groups[count - 1]->title != NULL) text_add(out, "\n");
  for (uint32_t i = 0; i < common_group.count; i++) add_option(&common_group.options[i], out);
  if (command->ending != NULL) text_add(out, "\n%s", command->ending);
}
