// The device: its memory, textures and limits. Modules are in module.c, launches in launch.c.
#include "device/device_internal.h"

#include <inttypes.h>
#include <stdio.h>

static bool has_time(const Device *device) { return device->machine != NULL && machine_can(&device->spec, MACHINE_HAS_TIME); }

Device *device_new(const DeviceOptions *options, Diags *diags) {
  Arena *arena = arena_new();
  Device *device = ARENA_NEW(arena, Device);
  device->arena = arena;
  device->options = *options;
  if (options->spec == NULL) {
    spec_default(&device->spec);
  } else {
    device->spec = *options->spec;
  }
  device->options.spec = &device->spec;
  for (uint32_t i = 0; options->hooks != NULL && i < options->hooks->count; i++) {
    if (options->hooks->hooks[i]->host != NULL) hook_chain_add(&device->listeners, options->hooks->hooks[i]);
  }
  device->address_bits = options->address_bits == 32 ? 32 : 64;
  device->stack_bytes = device->spec.limit_stack;
  device->heap_bytes = device->spec.limit_heap;
  device->pending_launches = device->spec.limit_pending_launches;
  uint64_t base = device->address_bits == 32 ? GLOBAL_BASE32 : GLOBAL_BASE64;
  uint64_t room = device->address_bits == 32 ? (UINT64_C(1) << 32) - GLOBAL_BASE32 : UINT64_MAX;
  MemoryOptions memory = {.base = base,
                          .capacity = min_u64(device->spec.memory_bytes, room),
                          .granule = spec_granule(&device->spec),
                          .lead = device->spec.memory_lead,
                          .same_address = options->same_address};
  device->memory = memory_new(&memory, diags);
  bool good = device->memory != NULL, is_served = options->launcher != NULL;
  if (good && !is_served) device->machine = machine_new(&device->spec, options->hooks, diags);
  good = good && (is_served || device->machine != NULL);
  if (good && has_time(device)) memory_watch_host(device->memory);
  if (good && options->check != 0 && machine_can(&device->spec, MACHINE_IS_WATCHED)) {
    device->check = memory_check_new(device->memory, options->check);
    good = device->check != NULL || diags_add(diags, NULL, 0, 0, "no address space for the marks of the memory check");
  }
  if (good) return device;
  machine_free(device->machine);
  memory_free(device->memory);
  arena_free(arena);
  return NULL;
}

void device_free(Device *device) {
  if (device == NULL) return;
  while (device->modules != NULL) device_unload(device, device->modules);
  machine_free(device->machine);
  memory_check_free(device->check);
  memory_free(device->memory);
  arena_free(device->arena);
}

bool device_fail(Device *device, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(device->error, sizeof device->error, format, arguments);
  va_end(arguments);
  return false;
}

const char *device_error(const Device *device) { return device->error; }

const Spec *device_spec(const Device *device) { return &device->spec; }

uint32_t device_address_bits(const Device *device) { return device->address_bits; }

Machine *device_machine(Device *device) { return device->machine; }

// One copy of each name: launches repeat the same few.
const char *device_name_copy(Device *device, const char *name) {
  if (name == NULL) return NULL;
  for (uint32_t i = 0; i < device->names.count; i++) {
    if (strcmp(device->names.items[i], name) == 0) return device->names.items[i];
  }
  return *VEC_PUSH(&device->names, device->arena) = arena_copy_text(device->arena, name, strlen(name));
}

// ---- Memory ------------------------------------------------------------------------------------

void device_tell_host(const Device *device, HostAccess access, DeviceAddress address, uint64_t bytes) {
  Who nobody = WHO_NOBODY;
  HookMachine none = {.cycle = 0};
  if (device->listeners.count == 0) return;
  hooks_host(&device->listeners, &none, &(HostEvent){&nobody, access, address, bytes});
}

static void tell_read(const Device *device, DeviceAddress from, uint64_t bytes) {
  const Launcher *launcher = device->options.launcher;
  if (launcher != NULL) launcher->host_reads(launcher->context, from, bytes);
  device_tell_host(device, HOST_READS, from, bytes);
}

static void tell_wrote(const Device *device, DeviceAddress to, uint64_t bytes) {
  const Launcher *launcher = device->options.launcher;
  if (launcher != NULL) launcher->host_wrote(launcher->context, to, bytes);
  device_tell_host(device, HOST_WRITES, to, bytes);
}

DeviceAddress device_alloc(Device *device, uint64_t bytes) {
  device->error[0] = '\0';
  uint64_t address = memory_alloc(device->memory, max_u64(bytes, 1), 256);
  if (address == 0) {
    device_fail(device, "out of device memory: %" PRIu64 " bytes wanted, %" PRIu64 " of %" PRIu64 " in use", bytes,
                memory_in_use(device->memory), memory_capacity(device->memory));
  } else {
    tell_wrote(device, address, max_u64(bytes, 1)); // it is zero now
  }
  return address;
}

