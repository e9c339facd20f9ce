// Calls out of the kernel; see system.h.
#include "machine/parts/system.h"
#include "machine/parts/format.h"
#include "machine/parts/special.h"

#include <stdio.h>

enum { MOST_ASSERT_TEXT = 200 };

// One lane's call.
typedef struct Call {
  const SystemContext *context;
  AccessViolation *violation;
  uint32_t area;      // local address of the argument area
  uint64_t arguments; // vprintf: generic address of the packed arguments
  unsigned lane;
} Call;

static uint32_t pointer_bytes(const Call *call) { return call->context->launch->program->address_bits / 8; }

static bool read_argument(const Call *call, uint32_t offset, uint32_t bytes, uint64_t *value) {
  *value = 0;
  return lane_read(call->context->view, SPACE_LOCAL, call->area + offset, bytes, call->lane, value, call->violation);
}

static bool write_result(const Call *call, uint32_t offset, uint32_t bytes, uint64_t value) {
  return lane_write(call->context->view, SPACE_LOCAL, call->area + offset, bytes, call->lane, &value, call->violation);
}

static bool packed_argument(void *context, uint32_t offset, uint32_t bytes, void *to) {
  const Call *call = context;
  return lane_read(call->context->view, SPACE_GENERIC, call->arguments + offset, bytes, call->lane, to, call->violation);
}

static bool string_byte(void *context, uint64_t address, char *to) {
  const Call *call = context;
  return lane_read(call->context->view, SPACE_GENERIC, address, 1, call->lane, to, call->violation);
}

static FormatSource source_of(Call *call) {
  return (FormatSource){.argument = packed_argument, .byte = string_byte, .context = call, .pointer_bytes = pointer_bytes(call)};
}

static bool call_vprintf(Call *call) {
  uint32_t pointer = pointer_bytes(call), used = 0;
  uint64_t format;
  if (!read_argument(call, 0, pointer, &format) || !read_argument(call, pointer, pointer, &call->arguments)) return false;
  if (format == 0) return write_result(call, 2 * pointer, 4, UINT32_MAX);
  FormatSource source = source_of(call);
  Text out = {0};
  bool valid = format_print(&source, format, &out, &used);
  const MachineEnvironment *environment = call->context->environment;
  if (valid && environment->print != NULL && out.length > 0) environment->print(environment->print_context, out.at, out.length);
  text_free(&out);
  return valid && write_result(call, 2 * pointer, 4, used);
}

// Always "fails": a failed assertion is a trap.
static bool call_assertfail(Call *call, char note[256]) {
  uint32_t pointer = pointer_bytes(call);
  uint32_t line_at = 2 * pointer, function_at = (uint32_t)align_up(line_at + 4, pointer);
  uint64_t message, file, line, function;
  if (!read_argument(call, 0, pointer, &message) || !read_argument(call, pointer, pointer, &file) ||
      !read_argument(call, line_at, 4, &line) || !read_argument(call, function_at, pointer, &function)) {
    return false;
  }
  FormatSource source = source_of(call);
  Text text = {0};
  const uint32_t *block = call->context->block;
  uint32_t thread[3];
  special_thread(call->context->launch, call->context->warp, call->lane, thread);
  bool valid = format_string(&source, file, MOST_ASSERT_TEXT, &text);
  text_add(&text, ":%u: ", (unsigned)line);
  valid = valid && format_string(&source, function, MOST_ASSERT_TEXT, &text);
  text_add(&text, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", block[0], block[1], block[2], thread[0], thread[1], thread[2]);
  valid = valid && format_string(&source, message, MOST_ASSERT_TEXT, &text);
  text_add(&text, "` failed.");
  if (valid) {
    snprintf(note, 256, "%s", text.at);
    *call->violation = (AccessViolation){.kind = TRAP_ASSERT, .lane = call->lane};
  }
  text_free(&text);
  return false;
}

static bool call_malloc(Call *call) {
  uint32_t pointer = pointer_bytes(call);
  uint64_t bytes;
  if (!read_argument(call, 0, pointer, &bytes)) return false;
  const MachineEnvironment *environment = call->context->environment;
  uint64_t address = memory_heap_alloc(environment->memory, bytes, environment->heap_bytes);
  return write_result(call, pointer, pointer, address);
}

static bool call_free(Call *call, bool *heap_changed, char note[256]) {
  uint32_t pointer = pointer_bytes(call);
  uint64_t address;
  if (!read_argument(call, 0, pointer, &address)) return false;
  if (address == 0) return true;
  *heap_changed = true;
  if (memory_heap_release(call->context->environment->memory, address)) return true;
  *call->violation = (AccessViolation){.kind = TRAP_ILLEGAL_ADDRESS, .space = SPACE_GLOBAL, .lane = call->lane, .address = address};
  snprintf(note, 256, "free of 0x%llx, which is no block of the kernel's heap", (unsigned long long)address);
  return false;
}

bool system_execute(const SystemContext *context, Op op, uint32_t active, const uint32_t *areas, bool *heap_changed,
                    AccessViolation *violation, char note[256]) {
  for (; active != 0; active &= active - 1) {
    unsigned lane = (unsigned)__builtin_ctz(active);
    Call call = {.context = context, .violation = violation, .area = areas[lane], .lane = lane};
    bool done = true;
    switch (op) {
    case OP_SYS_VPRINTF: done = call_vprintf(&call); break;
    case OP_SYS_ASSERTFAIL: done = call_assertfail(&call, note); break;
    case OP_SYS_MALLOC: done = call_malloc(&call); break;
    case OP_SYS_FREE: done = call_free(&call, heap_changed, note); break;
    default: break;
    }
    if (!done) return false;
  }
  return true;
}
