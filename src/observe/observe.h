// Observers: hooks that only look.
#ifndef REDOUBT_OBSERVE_H
#define REDOUBT_OBSERVE_H

#include "hook/hook.h"

// A time line as Chrome and Perfetto (ui.perfetto.dev) read it, written while the machine runs.
typedef struct TraceOptions {
  void (*write)(void *context, const char *bytes, size_t count); // where the text goes, in pieces
  void *context;
  uint64_t from, to; // cycles to show, [from, to); to = 0: to the end
  uint64_t every;    // cycles between two samples of the curves (IPC, warps, queues, caches); 0: no curves
} TraceOptions;

// The hook lives in the arena and serves one machine, for any number of launches.
Hook *trace_new(const TraceOptions *options, Arena *arena);
// Something to be pointed at when its cycle comes, such as a fault. At most TRACE_MARKS; false: no room.
enum { TRACE_MARKS = 8, TRACE_EVERY = 200 }; // and a good distance of samples: a hundredth of what instructions take
bool trace_mark(Hook *hook, uint64_t cycle, const char *text);
// Writes what is still open and the end of the file. However the last launch ended, the text is complete after this.
void trace_close(Hook *hook);

#endif
