// Diagnostics and assertions.
#include "base/base.h"

#include <stdio.h>
#include <unistd.h>

bool diags_add(Diags *diags, const char *file, int line, int column, const char *format, ...) {
  if (diags->arena == NULL) diags->arena = arena_new();
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  ASSERT(length >= 0);
  char *text = arena_alloc(diags->arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  Diag *diag = VEC_PUSH(diags, diags->arena);
  *diag = (Diag){file == NULL ? NULL : arena_copy_text(diags->arena, file, strlen(file)), line, column, text};
  return false;
}

void diags_free(Diags *diags) {
  arena_free(diags->arena);
  *diags = (Diags){0};
}

void diag_format(const Diag *diag, Text *out) {
  if (diag->file != NULL) text_add(out, "%s:", diag->file);
  if (diag->line > 0) text_add(out, "%d:", diag->line);
  if (diag->column > 0) text_add(out, "%d:", diag->column);
  if (out->length > 0 && out->at[out->length - 1] == ':') text_add(out, " ");
  text_add(out, "error: %s\n", diag->text);
}

// Our own bug: say so and stop where a debugger sees it. The only place below cli/ that writes to a stream.
_Noreturn void assert_failed(const char *file, int line, const char *what) {
  dprintf(STDERR_FILENO, "redoubt: internal error at %s:%d: %s\nThis is a bug in Redoubt, not in your program.\n", file, line, what);
  __builtin_trap();
}
