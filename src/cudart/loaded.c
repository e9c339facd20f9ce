// Who asked for this library? A program built with the shared runtime names it among its needed libraries, directly or
// through another library. One built with a static runtime that is not
// replaced (static/audit.c) finds it only as libcuda.so.1, by dlopen, and would go on without a simulated GPU: that must not pass for a
// program that runs here.
#include "cudart/runtime.h"

#include <link.h>

static bool names_us(const char *needed) { return strstr(needed, "libcudart.so") != NULL || strstr(needed, "libcuda.so") != NULL; }

static int object_needs_us(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size, (void)context;
  for (unsigned i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *entries = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    ElfW(Addr) strings = 0;
    for (const ElfW(Dyn) *entry = entries; entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
    }
    if (strings < object->dlpi_addr) strings += object->dlpi_addr; // not yet relocated
    for (const ElfW(Dyn) *entry = entries; strings != 0 && entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_NEEDED && names_us((const char *)(strings + entry->d_un.d_val))) return 1;
    }
  }
  return 0;
}

bool library_is_needed(void) { return dl_iterate_phdr(object_needs_us, NULL) != 0; }
