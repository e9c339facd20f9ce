// What the files of src/device share.
#ifndef REDOUBT_DEVICE_INTERNAL_H
#define REDOUBT_DEVICE_INTERNAL_H

#include "device/device.h"

struct Module {
  Device *device;
  Module *next;
  Arena *arena;
  Program *program;
  DeviceAddress *addresses;  // one per symbol: where the host finds it; 0 for textures
  uint8_t *symbol_bank;      // BANK_SYMBOL: 8 bytes per symbol
  DeviceAddress launch_list; // where kernels leave what they launch; 0: they launch nothing
  const PtxSource *sources;  // what it was compiled from, if it may be compiled again; NULL: not kept
  uint32_t source_count;
  Module *variants;             // the same module, compiled for fewer registers; they share its variables
  uint32_t register_limit;      // of a variant
  uint64_t code_at, symbols_at; // where caches know its code and symbol bank by; nobody else's ever
  DeviceAddress const_address;  // BANK_CONST lies in device memory, so that hosts copy to it as to any variable
};

// The module as it is to be launched with so many threads a block: itself, or a variant of it whose registers fit into an SM.
Module *module_fitting(Module *module, const Function *kernel, uint64_t threads);

// The registers that each thread of a block of so many owns.
uint32_t launch_registers(const Spec *spec, const Function *kernel, uint64_t threads);

typedef VEC(Texture) TextureVec;
typedef VEC(LaunchRecord) LaunchRecordVec;
typedef VEC(const char *) NameVec;

struct Device {
  Arena *arena;
  Spec spec;
  DeviceOptions options;
  HookChain listeners; // hooks that hear what the host does
  uint32_t address_bits;
  Memory *memory;
  Machine *machine;   // NULL: a launcher does its work
  MemoryCheck *check; // NULL: not asked for
  uint64_t seen;      // hash of all that the host has read
  Module *modules;
  TextureVec textures; // handle = 1 + index
  LaunchRecordVec records;
  NameVec names; // kernels' names, which outlive their modules
  Trap trap;     // of the last launch
  uint64_t stack_bytes, heap_bytes, pending_launches;
  uint64_t code_end, symbols_end; // what modules have taken so far of the addresses that caches know code and symbol banks by
  uint64_t executed;              // warp instructions of the host's last launch, with all that its kernels launched
  char error[1024];
};

// Notes why a call failed; always returns false.
bool device_fail(Device *device, const char *format, ...) __attribute__((format(printf, 2, 3)));
// To hooks that listen. Address 0 and UINT64_MAX bytes: any of it.
void device_tell_host(const Device *device, HostAccess access, DeviceAddress address, uint64_t bytes);
const char *device_name_copy(Device *device, const char *name);
bool launch_check(Device *device, const LaunchRequest *request, const Function **kernel);
bool launch_once(Device *device, const LaunchRequest *wanted); // without what the kernel itself launches
bool launch_children(Device *device, Module *module);          // that; child.c
uint64_t launch_list_bytes(const Device *device);              // of the heap, for what kernels launch
bool launch_report_trap(Device *device, const Program *program);

#endif
