// The device: what a host program sees of the simulated GPU. Allocate, copy, set, load modules,
// find symbols, bind textures, launch, read back. Workloads, `redoubt run FILE.ptx` and the
// CUDA runtime library all go through here.
#ifndef REDOUBT_DEVICE_H
#define REDOUBT_DEVICE_H

#include "config/config.h"
#include "device/memory_check.h"
#include "machine/machine.h"
#include "ptx/ptx.h"

typedef struct Device Device;
typedef struct Module Module;
typedef uint64_t DeviceAddress; // 0 = none

// Somebody who carries launches out in the device's place and is told of what the host does to memory between them.
typedef struct Launcher {
  void *context;
  void (*launch)(void *context, const MachineEnvironment *environment, const Launch *launch, Stats *stats, Trap *trap);
  void (*host_reads)(void *context, DeviceAddress from, uint64_t bytes); // or frees, or copies elsewhere
  void (*host_wrote)(void *context, DeviceAddress to, uint64_t bytes);   // or allocated, which zeroes
} Launcher;

typedef struct DeviceOptions {
  const Spec *spec;         // the machine; NULL = functional with defaults
  const HookChain *hooks;   // attached to a machine with time; NULL = none
  const Launcher *launcher; // of a device that then has no machine; NULL = none
  uint32_t address_bits;    // 32 or 64; 0 = 64
  bool same_address;        // see MemoryOptions
  bool fits_registers;      // a kernel whose block needs more registers than an SM has is compiled again with fewer
  unsigned check;           // CHECK_MEMORY, CHECK_RACES: watch what kernels do; of the functional machine
  void (*print)(void *context, const char *bytes, size_t count); // printf of kernels; NULL = dropped
  void *print_context;
  bool (*progress)(void *context, const Stats *so_far);
  void *progress_context;
  double (*clock)(void); // host seconds, for launch records; NULL = not measured
} DeviceOptions;

Device *device_new(const DeviceOptions *options, Diags *diags);
void device_free(Device *device);

// Why the last call failed, one line; "" if it did not. Every bool below is false on failure.
const char *device_error(const Device *device);

const Spec *device_spec(const Device *device);
uint32_t device_address_bits(const Device *device);
Machine *device_machine(Device *device); // NULL: a launcher does its work

// ---- Memory: pointers are device addresses; sizes in bytes --------------------------------
DeviceAddress device_alloc(Device *device, uint64_t bytes); // 256-byte aligned; 0 = failed
bool device_release(Device *device, DeviceAddress address);
bool device_write(Device *device, DeviceAddress to, const void *from, uint64_t bytes);
bool device_read(Device *device, void *to, DeviceAddress from, uint64_t bytes);
uint64_t device_seen(const Device *device); // hash of all that the host has read so far; kept on machines with time
bool device_copy(Device *device, DeviceAddress to, DeviceAddress from, uint64_t bytes);
bool device_set(Device *device, DeviceAddress to, uint8_t value, uint64_t bytes);
Memory *device_memory(Device *device);
const MemoryCheck *device_check(const Device *device); // what the check found; NULL: not asked for

// ---- Modules ------------------------------------------------------------------------------
Module *device_load_ptx(Device *device, const PtxSource *sources, uint32_t count, Diags *diags);
Module *device_load_program(Device *device, Program *program, Diags *diags); // takes it over
const Program *module_program(const Module *module);
// Where the host finds a variable, .const ones too (their bank lies in device memory); for a
// function its code address, with 0 bytes.
bool module_symbol(const Module *module, const char *name, DeviceAddress *address, uint64_t *bytes);
// What NVIDIA's compiler uses for a kernel (sm.register_source). Right after loading: pointers to its functions end.
void module_give_registers(Module *module, const char *kernel, uint32_t count);
uint32_t device_registers(const Spec *spec, const Function *kernel); // that a thread has, before the block is known
enum { DEVICE_LEAST_REGISTERS = 16 };                                // that a kernel can be compiled for
// The kernel as it is launched with so many threads a block (fits_registers): with fewer registers, if that makes it fit.
const Function *device_fitting(Module *module, const Function *kernel, uint64_t threads);
bool device_unload(Device *device, Module *module);

// ---- Textures: handles as kernels use them --------------------------------------------------
uint64_t device_texture_new(Device *device, const Texture *texture); // 0 = failed
bool device_texture_release(Device *device, uint64_t handle);
const Texture *device_texture(const Device *device, uint64_t handle);          // NULL: none
bool module_bind_texture(Module *module, const char *texref, uint64_t handle); // .texref variables

// ---- Launches -----------------------------------------------------------------------------
typedef struct LaunchRequest {
  Module *module;
  const char *kernel;
  uint32_t grid[3], block[3]; // zeros in y and z count as 1
  uint32_t dynamic_shared_bytes;
  const void *const *arguments; // one pointer per kernel parameter, as cudaLaunchKernel's
  uint32_t argument_count;
  bool cooperative;
  uint32_t cluster[3]; // blocks of a cluster; zeros: what the kernel says, or none
} LaunchRequest;

// What one launch did; kept by the device in order.
enum { LAUNCH_NOTE_BYTES = 192 };
typedef struct LaunchRecord {
  const char *kernel;
  uint32_t grid[3], block[3];
  Stats stats;
  Trap trap;
  uint64_t register_rows; // that belong to resident warps, summed over SMs and cycles
  double host_seconds;
  uint32_t registers, needs;    // of a thread: those that its warp owns; those of them that the code names. 0: not known
  char note[LAUNCH_NOTE_BYTES]; // one line: a protection does not cover the kernel, and why; empty: nothing to say
} LaunchRecord;

bool device_launch(Device *device, const LaunchRequest *request); // false: refused, or a trap
void device_idle(const Device *device, Text *out);                // of all launches so far: protections_idle
uint32_t device_launch_count(const Device *device);
const LaunchRecord *device_launch_record(const Device *device, uint32_t index);
const Trap *device_trap(const Device *device); // of the last launch; kind TRAP_NONE if it went well

// Blocks of the kernel that fit on an SM at once; 0 = such a block cannot run.
uint32_t device_occupancy(const Device *device, const Function *kernel, uint32_t threads, uint32_t dynamic_shared_bytes);

// Limits a host may change (cudaDeviceSetLimit).
void device_set_stack_bytes(Device *device, uint64_t bytes);
void device_set_heap_bytes(Device *device, uint64_t bytes);
void device_set_pending_launches(Device *device, uint64_t count); // by kernels

#endif
