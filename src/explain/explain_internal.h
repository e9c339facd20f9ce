// What the files of explanations share.
#ifndef REDOUBT_EXPLAIN_INTERNAL_H
#define REDOUBT_EXPLAIN_INTERNAL_H

#include "explain/explain.h"

// ---- The log of a run (value_log.c): what was written, as a hash each, found again by what it is ------------------
typedef struct LoggedValue {
  uint64_t key; // 0: free
  uint32_t pc, hash;
} LoggedValue;
typedef struct ValueLog {
  LoggedValue *items; // open addressing
  uint64_t count, mask;
  bool full; // later values were dropped
} ValueLog;
void value_log_put(ValueLog *log, uint64_t key, uint32_t pc, uint32_t hash);
const LoggedValue *value_log_get(const ValueLog *log, uint64_t key); // NULL: none
void value_log_free(ValueLog *log);
bool value_log_save(const ValueLog *log, const char *path); // for another process
bool value_log_load(ValueLog *log, const char *path);       // into an empty one

// ---- The observer (trace.c) ----------------------------------------------------------------------------------
typedef enum TraceMode {
  TRACE_RECORD,  // the run without faults: log all values, see what becomes of the struck cells
  TRACE_COMPARE, // the run with them: note values that differ from the log
  TRACE_FETCH,   // without faults again: what the noted values should have been
} TraceMode;
typedef struct Tracer Tracer;
// Fills run->accesses (RECORD), run->steps (COMPARE, FETCH). All live as long as the tracer.
Tracer *tracer_new(Arena *arena, ValueLog *log, const Fault *faults, FaultRun *run);
Hook *tracer_hook(Tracer *tracer, TraceMode mode); // for one run of the target from its start

// ---- Runs of programs that are processes of their own (Target.traced) ------------------------------------------------
typedef struct TracedRun {
  TraceMode mode; // RECORD and FETCH: without faults. COMPARE: with them; what the tracer saw and the judgement go into run
  bool explain;   // with the tracer
  uint64_t limit; // cycle at which a run counts as endless
  const Fault *faults;
  const char *marks; // COMPARE: what a trace of the run points at (AttachmentWishes); NULL: nothing
  FaultRun *run;
} TracedRun;

#endif
