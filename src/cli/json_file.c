// See json_file.h.
#include "cli/json_file.h"

#include <unistd.h>

static int add_bytes(const char *bytes, size_t count, void *out) { return out_write(out, bytes, count) ? 0 : -1; }

bool write_json_file(const Files *files, const char *path, const json_t *root, Diags *diags) {
  OutFile out;
  if (!out_open(&out, files, path, diags)) return false;
  bool is_screen = path == NULL && isatty(STDOUT_FILENO) != 0; // which may take some of UTF-8 for commands
  size_t style = JSON_INDENT(2) | (is_screen ? JSON_ENSURE_ASCII : 0);
  bool whole = json_dump_callback(root, add_bytes, &out, style) == 0 && out_write(&out, "\n", 1);
  return out_close(&out, whole, diags);
}
