// An observer that writes a Chrome trace: https://ui.perfetto.dev reads it. One microsecond on the time line is one core cycle.
//
// A process per SM, with a thread per warp (instructions, from issue to commit) and per block slot; processes for kernels, for memory
// requests and for each track that machines name in SpanEvents (units, caches, DRAM). Slices of one thread must
// not overlap, but a warp has several instructions under way: each track has LANES rows, and a slice goes to the first that is
// free. With all rows taken, its drawn start moves to where one ends; "issued" in its arguments stays true.
// Curves (counters.h) are sampled every few cycles; a value is written when it changes. Marks are instants that all tracks show.
// Memory: the table of tracks and one buffer, both of fixed size; what finds no place is counted and told at the end.
//
// Format: "Trace Event Format", Google, 2016: X (slice), i (instant), b and e (may overlap), C (counter), M (names).
#include "observe/observe.h"

#include "observe/counters.h"

#include <inttypes.h>
#include <stdio.h>

enum {
  LANES = 8,
  MOST_TRACKS = 1 << 14, // power of two
  MOST_SPAN_TRACKS = 64,
  FLUSH_BYTES = 1 << 16,
  PROCESS_KERNELS = 1,
  PROCESS_MEMORY = 2,
  PROCESS_DRAM = 3,
  PROCESS_COUNTERS = 4,
  PROCESS_MARKS = 5,
  PROCESS_SPANS = 10,
  PROCESS_SMS = 1000,
  SM_BLOCKS = 0, // threads of an SM's process: block slots, requests, warps
  SM_REQUESTS = 1 << 8,
  SM_WARPS = 1 << 9,
  NO_NUMBER = INT32_MAX,
};

typedef struct Track {
  uint64_t key; // 1 + (process << 32 | index); 0: free
  uint64_t busy_to[LANES];
  uint32_t named; // bit per lane
} Track;

typedef struct Open { // a slice whose end is still to come
  uint64_t start;
  uint64_t number;
  bool open;
} Open;

typedef struct Mark {
  uint64_t cycle;
  const char *text; // NULL: written
} Mark;

typedef struct Trace {
  TraceOptions options;
  Arena *arena;
  HookShape shape;
  Text out;           // not yet handed on
  Text name, scratch; // of the slice in hand; of a track
  bool begun, closed;
  uint64_t base;   // added to the machine's cycles: launches follow each other
  uint64_t latest; // last time written
  uint64_t ids, dropped;
  Track *tracks;
  const char *span_tracks[MOST_SPAN_TRACKS];
  uint32_t span_track_count;
  Open *blocks; // per SM and block slot
  Open kernel;
  Text kernel_symbol;
  Counters counters;
  uint64_t sample_at;
  double drawn[COUNTERS]; // last values
  bool is_drawn[COUNTERS];
  Mark marks[TRACE_MARKS];
  uint32_t mark_count;
} Trace;

// ---- Text ------------------------------------------------------------------------------------------
static void flush(Trace *trace) {
  if (trace->out.length == 0) return;
  trace->options.write(trace->options.context, trace->out.at, trace->out.length);
  trace->out.length = 0;
}

// Starts an event; the caller adds its fields and the closing brace.
static Text *begin_event(Trace *trace) {
  if (!trace->begun) {
    text_add(&trace->out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"time\":\"1 us is one core cycle\"},\"traceEvents\":[\n");
  } else {
    text_add(&trace->out, ",\n");
  }
  trace->begun = true;
  if (trace->out.length >= FLUSH_BYTES) flush(trace);
  return &trace->out;
}

static void add_escaped(Text *out, const char *text) {
  text_add(out, "\"");
  for (const char *c = text; *c != '\0'; c++) {
    if ((unsigned char)*c < 0x20 || (unsigned char)*c > 0x7E) text_add(out, "\\u%04x", (unsigned char)*c);
    else if (*c == '"' || *c == '\\') text_add(out, "\\%c", *c);
    else text_add_bytes(out, c, 1);
  }
  text_add(out, "\"");
}

