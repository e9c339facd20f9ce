// Names of kernels: programs hold them as C++ compilers mangle them, people write saxpy.
#include "base/base.h"

#include <stdlib.h>
#ifdef HAS_LIBIBERTY
#include <libiberty/demangle.h>
#endif

// NULL: no C++ name. To be freed.
static char *demangled(const char *symbol, SymbolForm form) {
#ifdef HAS_LIBIBERTY
  return cplus_demangle(symbol, DMGL_ANSI | (form == SYMBOL_WHOLE ? DMGL_PARAMS : 0));
#else
  (void)symbol, (void)form;
  return NULL;
#endif
}

void text_add_symbol(Text *text, const char *symbol, SymbolForm form) {
  char *name = demangled(symbol, form);
  text_add(text, "%s", name == NULL ? symbol : name);
  free(name);
}

const char *symbol_short(SymbolText *text, const char *symbol) {
  enum { ROOM = sizeof text->at };
  char *name = demangled(symbol, SYMBOL_SHORT);
  const char *from = name == NULL ? symbol : name;
  size_t length = strlen(from);
  memcpy(text->at, from, length < ROOM ? length + 1 : ROOM);
  if (length >= ROOM) memcpy(text->at + ROOM - 4, "...", 4);
  free(name);
  return text->at;
}

bool symbol_is_called(const char *symbol, const char *name) {
  if (strcmp(symbol, name) == 0) return true;
  size_t length = strlen(name);
  char *whole = demangled(symbol, SYMBOL_WHOLE), *plain = demangled(symbol, SYMBOL_SHORT);
  bool is_template = plain != NULL && strncmp(plain, name, length) == 0 && plain[length] == '<';
  bool is_called = is_template || (plain != NULL && strcmp(plain, name) == 0) || (whole != NULL && strcmp(whole, name) == 0);
  free(whole);
  free(plain);
  return is_called;
}
