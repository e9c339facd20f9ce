// Unit tests of what users attach to a machine.
#include "device/attachments.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(protections_keep_their_order),           cmocka_unit_test(nothing_attached_is_an_empty_chain),
      cmocka_unit_test(wrong_protections_are_refused),          cmocka_unit_test(a_trace_is_a_whole_file),
      cmocka_unit_test(a_trace_that_cannot_be_written_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
