// --dump: the lowered program, and arrays after a run.
#include "cli/run.h"
#include "cli/screen.h"

#include <inttypes.h>
#include <stdio.h>

bool dump_program(const Program *program) {
  Text out = {0};
  program_dump(program, &out);
  bool ok = out.at == NULL || screen_print(out.at);
  text_free(&out);
  return ok;
}

bool dump_array(const DumpWish *wish, const Files *files, Device *device, DeviceAddress address, const Element *element, uint64_t count,
                Diags *diags) {
  uint64_t bytes = count * element->bytes;
  const uint8_t *at = memory_at(device_memory(device), address, bytes);
  if (at == NULL) return diags_add(diags, NULL, 0, 0, "--dump %s: the array is no longer allocated", wish->name);
  if (wish->file != NULL) {
    OutFile file;
    if (!out_open(&file, files, wish->file, diags)) return false;
    out_write(&file, (const char *)at, bytes);
    return out_close(&file, true, diags);
  }
  Text out = {0};
  for (uint64_t i = 0; i < count; i++) {
    text_add(&out, "%s[%" PRIu64 "] = ", wish->name, i);
    element_format(element, at + i * element->bytes, &out);
    text_add(&out, "\n");
    if (out.length < 1 << 16 && i + 1 < count) continue;
    screen_print(out.at);
    out.length = 0;
  }
  text_free(&out);
  return true;
}
