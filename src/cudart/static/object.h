// A loaded object (executable or shared library) as its file describes it: sections and functions.
#ifndef REDOUBT_STATIC_OBJECT_H
#define REDOUBT_STATIC_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ObjectFunction {
  const char *name; // in the mapped file; ends at '\0' or, with a version, at '@'
  uint64_t at;      // as linked: the load address comes on top
} ObjectFunction;

typedef struct Object {
  const uint8_t *file; // mapped; stays so if the object is kept
  size_t bytes;
  ObjectFunction *functions; // defined ones, by address; malloc
  uint32_t count;
  const char **asked; // names that other objects must have; in the mapped file; malloc
  uint32_t asked_count;
  bool has_kernels;  // carries a fat binary
  bool asks_runtime; // names the runtime's registration, defined here or elsewhere
} Object;

bool object_read(Object *object, const char *path); // false: no ELF file that can be read
void object_free(Object *object);
bool object_name_is(const char *symbol, const char *name); // the symbol's name, whatever its version
// Where it is defined; NULL: it is not.
const ObjectFunction *object_function(const Object *object, const char *name);

#endif