static void add_name(Trace *trace, const char *what, uint32_t process, uint32_t thread, const char *text, uint32_t number) {
  trace->scratch.length = 0;
  if (number == NO_NUMBER) text_add(&trace->scratch, "%s", text);
  else text_add(&trace->scratch, "%s %u", text, number);
  Text *out = begin_event(trace);
  text_add(out, "{\"ph\":\"M\",\"name\":\"%s_name\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, process, thread);
  add_escaped(out, trace->scratch.at);
  text_add(out, "}},\n{\"ph\":\"M\",\"name\":\"%s_sort_index\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}", what, process, thread,
           what[0] == 'p' ? process : thread);
}

// ---- Tracks ----------------------------------------------------------------------------------------
// Where a slice goes: a process and a track in it, with what people read there.
typedef struct Place {
  uint32_t process, index;
  const char *process_text;
  uint32_t process_number; // NO_NUMBER: none
  const char *track_text;
  uint32_t track_number;
} Place;

// The track, made on first use. NULL: the table is full.
static Track *find_track(Trace *trace, uint32_t process, uint32_t index) {
  uint64_t key = 1 + ((uint64_t)process << 32 | index);
  uint32_t start = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 50);
  for (uint32_t i = 0; i < MOST_TRACKS; i++) {
    Track *track = &trace->tracks[(start + i) & (MOST_TRACKS - 1)];
    if (track->key == 0) track->key = key;
    if (track->key == key) return track;
  }
  trace->dropped++;
  return NULL;
}

static bool name_process(Trace *trace, const Place *place) {
  Track *track = find_track(trace, place->process, UINT32_MAX); // of no slices: remembers that the process has its name
  if (track == NULL) return false;
  if (track->named == 0) add_name(trace, "process", place->process, 0, place->process_text, place->process_number);
  track->named = 1;
  return true;
}

// Thread number of a lane of a track, named on first use.
static uint32_t name_lane(Trace *trace, const Place *place, Track *track, uint32_t lane) {
  uint32_t thread = place->index * LANES + lane;
  if ((track->named >> lane & 1) == 0) add_name(trace, "thread", place->process, thread, place->track_text, place->track_number);
  track->named |= 1u << lane;
  return thread;
}

static bool is_shown(const Trace *trace, uint64_t start, uint64_t end) {
  bool late_enough = end > trace->options.from || start >= trace->options.from;
  return late_enough && (trace->options.to == 0 || start < trace->options.to);
}

// Everything of a slice up to its arguments: the caller adds fields to "args":{ and closes both braces. NULL: not shown.
static Text *begin_slice(Trace *trace, const Place *place, uint64_t start, uint64_t end, const char *name) {
  if (!is_shown(trace, start, end) || !name_process(trace, place)) return NULL;
  Track *track = find_track(trace, place->process, place->index);
  if (track == NULL) return NULL;
  start += trace->base;
  end = max_u64(end + trace->base, start);
  uint32_t lane = 0, soonest = 0;
  while (lane < LANES && track->busy_to[lane] > start) {
    if (track->busy_to[lane] < track->busy_to[soonest]) soonest = lane;
    lane++;
  }
  if (lane == LANES) {
    lane = soonest;
    start = track->busy_to[lane];
    end = max_u64(end, start);
  }
  track->busy_to[lane] = end;
  trace->latest = max_u64(trace->latest, end);
  uint32_t thread = name_lane(trace, place, track, lane);
  Text *out = begin_event(trace);
  text_add(out, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":", place->process, thread, start,
           end - start);
  add_escaped(out, name);
  text_add(out, ",\"args\":{");
  return out;
}

// A point in time.
static void add_instant(Trace *trace, const Place *place, uint64_t at, const char *name) {
  if (!is_shown(trace, at, at) || !name_process(trace, place)) return;
  Track *track = find_track(trace, place->process, place->index);
  if (track == NULL) return;
  uint32_t thread = name_lane(trace, place, track, 0);
  trace->latest = max_u64(trace->latest, at + trace->base);
  Text *out = begin_event(trace);
  text_add(out, "{\"ph\":\"i\",\"s\":\"t\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ",\"name\":", place->process, thread, at + trace->base);
  add_escaped(out, name);
  text_add(out, "}");
}

// Whose request it is, as far as that is known, and where its time went.
static void add_request(Text *out, const MemoryEvent *event) {
  static const char *const stages[MEMORY_STAGES] = {"queue", "network", "slice", "miss register", "controller", "DRAM", "return"};
  const Who *who = event->who;
  text_add(out, ",\"request\":%" PRIu64, who->request);
  if (who->sm != WHO_NO_INDEX) text_add(out, ",\"sm\":%u,\"warp\":%u", who->sm, who->warp);
  if (event->moment != MEMORY_RESPONSE) return;
  for (uint32_t i = 0; i < MEMORY_STAGES; i++) text_add(out, ",\"%s\":%u", stages[i], event->stages[i]);
}

