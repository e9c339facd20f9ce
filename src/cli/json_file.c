// See json_file.h.
#include "cli/json_file.h"

static int add_bytes(const char *bytes, size_t count, void *out) { return out_write(out, bytes, count) ? 0 : -1; }

bool write_json_file(const Files *files, const char *path, const json_t *root, Diags *diags) {
  OutFile out;
  if (!out_open(&out, files, path, diags)) return false;
  bool whole = json_dump_callback(root, add_bytes, &out, JSON_INDENT(2)) == 0 && out_write(&out, "\n", 1);
  return out_close(&out, whole, diags);
}
