// The tables of options: what the parser, the help and everything else that is made of them rely on.
#include "cli/cli.h"

#include <setjmp.h>

#include <cmocka.h>

static void each_row(const Command *command, void (*visit)(const Command *, const Option *)) {
  for (uint32_t g = 0; g < MOST_GROUPS && command->groups[g] != NULL; g++) {
    for (uint32_t i = 0; i < command->groups[g]->count; i++) visit(command, &command->groups[g]->options[i]);
  }
}

static void check_row(const Command *command, const Option *row) {
  if (row->name == NULL || row->help == NULL || row->take == NULL) fail_msg("%s: an incomplete row", command->name);
  if (strchr(row->help, '\n') != NULL || row->help[strlen(row->help) - 1] == '.') fail_msg("--%s: help is one line", row->name);
  if (row->may_lack && row->argument == NULL) fail_msg("--%s: what may it lack?", row->name);
  if (row->least > row->most) fail_msg("--%s: no number is allowed", row->name);
  bool is_number = row->take == option_u32 || row->take == option_u64;
  if (is_number && row->most == 0) fail_msg("--%s: needs a range", row->name);
  bool takes_none = row->take == option_flag || row->take == option_off;
  if (takes_none != (row->argument == NULL) && takes_none) fail_msg("--%s: a flag takes no value", row->name);
}

static uint32_t count_named(const Command *command, const char *name, char letter) {
  uint32_t count = strcmp(name, "help") == 0 || letter == 'h' || strcmp(name, "quiet") == 0 || letter == 'q';
  for (uint32_t g = 0; g < MOST_GROUPS && command->groups[g] != NULL; g++) {
    for (uint32_t i = 0; i < command->groups[g]->count; i++) {
      const Option *row = &command->groups[g]->options[i];
      count += strcmp(row->name, name) == 0 || (letter != 0 && row->letter == letter);
    }
  }
  return count;
}

static void check_unique(const Command *command, const Option *row) {
  if (count_named(command, row->name, row->letter) != 1) fail_msg("%s: --%s is there twice", command->name, row->name);
}

static void test_rows(void **state) {
  (void)state;
  for (uint32_t i = 0; i < command_count; i++) {
    each_row(commands[i], check_row);
    each_row(commands[i], check_unique);
  }
}

static void test_commands(void **state) {
  (void)state;
  for (uint32_t i = 0; i < command_count; i++) {
    const Command *command = commands[i];
    assert_non_null(command->run);
    assert_true(command->least_operands == 0 || command->wanted != NULL);
    assert_true(command->most_operands != 1 || command->operand != NULL);
  }
}

// Every option of a command is in its help, and no line is too long for a wide terminal.
static void test_help(void **state) {
  (void)state;
  for (uint32_t i = 0; i < command_count; i++) {
    Text text = {0}, wanted = {0};
    command_help(commands[i], &text);
    for (uint32_t g = 0; g < MOST_GROUPS && commands[i]->groups[g] != NULL; g++) {
      for (uint32_t k = 0; k < commands[i]->groups[g]->count; k++) {
        wanted.length = 0;
        text_add(&wanted, "--%s", commands[i]->groups[g]->options[k].name);
        assert_non_null(strstr(text.at, wanted.at));
      }
    }
    for (const char *line = text.at; *line != '\0'; line += strcspn(line, "\n") + 1) assert_in_range(strcspn(line, "\n"), 0, 125);
    text_free(&text);
    text_free(&wanted);
  }
}

// ---- Parsing ---------------------------------------------------------------------------------------

typedef struct Wishes {
  const char *text, *words, *list;
  uint32_t small;
  uint64_t large;
  bool on, off;
} Wishes;

