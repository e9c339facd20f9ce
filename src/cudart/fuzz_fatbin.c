// libFuzzer target: any bytes as a fat binary, at the end of a mapped stretch of memory. Nothing beyond it is read, and
// something is said about every binary of which nothing is made.
#include "cudart/cubin.h"
#include "cudart/runtime.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 20, PAGE = 4096 };

// The end of this stretch is the end of what can be read.
static uint8_t *stretch_end(void) {
  static uint8_t *end;
  if (end != NULL) return end;
  uint8_t *bytes = mmap(NULL, MOST_BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT(bytes != MAP_FAILED && mprotect(bytes + MOST_BYTES, PAGE, PROT_NONE) == 0);
  return end = bytes + MOST_BYTES;
}

static void read_all(const void *image, size_t limit) {
  Arena *arena = arena_new();
  Diags diags = {0};
  FatBinary fat = {0};
  bool good = fatbin_parse(image, limit, arena, &fat, &diags);
  ASSERT(good == (diags.count == 0));
  for (uint32_t i = 0; i < fat.count; i++) {
    Arena *texts = arena_new(); // one at a time: together they may be much
    size_t length = 0;
    uint32_t before = diags.count;
    const char *text = fatbin_text(&fat.items[i], texts, &length, &diags);
    ASSERT(text != NULL ? strlen(text) == length : diags.count > before);
    CubinKernels kernels = {0};
    const uint8_t *code = fatbin_bytes(&fat.items[i], texts, &length, &diags);
    if (code != NULL) cubin_kernels(code, length, texts, &kernels);
    arena_free(texts);
  }
  diags_free(&diags);
  arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MOST_BYTES) return 0;
  uint8_t *image = stretch_end() - size;
  if (size > 0) memcpy(image, data, size);
  ASSERT(mapped_bytes(image) == size);
  read_all(image, mapped_bytes(image));
  return 0;
}
