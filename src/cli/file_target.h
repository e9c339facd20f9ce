// A file as a target of faults, whatever its form: compiled, placed on a fresh device, launched once. It is read once: runs with and without faults are
// of the same program, whatever becomes of the file meanwhile.
#ifndef REDOUBT_CLI_FILE_TARGET_H
#define REDOUBT_CLI_FILE_TARGET_H

#include "cli/fault.h"

typedef struct FileTarget {
  const RunOptions *options;
  SourceText source;
  void *call;             // PtxCall, G80Call or ShaderCall
  LaunchRequest *request; // in it
  Program *(*compile)(const RunOptions *options, const SourceText *source, Diags *diags);
  bool (*place)(void *call, Device *device);                                           // false: the device says why
  void (*outputs)(const struct FileTarget *own, TargetOutputs *outputs, Arena *arena); // adds them
  Device *device;                                                                      // while it runs
} FileTarget;
// `arguments`: what decides the run, as `redoubt run` takes it, one per line; replay reads it back.
Target *file_target(FileTarget *own, const char *arguments, Arena *arena);

#endif
