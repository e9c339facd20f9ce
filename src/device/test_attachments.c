// Unit tests of what users attach to a machine.
#include "device/attachments.h"
#include "protect/protect.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static void protections_keep_their_order(void **state) {
  (void)state;
  Attachments attachments;
  Diags diags = {0};
  AttachmentWishes wishes = {.protections = "  dmr:entries=4\nsecded:rf,shared null "};
  assert_true(attachments_open(&attachments, &wishes, &diags));
  assert_int_equal(attachments.chain.count, 3);
  assert_string_equal(attachments.chain.hooks[0]->name, "dmr");
  assert_string_equal(attachments.chain.hooks[1]->name, "secded");
  assert_string_equal(attachments.chain.hooks[2]->name, "null");
  assert_true(attachments_close(&attachments, &diags));
  assert_int_equal(diags.count, 0);
}

static void nothing_attached_is_an_empty_chain(void **state) {
  (void)state;
  Attachments attachments;
  Diags diags = {0};
  assert_true(attachments_open(&attachments, &(AttachmentWishes){0}, &diags));
  assert_int_equal(attachments.chain.count, 0);
  assert_true(attachments_close(&attachments, &diags));
}

static void wrong_protections_are_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"dmrr", "dmr:entries=0", "dmr nonsense", "null null null null null null null null null"};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    Attachments attachments;
    Diags diags = {0};
    AttachmentWishes wishes = {.protections = wrong[i]};
    assert_false(attachments_open(&attachments, &wishes, &diags));
    assert_int_equal(diags.count, 1);
    diags_free(&diags);
  }
}

static void a_trace_is_a_whole_file(void **state) {
  (void)state;
  char path[] = "test_attachments_XXXXXX";
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  close(descriptor);
  Attachments attachments;
  Diags diags = {0};
  AttachmentWishes wishes = {.trace = path};
  assert_true(attachments_open(&attachments, &wishes, &diags));
  assert_int_equal(attachments.chain.count, 1);
  assert_int_equal(attachments.chain.hooks[0]->kind, HOOK_OBSERVER);
  assert_true(attachments_close(&attachments, &diags));
  Arena *arena = arena_new();
  char *text;
  size_t length;
  assert_true(file_read(arena, path, &text, &length, &diags));
  unlink(path);
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
  assert_true(length > 1);
  assert_true((text[0] == '[' && text[length - 1] == ']') || (text[0] == '{' && text[length - 1] == '}'));
  arena_free(arena);
}

static void a_trace_that_cannot_be_written_is_told(void **state) {
  (void)state;
  Attachments attachments;
  Diags diags = {0};
  AttachmentWishes wishes = {.trace = "no/such/folder/trace.json"};
  assert_false(attachments_open(&attachments, &wishes, &diags));
  assert_int_equal(diags.count, 1);
  diags_free(&diags);
  wishes.trace = "/dev/full";
  assert_true(attachments_open(&attachments, &wishes, &diags));
  assert_false(attachments_close(&attachments, &diags));
  assert_string_equal(diags.items[0].text, "cannot be written to its end");
  diags_free(&diags);
}

// Whatever a scheme says of itself: the statistics exist, and each of them alone shows that it acts.
static void idle_protections_are_told(void **state) {
  (void)state;
  for (uint32_t i = 0; i < protect_count; i++) {
    const char *name = protect_info(i)->name;
    Attachments attachments;
    Diags diags = {0};
    AttachmentWishes wishes = {.protections = strcmp(name, "secded") == 0 ? "secded:rf" : name};
    assert_true(attachments_open(&attachments, &wishes, &diags));
    const Hook *hook = attachments.chain.hooks[0];
    assert_non_null(hook->signs);
    bool has_signs = hook->signs[0] != '\0', does_nothing = strcmp(name, "none") == 0 || strcmp(name, "null") == 0;
    assert_true(has_signs != does_nothing);
    Stats total = {0};
    Text idle = {0};
    protections_idle(&attachments.chain, &total, &idle);
    assert_true((idle.length > 0) == has_signs);
    assert_true(!has_signs || strncmp(idle.at, name, strlen(name)) == 0);
    uint32_t signs = 0;
    for (int k = 0; k < STAT_COUNT; k++) {
      total = (Stats){0};
      total.value[k] = 1;
      idle.length = 0;
      protections_idle(&attachments.chain, &total, &idle);
      signs += has_signs && idle.length == 0;
    }
    uint32_t named = has_signs ? 1 : 0;
    for (const char *at = hook->signs; *at != '\0'; at++) named += *at == ' ';
    assert_int_equal(signs, named);
    text_free(&idle);
    assert_true(attachments_close(&attachments, &diags));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(protections_keep_their_order),           cmocka_unit_test(nothing_attached_is_an_empty_chain),
      cmocka_unit_test(wrong_protections_are_refused),          cmocka_unit_test(a_trace_is_a_whole_file),
      cmocka_unit_test(a_trace_that_cannot_be_written_is_told), cmocka_unit_test(idle_protections_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
