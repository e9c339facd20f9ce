// Launch records as bytes. Each starts with a RecordHead; a launch is followed by its place and
// counts (RecordLaunch), its Trap if there is one, and the kernel's name; a finding (RecordFinding) by the
// names of kernel and file.
#include "device/record.h"

enum { KIND_GREETING = 0x52444754, KIND_LAUNCH = 0x52444C54, KIND_FINDING = 0x52444654, KIND_FAILURE = 0x52444654 + 1 };

typedef struct RecordHead {
  uint32_t kind, bytes; // of all that follows the head
} RecordHead;

typedef struct RecordLaunch {
  uint32_t grid[3], block[3];
  uint32_t trap, name_bytes;
  Stats stats;
  uint64_t register_rows;
  double host_seconds;
  uint32_t registers, needs;
  char note[LAUNCH_NOTE_BYTES];
} RecordLaunch;

typedef struct RecordFinding {
  uint64_t key; // process and number
  uint32_t kernel_bytes, file_bytes;
  MemoryFinding finding;
} RecordFinding;

// Changes when the layout of a record does.
static uint64_t layout(void) { return sizeof(RecordLaunch) << 32 | sizeof(Trap) << 16 | sizeof(RecordFinding) << 6 | TRAP_COUNT; }

void record_pack_greeting(Text *out) {
  uint64_t mark = layout();
  RecordHead head = {KIND_GREETING, sizeof mark};
  text_add_bytes(out, &head, sizeof head);
  text_add_bytes(out, &mark, sizeof mark);
}

void record_pack_failure(int exit_code, Text *out) {
  RecordHead head = {KIND_FAILURE, sizeof exit_code};
  text_add_bytes(out, &head, sizeof head);
  text_add_bytes(out, &exit_code, sizeof exit_code);
}

void record_pack_launch(const LaunchRecord *launch, Text *out) {
  uint32_t name_bytes = (uint32_t)strlen(launch->kernel);
  bool trapped = launch->trap.kind != TRAP_NONE;
  RecordLaunch packed = {
      .trap = (uint32_t)launch->trap.kind, .name_bytes = name_bytes, .stats = launch->stats, .host_seconds = launch->host_seconds};
  memcpy(packed.grid, launch->grid, sizeof packed.grid);
  memcpy(packed.block, launch->block, sizeof packed.block);
  packed.registers = launch->registers;
  packed.needs = launch->needs;
  packed.register_rows = launch->register_rows;
  memcpy(packed.note, launch->note, sizeof packed.note);
  RecordHead head = {KIND_LAUNCH, (uint32_t)(sizeof packed + (trapped ? sizeof(Trap) : 0) + name_bytes)};
  text_add_bytes(out, &head, sizeof head);
  text_add_bytes(out, &packed, sizeof packed);
  if (trapped) text_add_bytes(out, &launch->trap, sizeof(Trap));
  text_add_bytes(out, launch->kernel, name_bytes);
}

void record_pack_finding(uint32_t process, uint32_t index, const MemoryFinding *finding, Text *out) {
  const char *file = finding->file == NULL ? "" : finding->file;
  RecordFinding packed = {.key = (uint64_t)process << 32 | index,
                          .kernel_bytes = (uint32_t)strlen(finding->kernel),
                          .file_bytes = (uint32_t)strlen(file),
                          .finding = *finding};
  packed.finding.kernel = packed.finding.file = NULL; // pointers of this process
  RecordHead head = {KIND_FINDING, (uint32_t)sizeof packed + packed.kernel_bytes + packed.file_bytes};
  text_add_bytes(out, &head, sizeof head);
  text_add_bytes(out, &packed, sizeof packed);
  text_add_bytes(out, finding->kernel, packed.kernel_bytes);
  text_add_bytes(out, file, packed.file_bytes);
}

static bool unpack_finding(const char *bytes, size_t count, Arena *arena, RecordReading *reading) {
  RecordFinding packed;
  if (count < sizeof packed) return false;
  memcpy(&packed, bytes, sizeof packed);
  if (count != sizeof packed + packed.kernel_bytes + packed.file_bytes || packed.finding.kind >= FINDING_KINDS) return false;
  if (packed.finding.space >= SPACE_COUNT) return false;
  packed.finding.kernel = arena_copy_text(arena, bytes + sizeof packed, packed.kernel_bytes);
  packed.finding.file = arena_copy_text(arena, bytes + sizeof packed + packed.kernel_bytes, packed.file_bytes);
  for (uint32_t i = 0; i < reading->findings.count; i++) {
    if (reading->finding_keys.items[i] != packed.key) continue;
    reading->findings.items[i] = packed.finding;
    return true;
  }
  *VEC_PUSH(&reading->findings, arena) = packed.finding;
  *VEC_PUSH(&reading->finding_keys, arena) = packed.key;
  return true;
}

static bool unpack_launch(const char *bytes, size_t count, Arena *arena, LaunchRecord *launch) {
  RecordLaunch packed;
  if (count < sizeof packed) return false;
  memcpy(&packed, bytes, sizeof packed);
  size_t trap_bytes = packed.trap == TRAP_NONE ? 0 : sizeof(Trap);
  if (packed.trap >= TRAP_COUNT || count != sizeof packed + trap_bytes + packed.name_bytes) return false;
  memcpy(&launch->trap, bytes + sizeof packed, trap_bytes);
  launch->trap.kernel = launch->trap.function = NULL; // pointers of the other process
  launch->trap.kind = (TrapKind)packed.trap;
  launch->trap.note[sizeof launch->trap.note - 1] = '\0';
  memcpy(launch->grid, packed.grid, sizeof launch->grid);
  memcpy(launch->block, packed.block, sizeof launch->block);
  launch->stats = packed.stats;
  launch->register_rows = packed.register_rows;
  launch->host_seconds = packed.host_seconds;
  launch->registers = packed.registers;
  launch->needs = packed.needs;
  memcpy(launch->note, packed.note, sizeof launch->note);
  launch->note[sizeof launch->note - 1] = '\0';
  launch->kernel = arena_copy_text(arena, bytes + sizeof packed + trap_bytes, packed.name_bytes);
  return true;
}

bool record_unpack(const char *bytes, size_t count, Arena *arena, RecordReading *reading) {
  RecordHead head;
  while (count >= sizeof head) {
    memcpy(&head, bytes, sizeof head);
    bytes += sizeof head;
    count -= sizeof head;
    if (head.bytes > count) return false;
    if (head.kind == KIND_GREETING) {
      uint64_t mark = 0;
      memcpy(&mark, bytes, head.bytes == sizeof mark ? sizeof mark : 0);
      if (mark != layout()) return false;
      reading->greetings++;
    } else if (head.kind == KIND_LAUNCH) {
      LaunchRecord launch = {0};
      if (!unpack_launch(bytes, head.bytes, arena, &launch)) return false;
      *VEC_PUSH(&reading->launches, arena) = launch;
    } else if (head.kind == KIND_FAILURE) {
      if (head.bytes != sizeof reading->failure) return false;
      memcpy(&reading->failure, bytes, sizeof reading->failure);
    } else if (head.kind == RECORD_REFUSAL) {
      reading->refusals++;
    } else if (head.kind == KIND_FINDING) {
      if (!unpack_finding(bytes, head.bytes, arena, reading)) return false;
    } else {
      return false;
    }
    bytes += head.bytes;
    count -= head.bytes;
  }
  return count == 0;
}