// A slice that may overlap others of its process.
static void add_async(Trace *trace, const Place *place, uint64_t start, uint64_t end, const MemoryEvent *event) {
  if (!is_shown(trace, start, end) || !name_process(trace, place)) return;
  uint64_t id = ++trace->ids;
  trace->latest = max_u64(trace->latest, end + trace->base);
  for (int last = 0; last < 2; last++) {
    Text *out = begin_event(trace);
    text_add(out, "{\"ph\":\"%s\",\"cat\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%u,\"tid\":0,\"ts\":%" PRIu64 ",\"name\":\"%s %u\"",
             last ? "e" : "b", place->process_text, id, place->process, (last ? end : start) + trace->base, place->track_text,
             place->track_number);
    text_add(out, ",\"args\":{\"what\":\"%s\",\"address\":\"0x%" PRIx64 "\",\"bytes\":%u", client_name(event->who->client), event->address,
             event->bytes);
    add_request(out, event);
    text_add(out, "}}");
  }
}

// ---- Curves and marks --------------------------------------------------------------------------------
static void add_counter(Trace *trace, uint64_t at, uint32_t counter, double value) {
  static const Place place = {PROCESS_COUNTERS, 0, "counters", NO_NUMBER, NULL, 0};
  bool same = trace->is_drawn[counter] && trace->drawn[counter] == value;
  if (same || !is_shown(trace, at, at) || !name_process(trace, &place)) return;
  trace->is_drawn[counter] = true;
  trace->drawn[counter] = value;
  trace->latest = max_u64(trace->latest, at + trace->base);
  text_add(begin_event(trace), "{\"ph\":\"C\",\"pid\":%d,\"ts\":%" PRIu64 ",\"name\":\"%s\",\"args\":{\"value\":%.4g}}", PROCESS_COUNTERS,
           at + trace->base, counter_name(counter), value);
}

static void sample_counters(Trace *trace, const HookMachine *machine) {
  CounterSample samples[COUNTERS];
  counters_sample(&trace->counters, machine, samples);
  for (uint32_t i = 0; i < COUNTERS; i++) {
    if (samples[i].known) add_counter(trace, samples[i].at, i, samples[i].value);
  }
}

static void write_mark(Trace *trace, Mark *mark, uint64_t at) {
  static const Place place = {PROCESS_MARKS, 0, "faults", NO_NUMBER, "fault", NO_NUMBER};
  if (is_shown(trace, at, at) && name_process(trace, &place)) {
    trace->latest = max_u64(trace->latest, at + trace->base);
    Text *out = begin_event(trace);
    text_add(out, "{\"ph\":\"i\",\"s\":\"g\",\"pid\":%d,\"tid\":0,\"ts\":%" PRIu64 ",\"name\":", PROCESS_MARKS, at + trace->base);
    add_escaped(out, mark->text);
    text_add(out, "}");
  }
  mark->text = NULL;
}

// When the trace wants to be asked next.
static void arm(Hook *hook) {
  const Trace *trace = hook->own;
  hook->next_cycle = trace->sample_at;
  for (uint32_t i = 0; i < trace->mark_count; i++) {
    if (trace->marks[i].text != NULL) hook->next_cycle = min_u64(hook->next_cycle, trace->marks[i].cycle);
  }
}

static void trace_cycle(Hook *hook, HookMachine *machine) {
  Trace *trace = hook->own;
  for (uint32_t i = 0; i < trace->mark_count; i++) {
    Mark *mark = &trace->marks[i];
    if (mark->text != NULL && mark->cycle <= machine->cycle) write_mark(trace, mark, machine->cycle);
  }
  if (machine->cycle >= trace->sample_at) {
    sample_counters(trace, machine);
    trace->sample_at = machine->cycle + trace->options.every;
  }
  arm(hook);
}

static Place sm_place(uint32_t sm, uint32_t index, const char *text, uint32_t number) {
  return (Place){PROCESS_SMS + sm, index, "SM", sm, text, number};
}
static const Place kernel_place = {PROCESS_KERNELS, 0, "kernels", NO_NUMBER, "kernel", NO_NUMBER};