static const Option rows[] = {
    {"text", 't', "TEXT", "a text", .take = option_text, .offset = offsetof(Wishes, text), .may_lack = true},
    {"word", 'w', "WORD", "a word", .take = option_words, .offset = offsetof(Wishes, words)},
    {"list", 0, "LIST", "names", .take = option_list, .offset = offsetof(Wishes, list)},
    {"small", 's', "N", "a number", .take = option_u32, .offset = offsetof(Wishes, small), .least = 1, .most = UINT64_MAX},
    {"large", 0, "N", "a number", .take = option_u64, .offset = offsetof(Wishes, large), .most = UINT64_MAX},
    {"on", 0, NULL, "a flag", .take = option_flag, .offset = offsetof(Wishes, on)},
    {"off", 0, NULL, "a flag", .take = option_off, .offset = offsetof(Wishes, off)},
};
static const OptionGroup group = OPTION_GROUP(NULL, rows);
static const Command made_up = {.name = "made-up", .groups = {&group}, .most_operands = 2, .wanted = "two", .takes_application = true};

static bool parse(Wishes *wishes, Operands *operands, Arena *arena, const char *line) {
  char *argv[16] = {"made-up"}, *copy = arena_copy_text(arena, line, strlen(line));
  int argc = 1;
  for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) argv[argc++] = word;
  char **kept = arena_alloc(arena, sizeof argv);
  memcpy(kept, argv, sizeof argv);
  *wishes = (Wishes){.off = true};
  return options_parse(&made_up, wishes, arena, argc, kept, operands);
}

static void test_values(void **state) {
  (void)state;
  Wishes wishes;
  Operands operands;
  Arena *arena = arena_new();
  assert_true(parse(&wishes, &operands, arena, "one --text=a=b -w x --word=y --list=a,b --list c -s7 two --large 0xff --on --off"));
  assert_string_equal(wishes.text, "a=b");
  assert_string_equal(wishes.words, "x y");
  assert_string_equal(wishes.list, "a,b,c");
  assert_int_equal(wishes.small, 7);
  assert_int_equal(wishes.large, 255);
  assert_true(wishes.on && !wishes.off);
  assert_int_equal(operands.count, 2);
  assert_string_equal(operands.items[0], "one");
  assert_string_equal(operands.items[1], "two");
  assert_null(operands.application);
  assert_true(parse(&wishes, &operands, arena, "--large 18446744073709551615"));
  assert_true(wishes.large == UINT64_MAX);
  arena_free(arena);
}

static void test_pairs(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "", "1", "1x", "x1", "-1x1", "+1x1", " 1x1", "1x 1", "1x1x", "1X1", "4294967296x1", "1x4294967297", "99999999999999999999x1"};
  uint32_t pair[2];
  assert_true(pair_parse("4294967295x16", 'x', pair));
  assert_int_equal(pair[0], UINT32_MAX);
  assert_int_equal(pair[1], 16);
  for (uint32_t i = 0; i < COUNT_OF(wrong); i++) assert_false(pair_parse(wrong[i], 'x', pair));
}

static void test_application(void **state) {
  (void)state;
  Wishes wishes;
  Operands operands;
  Arena *arena = arena_new();
  assert_true(parse(&wishes, &operands, arena, "one --on -- ./app --off --large"));
  assert_true(wishes.on && wishes.off);
  assert_int_equal(operands.count, 1);
  assert_string_equal(operands.application[0], "./app");
  assert_string_equal(operands.application[2], "--large");
  assert_null(operands.application[3]);
  arena_free(arena);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const lines[] = {"--small 0",
                                      "--small 4294967296",
                                      "--small -1",
                                      "--small 1x",
                                      "--large 18446744073709551616",
                                      "--large",
                                      "--nowhere",
                                      "-x",
                                      "--on=1",
                                      "a b c",
                                      "--word=",
                                      "--list="};
  Wishes wishes;
  Operands operands;
  Arena *arena = arena_new();
  for (uint32_t i = 0; i < COUNT_OF(lines); i++) {
    assert_false(parse(&wishes, &operands, arena, lines[i]));
    assert_int_equal(operands.exit_code, EXIT_BAD_INPUT);
  }
  assert_false(parse(&wishes, &operands, arena, "a --help b c d"));
  assert_int_equal(operands.exit_code, EXIT_OK);
  arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),        cmocka_unit_test(test_commands), cmocka_unit_test(test_help),  cmocka_unit_test(test_values),
      cmocka_unit_test(test_application), cmocka_unit_test(test_refused),  cmocka_unit_test(test_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
