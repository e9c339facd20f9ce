// Launches and copies that kernels asked for (CUDA's dynamic parallelism). Each is a record of the kernels' heap on
// a list, newest first; src/ptx/device_runtime.ptx writes them and gives the layout.
// A kernel is complete when its children are, so the order is depth first: what a child asked for comes before
// its next sibling; launches into the tail stream come after all others of the same parent.
// Wild records (a fault may have struck the list) are dropped: the memory calls fail on them.
#include "device/device_internal.h"

enum { RECORD_BYTES = 64, TAIL_STREAM = 3, MOST_PARAMS = 4096 };

typedef struct ChildRecord {
  uint64_t next, function;
  uint32_t grid[3], block[3];
  uint32_t shared_bytes, unused;
  uint64_t stream, unused_too;
} ChildRecord;
_Static_assert(sizeof(ChildRecord) == RECORD_BYTES, "as the device runtime writes it");

typedef VEC(DeviceAddress) AddressVec;

// Moves the list to the end of the work to do, newest first, so that the oldest is the next to be taken.
static void take_list(Device *device, bool tail, DeviceAddress head, AddressVec *work, Arena *scratch) {
  ChildRecord record;
  uint64_t most = memory_capacity(device->memory) / RECORD_BYTES; // a damaged list may be a ring
  for (uint64_t i = 0; head != 0 && i < most && device_read(device, &record, head, sizeof record); i++, head = record.next) {
    if ((record.stream == TAIL_STREAM) == tail) *(DeviceAddress *)VEC_PUSH(work, scratch) = head;
  }
}

static void take_children(Device *device, Module *module, AddressVec *work, Arena *scratch) {
  DeviceAddress head = 0;
  if (!device_read(device, &head, module->launch_list, sizeof head) || head == 0) return;
  take_list(device, true, head, work, scratch);
  take_list(device, false, head, work, scratch);
  device_set(device, module->launch_list, 0, sizeof head);
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

// False when it trapped. What the device refuses (an empty grid, say) is not run, as on hardware.
static bool run_child(Device *device, Module *module, DeviceAddress place, Arena *scratch) {
  ChildRecord record;
  uint8_t params[MOST_PARAMS];
  if (!device_read(device, &record, place, sizeof record)) return true;
  const Function *kernel = record.function == 0 ? NULL : function_at(module->program, record.function);
  if (record.function == 0) copy_child(device, place);
  bool known =
      kernel != NULL && kernel->param_bytes <= MOST_PARAMS && device_read(device, params, place + RECORD_BYTES, kernel->param_bytes);
  memory_heap_release(device->memory, place);
  if (!known) return true;
  const void **arguments = ARENA_ARRAY(scratch, const void *, kernel->param_count);
  for (uint32_t i = 0; i < kernel->param_count; i++) arguments[i] = params + kernel->params[i].offset;
  LaunchRequest request = {.module = module,
                           .kernel = kernel->name,
                           .grid = {record.grid[0], record.grid[1], record.grid[2]},
                           .block = {record.block[0], record.block[1], record.block[2]},
                           .dynamic_shared_bytes = record.shared_bytes,
                           .arguments = arguments,
                           .argument_count = kernel->param_count};
  return launch_once(device, &request) || device->trap.kind == TRAP_NONE;
}

bool launch_children(Device *device, Module *module) {
  Arena *scratch = arena_new();
  AddressVec work = {0};
  bool good = true;
  take_children(device, module, &work, scratch);
  while (good && work.count > 0) {
    DeviceAddress next = work.items[--work.count];
    good = run_child(device, module, next, scratch);
    if (good) take_children(device, module, &work, scratch);
  }
  arena_free(scratch);
  if (good) device->error[0] = '\0';
  return good;
}