// ---- Launches and blocks ---------------------------------------------------------------------------
static void end_block(Trace *trace, uint32_t sm, uint32_t block_slot, uint64_t now) {
  Open *open = &trace->blocks[sm * trace->shape.block_slots + block_slot];
  if (!open->open) return;
  open->open = false;
  trace->name.length = 0;
  text_add(&trace->name, "block %" PRIu64, open->number);
  Place place = sm_place(sm, SM_BLOCKS + block_slot, "block slot", block_slot);
  Text *out = begin_slice(trace, &place, open->start, now, trace->name.at);
  if (out != NULL) text_add(out, "}}");
}

// Ends what is open: blocks of a launch that a trap has ended, and the kernel itself.
static void end_launch(Trace *trace, uint64_t now) {
  for (uint32_t sm = 0; sm < trace->shape.sms; sm++) {
    for (uint32_t block_slot = 0; block_slot < trace->shape.block_slots; block_slot++) end_block(trace, sm, block_slot, now);
  }
  if (!trace->kernel.open) return;
  trace->kernel.open = false;
  Text *out = begin_slice(trace, &kernel_place, trace->kernel.start, now, SHORT_NAME(trace->kernel_symbol.at));
  if (out == NULL) return;
  text_add(out, "\"launch\":%" PRIu64 ",\"symbol\":", trace->kernel.number);
  add_escaped(out, trace->kernel_symbol.at);
  text_add(out, "}}");
}

static Verdict trace_launch(Hook *hook, HookMachine *machine, const LaunchEvent *event) {
  Trace *trace = hook->own;
  end_launch(trace, max_u64(machine->cycle, trace->latest - trace->base));
  if (machine->cycle + trace->base < trace->latest) trace->base = trace->latest - machine->cycle; // a clock that starts anew
  trace->kernel = (Open){machine->cycle, event->who->launch, true};
  text_free(&trace->kernel_symbol);
  text_add(&trace->kernel_symbol, "%s", event->kernel);
  counters_begin(&trace->counters, machine);
  trace->sample_at = trace->options.every == 0 ? UINT64_MAX : machine->cycle + trace->options.every;
  arm(hook);
  return VERDICT_PASS;
}

static Verdict trace_block(Hook *hook, HookMachine *machine, const BlockEvent *event) {
  Trace *trace = hook->own;
  if (event->who->sm >= trace->shape.sms || event->who->block_slot >= trace->shape.block_slots) return VERDICT_PASS;
  end_block(trace, event->who->sm, event->who->block_slot, machine->cycle);
  Open begun = {machine->cycle, event->who->block, true};
  if (!event->done) trace->blocks[event->who->sm * trace->shape.block_slots + event->who->block_slot] = begun;
  return VERDICT_PASS;
}

static Verdict trace_trap(Hook *hook, HookMachine *machine, const TrapEvent *event) {
  bool is_known = event->who->sm != WHO_NO_INDEX && event->who->warp != WHO_NO_INDEX;
  Place place = is_known ? sm_place(event->who->sm, SM_WARPS + event->who->warp, "warp", event->who->warp) : kernel_place;
  add_instant(hook->own, &place, machine->cycle, "trap");
  return VERDICT_PASS;
}

static void trace_finish(Hook *hook, HookMachine *machine) {
  Trace *trace = hook->own;
  if (trace->options.every != 0) sample_counters(trace, machine);
  for (uint32_t i = 0; i < COUNTERS; i++) { // nothing runs until the next launch
    if (trace->is_drawn[i]) add_counter(trace, machine->cycle, i, 0);
  }
  trace->sample_at = UINT64_MAX;
  arm(hook);
  end_launch(trace, machine->cycle);
}

// ---- Instructions, memory, spans -------------------------------------------------------------------
static Verdict trace_commit(Hook *hook, HookMachine *machine, const CommitEvent *event) {
  Trace *trace = hook->own;
  trace->name.length = 0;
  if (event->instr != NULL) instr_format(event->instr, &trace->name);
  else if (machine->program != NULL && event->who->pc < machine->program->code_count)
    program_text_at(machine->program, event->who->pc, &trace->name);
  else text_add(&trace->name, "instruction");
  Place place = sm_place(event->who->sm, SM_WARPS + event->who->warp, "warp", event->who->warp);
  Text *out = begin_slice(trace, &place, event->issued_at, machine->cycle, trace->name.at);
  if (out == NULL) return VERDICT_PASS;
  const Program *program = machine->program;
  text_add(out, "\"pc\":%u,\"mask\":\"%08x\",\"issued\":%" PRIu64, event->who->pc, event->mask, event->issued_at);
  if (program != NULL && event->who->pc < program->code_count && program->lines != NULL && program->lines[event->who->pc] != 0) {
    text_add(out, ",\"line\":%u", program->lines[event->who->pc]);
  }
  text_add(out, "}}");
  return VERDICT_PASS;
}