bool device_release(Device *device, DeviceAddress address) {
  device->error[0] = '\0';
  uint64_t start, bytes;
  const Launcher *launcher = device->options.launcher;
  bool is_there = memory_find(device->memory, address, &start, &bytes);
  if (is_there && launcher != NULL) launcher->host_reads(launcher->context, start, bytes);
  if (memory_release(device->memory, address)) {
    if (is_there) device_tell_host(device, HOST_WRITES, start, bytes);
    return true;
  }
  return device_fail(device, "free of 0x%" PRIx64 ", which is not the start of an allocation", address);
}

// Host view of a range, or NULL with the reason noted.
static uint8_t *host_view(Device *device, DeviceAddress address, uint64_t bytes, const char *action) {
  device->error[0] = '\0';
  uint8_t *view = memory_at(device->memory, address, bytes);
  if (view != NULL) return view;
  uint64_t start, size;
  if (memory_find(device->memory, address, &start, &size)) {
    device_fail(device, "%s of %" PRIu64 " bytes at 0x%" PRIx64 ": only %" PRIu64 " bytes are allocated there", action, bytes, address,
                start + size - address);
  } else {
    device_fail(device, "%s of %" PRIu64 " bytes at 0x%" PRIx64 ", where nothing is allocated", action, bytes, address);
  }
  return NULL;
}

bool device_write(Device *device, DeviceAddress to, const void *from, uint64_t bytes) {
  if (bytes == 0) return true;
  uint8_t *view = host_view(device, to, bytes, "write");
  if (view == NULL) return false;
  memmove(view, from, bytes); // managed memory: the host's pointer may be the same place
  memory_note_write(device->memory, to, bytes);
  tell_wrote(device, to, bytes);
  return true;
}

bool device_read(Device *device, void *to, DeviceAddress from, uint64_t bytes) {
  if (bytes == 0) return true;
  const uint8_t *view = host_view(device, from, bytes, "read");
  if (view == NULL) return false;
  memmove(to, view, bytes);
  tell_read(device, from, bytes);
  if (has_time(device)) device->seen = hash_bytes(to, bytes, device->seen);
  return true;
}

uint64_t device_seen(const Device *device) { return device->seen; }

bool device_copy(Device *device, DeviceAddress to, DeviceAddress from, uint64_t bytes) {
  if (bytes == 0) return true;
  const uint8_t *source = host_view(device, from, bytes, "read");
  uint8_t *destination = source == NULL ? NULL : host_view(device, to, bytes, "write");
  if (destination == NULL) return false;
  memmove(destination, source, bytes);
  memory_note_copy(device->memory, to, from, bytes);
  tell_read(device, from, bytes);
  tell_wrote(device, to, bytes);
  return true;
}

bool device_set(Device *device, DeviceAddress to, uint8_t value, uint64_t bytes) {
  if (bytes == 0) return true;
  uint8_t *view = host_view(device, to, bytes, "write");
  if (view == NULL) return false;
  memset(view, value, bytes);
  memory_note_write(device->memory, to, bytes);
  tell_wrote(device, to, bytes);
  return true;
}

Memory *device_memory(Device *device) { return device->memory; }
const MemoryCheck *device_check(const Device *device) { return device->check; }

// ---- Textures ----------------------------------------------------------------------------------

uint64_t device_texture_new(Device *device, const Texture *texture) {
  device->error[0] = '\0';
  uint32_t index = 0;
  while (index < device->textures.count && device->textures.items[index].in_use) index++;
  Texture *entry = index < device->textures.count ? &device->textures.items[index] : VEC_PUSH(&device->textures, device->arena);
  *entry = *texture;
  entry->in_use = true;
  return 1 + (uint64_t)index;
}

bool device_texture_release(Device *device, uint64_t handle) {
  device->error[0] = '\0';
  if (handle == 0 || handle > device->textures.count || !device->textures.items[handle - 1].in_use) {
    return device_fail(device, "0x%" PRIx64 " is no texture or surface", handle);
  }
  device->textures.items[handle - 1] = (Texture){0};
  return true;
}

const Texture *device_texture(const Device *device, uint64_t handle) {
  bool known = handle != 0 && handle <= device->textures.count && device->textures.items[handle - 1].in_use;
  return known ? &device->textures.items[handle - 1] : NULL;
}

// ---- Limits ------------------------------------------------------------------------------------

void device_set_stack_bytes(Device *device, uint64_t bytes) { device->stack_bytes = align_up(min_u64(bytes, 1 << 24), 16); }
void device_set_heap_bytes(Device *device, uint64_t bytes) { device->heap_bytes = bytes; }
void device_set_pending_launches(Device *device, uint64_t count) { device->pending_launches = min_u64(max_u64(count, 1), 1 << 20); }
