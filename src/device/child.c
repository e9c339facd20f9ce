// Launches and copies that kernels asked for (CUDA's dynamic parallelism). Each is a record of the kernels' heap on
// a list, newest first; src/ptx/device_runtime.ptx writes them and gives the layout.
// A kernel is complete when its children are, so the order is depth first: what a child asked for comes before
// its next sibling; launches into the tail stream come after all others of the same parent.
// Wild records (a fault may have struck the list) are dropped: the memory calls fail on them.
//
// Kernels that launch themselves are bounded: levels below the host's launch, launches that wait, launches in all, and
// instructions of all of them together. The first two are limits of hardware, whose launch call then fails with an
// error that few kernels look at (24 levels and 2,048 launches: CUDA C++ Programming Guide, from memory, not checked);
// here the launch ends with a trap, so that no launch is lost without a word. A launch into the tail stream begins when
// its parent has ended, so that it is no level deeper (from memory, not checked).
#include "device/device_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum { RECORD_BYTES = 64, TAIL_STREAM = 3, MOST_PARAMS = 4096, BUFFER_BYTES = 4352 };

typedef struct ChildRecord {
  uint64_t next, function;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes, unused;
  uint64_t stream, unused_too;
} ChildRecord;
_Static_assert(sizeof(ChildRecord) == RECORD_BYTES, "as the device runtime writes it");

typedef struct Pending {
  DeviceAddress place; // of its record
  uint32_t level;      // below the host's launch, which is 0
} Pending;

typedef struct Children {
  Device *device;
  Module *module;
  VEC(Pending) work; // the last is the next
  Arena *scratch;
  const void **arguments;
  uint64_t launched; // so far
} Children;

// What the heap needs beside the program's own, so that as many launches as are allowed can wait.
uint64_t launch_list_bytes(const Device *device) { return (device->pending_launches + 1) * (uint64_t)BUFFER_BYTES; }

// Ends the host's launch with a trap of the kernel that ran last.
static bool refuse(Device *device, TrapKind kind, const char *format, uint64_t limit) {
  LaunchRecord *record = &device->records.items[device->records.count - 1];
  record->trap = (Trap){.kind = kind, .kernel = record->kernel};
  snprintf(record->trap.note, sizeof record->trap.note, format, limit);
  device->trap = record->trap;
  return false;
}

// Moves the list to the end of the work to do, newest first, so that the oldest is the next to be taken.
static bool take_list(Children *children, bool tail, DeviceAddress head, uint32_t level) {
  Device *device = children->device;
  ChildRecord record;
  uint64_t most = memory_capacity(device->memory) / RECORD_BYTES; // a damaged list may be a ring
  for (uint64_t i = 0; head != 0 && i < most && device_read(device, &record, head, sizeof record); i++, head = record.next) {
    if ((record.stream == TAIL_STREAM) != tail) continue;
    if (children->work.count >= device->pending_launches)
      return refuse(device, TRAP_PENDING_LAUNCHES, "the limit is %" PRIu64 " (limit.pending_launches)", device->pending_launches);
    *VEC_PUSH(&children->work, children->scratch) = (Pending){head, level};
  }
  return true;
}

// What the kernel at this level has left on the list. False: a limit was passed.
static bool take_children(Children *children, uint32_t level) {
  Device *device = children->device;
  uint64_t list[2] = {0, 0}; // the newest record; launches that found no memory
  if (!device_read(device, list, children->module->launch_list, sizeof list)) return true;
  if (list[1] != 0)
    return refuse(device, TRAP_PENDING_LAUNCHES, "the heap is full: %" PRIu64 " of them found no room (limit.heap)", list[1]);
  if (list[0] == 0) return true;
  uint32_t before = children->work.count;
  if (!take_list(children, true, list[0], level)) return false;
  uint32_t tails = children->work.count - before;
  if (!take_list(children, false, list[0], level + 1)) return false;
  bool deeper = children->work.count - before > tails;
  if (deeper && level >= device->spec.limit_launch_depth)
    return refuse(device, TRAP_LAUNCH_DEPTH, "the limit is %" PRIu64 " levels (limit.launch_depth)", device->spec.limit_launch_depth);
  device_set(device, children->module->launch_list, 0, sizeof list[0]);
  return true;
}

static const Function *function_at(const Program *program, uint64_t address) {
  for (uint32_t i = 0; i < program->function_count; i++) {
    if (program->functions[i].is_kernel && FUNCTION_ADDRESS(program->functions[i].entry) == address) return &program->functions[i];
  }
  return NULL;
}

static void copy_child(Device *device, DeviceAddress place) {
  uint64_t copy[3]; // to, from, bytes
  if (device_read(device, copy, place + RECORD_BYTES, sizeof copy)) device_copy(device, copy[0], copy[1], copy[2]);
}

// Whether one more may run.
static bool admit(Children *children) {
  const Spec *spec = &children->device->spec;
  uint64_t limit = spec->limit_instructions;
  if (++children->launched > spec->limit_launches)
    return refuse(children->device, TRAP_LAUNCHES, "the limit is %" PRIu64 " (limit.launches)", spec->limit_launches);
  if (limit == 0 || children->device->executed < limit) return true;
  return refuse(children->device, TRAP_LIMIT, "%" PRIu64 " warp instructions of a kernel and of what it launched", limit);
}

// False when it trapped. What the device refuses (an empty grid, say) is not run, as on hardware.
static bool run_child(Children *children, DeviceAddress place) {
  Device *device = children->device;
  Module *module = children->module;
  ChildRecord record;
  uint8_t params[MOST_PARAMS];
  if (!device_read(device, &record, place, sizeof record)) return true;
  const Function *kernel = record.function == 0 ? NULL : function_at(module->program, record.function);
  if (record.function == 0) copy_child(device, place);
  bool known = kernel != NULL && kernel->param_bytes <= MOST_PARAMS && kernel->param_count <= MOST_PARAMS &&
               device_read(device, params, place + RECORD_BYTES, kernel->param_bytes);
  memory_heap_release(device->memory, place);
  if (!known) return true;
  for (uint32_t i = 0; i < kernel->param_count; i++) children->arguments[i] = params + kernel->params[i].offset;
  LaunchRequest request = {.module = module,
                           .kernel = kernel->name,
                           .grid = {record.grid[0], record.grid[1], record.grid[2]},
                           .block = {record.block[0], record.block[1], record.block[2]},
                           .dynamic_shared_bytes = record.shared_bytes,
                           .arguments = children->arguments,
                           .argument_count = kernel->param_count};
  return launch_once(device, &request) || device->trap.kind == TRAP_NONE;
}

bool launch_children(Device *device, Module *module) {
  Children children = {.device = device, .module = module, .scratch = arena_new()};
  children.arguments = ARENA_ARRAY(children.scratch, const void *, MOST_PARAMS);
  bool good = take_children(&children, 0);
  while (good && children.work.count > 0) {
    Pending next = children.work.items[--children.work.count];
    good = admit(&children) && run_child(&children, next.place) && take_children(&children, next.level);
  }
  arena_free(children.scratch);
  if (!good) device_set(device, module->launch_list, 0, 2 * sizeof(uint64_t)); // what waits is not run by a later launch
  device->error[0] = '\0';
  return launch_report_trap(device, module->program);
}
