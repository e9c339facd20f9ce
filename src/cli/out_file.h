// Files that a command writes. No output takes the place of something that the command reads, and a file appears under its name only
// when it is whole: it is written aside, in the same folder, and renamed. What was begun is removed on failure, Ctrl-C included.
// Devices, pipes and the descriptors of the process (/dev/stdout) are written as they are.
#ifndef REDOUBT_CLI_OUT_FILE_H
#define REDOUBT_CLI_OUT_FILE_H

#include "base/base.h"

#include <stdio.h>
#include <sys/types.h>

// Which file a path means: links are followed; a file that is not there yet is a name in a folder.
typedef struct FileId {
  dev_t device;
  ino_t number;
  const char *name; // in that folder; NULL: the file itself
} FileId;

// What a command reads and writes. Zero-initialise; lives in an arena.
typedef struct Files {
  Arena *arena;
  bool quiet; // do not say what was written
  VEC(FileId) inputs;
  VEC(FileId) outputs;
} Files;
void files_read(Files *files, const char *path);    // an input; NULL, or not there: nothing
void files_journal(Files *files, const char *path); // an input with what SQLite keeps beside it
// An output, before any work begins. False, with a diagnostic: the command reads that file, or writes it already.
bool files_write(Files *files, const char *path, Diags *diags); // NULL: nothing
// Can it be written at all? Asked before long work; false, with a diagnostic: its folder is not there, or may not be written to.
bool out_possible(const char *path, Diags *diags);

typedef struct OutFile {
  const char *path; // as the user named it; NULL, and "-": stdout
  const char *goal; // where links lead
  char *part;       // where it is written till it is whole; NULL: in place
  FILE *file;
  int kept;       // the part once more, open till it is renamed: see out_abandon
  int error;      // the first errno
  bool is_screen; // control characters are shown
  const Files *files;
} OutFile;
bool out_open(OutFile *out, const Files *files, const char *path, Diags *diags);
const char *out_name(const OutFile *out);                                            // for others who write the file, by name
bool out_write(void *out, const char *bytes, size_t count);                          // as a Sink; errors stay with the file
bool out_text(const Files *files, const char *path, const Text *text, Diags *diags); // all of it at once
// Puts the file in its place; `whole` false: throws it away. False, with a diagnostic: it could not be written.
bool out_close(OutFile *out, bool whole, Diags *diags);
void out_abandon(void); // removes what is being written; safe in a signal handler

#endif
