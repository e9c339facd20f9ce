// A file as a target of faults, whatever its form: compiled, placed on a fresh device, launched once.
#ifndef REDOUBT_CLI_FILE_TARGET_H
#define REDOUBT_CLI_FILE_TARGET_H

#include "cli/fault.h"

typedef struct FileTarget {
  const RunOptions *options;
  void *call;             // PtxCall, G80Call or ShaderCall
  LaunchRequest *request; // in it
  Program *(*compile)(const RunOptions *options, Diags *diags);
  bool (*place)(void *call, Device *device);                                           // false: the device says why
  void (*outputs)(const struct FileTarget *own, TargetOutputs *outputs, Arena *arena); // adds them
  Device *device;                                                                      // while it runs
} FileTarget;
// `arguments`: what decides the run, as `redoubt run` takes it, one per line; replay reads it back. `source`: the file's text.
Target *file_target(FileTarget *own, const char *arguments, const char *source, size_t length, Arena *arena);

#endif
