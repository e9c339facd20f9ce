// What users attach to a machine, as they write it: protections, a trace file, an observer of what matters (ACE analysis). `redoubt run` and the CUDA runtime
// library make a device's hooks here, one set per device.
#ifndef REDOUBT_ATTACHMENTS_H
#define REDOUBT_ATTACHMENTS_H

#include "ace/ace.h"
#include "hook/hook.h"
#include "machine/machine.h"

#include <stdio.h>

typedef struct AttachmentWishes {
  const char *protections;       // "dmr secded:rf,l2", spaces or new lines between them; NULL: none
  const char *trace;             // file of the time line; NULL: none
  const char *trace_as;          // its name in messages; NULL: that of the file
  uint64_t trace_from, trace_to; // cycles it shows, [from, to); to = 0: to the end
  uint64_t trace_every;          // cycles between samples of its curves; 0: the usual distance, UINT64_MAX: no curves
  const char *trace_marks;       // "CYCLE text", a line each: what it points at; NULL: nothing
  const char *observe;           // "ace", "ace:unit.sp,rf": which bits matter; NULL: not asked
  uint32_t ace_window;           // warp instructions; 0: the usual number
  const char *ace_file;          // where what was found goes, as bytes; NULL: nowhere
  const char *ace_ask;           // file of questions, for another process that reads it; NULL: none
  AceProbe *ace_probes;          // what it is asked
  uint32_t ace_probe_count;
} AttachmentWishes;

typedef struct Attachments {
  HookChain chain; // for DeviceOptions.hooks; must outlive the device
  Arena *arena;
  Hook *trace;
  Ace *ace;             // NULL: not asked for
  const char *ace_file; // where what it found goes; NULL: nowhere
  FILE *file;           // of the trace
  const char *path;     // its name in messages
} Attachments;

// False, with diagnostics: not understood, or the file cannot be written; nothing needs to be closed then.
bool attachments_open(Attachments *attachments, const AttachmentWishes *wishes, Diags *diags);
// After the device is gone. False: the trace could not be written to its end.
bool attachments_close(Attachments *attachments, Diags *diags);
// Protections that never acted in a run with these statistics, in one line: "shield (none of moved, parts, bound)". Nothing is added if all did.
void protections_idle(const HookChain *chain, const Stats *total, Text *out);

#endif
