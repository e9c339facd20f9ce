// A JSON document into a file, or to the terminal.
#ifndef REDOUBT_CLI_JSON_FILE_H
#define REDOUBT_CLI_JSON_FILE_H

#include "cli/out_file.h"

#include <jansson.h>

bool write_json_file(const Files *files, const char *path, const json_t *root, Diags *diags); // path NULL: stdout

#endif
