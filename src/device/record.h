// Launch records on their way from one process to another: the CUDA runtime library appends them to
// a file that `redoubt run -- APPLICATION` reads. Both sides come from one build; the greeting says so.
#ifndef REDOUBT_RECORD_H
#define REDOUBT_RECORD_H

#include "device/device.h"

// Appended once, when the library is loaded: how the parent knows that it was.
void record_pack_greeting(Text *out);
void record_pack_launch(const LaunchRecord *launch, Text *out);
// Finding number `index` of a process, as it is now: a later record of the same one takes its place.
void record_pack_finding(uint32_t process, uint32_t index, const MemoryFinding *finding, Text *out);

// A program that is not run, for a reason that was told: this word and a zero, appended by who has no device.
enum { RECORD_REFUSAL = 0x52445254 };

// A process in which nothing can run: the exit code that it must not be without.
void record_pack_failure(int exit_code, Text *out);

typedef struct RecordReading {
  uint32_t greetings;         // processes that loaded the library
  uint32_t refusals;          // programs that were not run
  int failure;                // exit code of a process in which nothing could run; 0: there was none
  VEC(LaunchRecord) launches; // names and text in the arena
  VEC(MemoryFinding) findings;
  VEC(uint64_t) finding_keys; // which process and number each is
} RecordReading;
// False: the bytes are not of this build's library, or cut off; what came before is kept.
bool record_unpack(const char *bytes, size_t count, Arena *arena, RecordReading *reading);

#endif