static Verdict trace_memory(Hook *hook, HookMachine *machine, const MemoryEvent *event) {
  static const Place requests = {PROCESS_MEMORY, 0, "memory requests", NO_NUMBER, NULL, 0};
  static const Place dram = {PROCESS_DRAM, 0, "DRAM queues", NO_NUMBER, NULL, 0};
  Trace *trace = hook->own;
  uint64_t start = machine->cycle - min_u64(event->waited, machine->cycle);
  if (event->moment == MEMORY_REQUEST) {
    Place place = sm_place(event->who->sm, SM_REQUESTS, "requests", NO_NUMBER);
    add_instant(trace, &place, machine->cycle, client_name(event->who->client));
    return VERDICT_PASS;
  }
  bool is_served = event->moment == MEMORY_SERVICE, has_sm = event->who->sm != WHO_NO_INDEX;
  Place place = is_served ? dram : requests;
  place.track_text = !is_served && has_sm ? "SM" : "partition";
  place.track_number = !is_served && has_sm ? event->who->sm : event->partition;
  add_async(trace, &place, start, machine->cycle, event);
  return VERDICT_PASS;
}

static Verdict trace_span(Hook *hook, HookMachine *machine, const SpanEvent *event) {
  Trace *trace = hook->own;
  (void)machine;
  uint32_t track = 0;
  while (track < trace->span_track_count && strcmp(trace->span_tracks[track], event->track) != 0) track++;
  if (track == MOST_SPAN_TRACKS) {
    trace->dropped++;
    return VERDICT_PASS;
  }
  if (track == trace->span_track_count) {
    trace->span_tracks[trace->span_track_count++] = arena_copy_text(trace->arena, event->track, strlen(event->track));
  }
  Place place = {PROCESS_SPANS + track, event->instance, trace->span_tracks[track], NO_NUMBER, trace->span_tracks[track], event->instance};
  Text *out = begin_slice(trace, &place, event->start, event->end, event->what);
  if (out != NULL) text_add(out, "}}");
  return VERDICT_PASS;
}

// ---- The hook --------------------------------------------------------------------------------------
static bool trace_attach(Hook *hook, HookLayout *layout, Diags *diags) {
  Trace *trace = hook->own;
  (void)diags;
  trace->shape = *hook_layout_shape(layout);
  trace->blocks = ARENA_ARRAY(trace->arena, Open, (size_t)trace->shape.sms * trace->shape.block_slots);
  return true;
}

Hook *trace_new(const TraceOptions *options, Arena *arena) {
  Trace *trace = ARENA_NEW(arena, Trace);
  trace->options = *options;
  trace->arena = arena;
  trace->tracks = ARENA_ARRAY(arena, Track, MOST_TRACKS);
  trace->sample_at = UINT64_MAX;
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = "trace",
                 .kind = HOOK_OBSERVER,
                 .own = trace,
                 .attach = trace_attach,
                 .launch = trace_launch,
                 .block = trace_block,
                 .request = trace_memory,
                 .service = trace_memory,
                 .response = trace_memory,
                 .commit = trace_commit,
                 .trap = trace_trap,
                 .cycle = trace_cycle,
                 .next_cycle = UINT64_MAX,
                 .span = trace_span,
                 .finish = trace_finish};
  return hook;
}

bool trace_mark(Hook *hook, uint64_t cycle, const char *text) {
  Trace *trace = hook->own;
  if (trace->mark_count == TRACE_MARKS) return false;
  trace->marks[trace->mark_count++] = (Mark){cycle, arena_copy_text(trace->arena, text, strlen(text))};
  arm(hook);
  return true;
}

void trace_close(Hook *hook) {
  Trace *trace = hook->own;
  if (trace->closed) return;
  trace->closed = true;
  end_launch(trace, trace->latest - trace->base);
  add_name(trace, "process", PROCESS_KERNELS, 0, "kernels", NO_NUMBER); // so that there is at least one event
  text_add(&trace->out, "\n],\"dropped\":%" PRIu64 "}\n", trace->dropped);
  flush(trace);
  text_free(&trace->out);
  text_free(&trace->name);
  text_free(&trace->kernel_symbol);
  text_free(&trace->scratch);
}
