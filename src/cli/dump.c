// --dump: the lowered program, and arrays after a run.
#include "cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

bool dump_program(const Program *program) {
  Text out = {0};
  program_dump(program, &out);
  bool ok = out.at == NULL || fputs(out.at, stdout) >= 0;
  text_free(&out);
  return ok;
}

static bool write_file(const char *path, const uint8_t *bytes, size_t count, Diags *diags) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) return diags_add(diags, path, 0, 0, "cannot be written: %s", strerror(errno));
  bool ok = fwrite(bytes, 1, count, file) == count;
  ok = fclose(file) == 0 && ok;
  return ok || diags_add(diags, path, 0, 0, "cannot be written to its end");
}

bool dump_array(const DumpWish *wish, Device *device, DeviceAddress address, const Element *element, uint64_t count, Diags *diags) {
  uint64_t bytes = count * element->bytes;
  const uint8_t *at = memory_at(device_memory(device), address, bytes);
  if (at == NULL) return diags_add(diags, NULL, 0, 0, "--dump %s: the array is no longer allocated", wish->name);
  if (wish->file != NULL) return write_file(wish->file, at, bytes, diags);
  Text out = {0};
  for (uint64_t i = 0; i < count; i++) {
    text_add(&out, "%s[%" PRIu64 "] = ", wish->name, i);
    element_format(element, at + i * element->bytes, &out);
    text_add(&out, "\n");
    if (out.length < 1 << 16 && i + 1 < count) continue;
    fwrite(out.at, 1, out.length, stdout);
    out.length = 0;
  }
  text_free(&out);
  return true;
}
