// libFuzzer entry: any bytes as a PNG file of a texture, as they are and with the checks of its chunks put right, or none that was changed would pass them.
// What is read is written again.
#include "cli/png_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_EDGE = 256, SIGNATURE = 8, AROUND = 12 };

static char path[] = "/tmp/redoubt-fuzz-png-XXXXXX";

static void remove_file(void) { unlink(path); }

static uint32_t check_of(const uint8_t *bytes, size_t count) {
  uint32_t check = UINT32_MAX;
  for (size_t i = 0; i < count; i++) {
    check ^= bytes[i];
    for (uint32_t bit = 0; bit < 8; bit++) check = check >> 1 ^ (check % 2 == 1 ? 0xedb88320U : 0);
  }
  return ~check;
}

// A chunk: length, name, content, check of name and content.
static void put_checks_right(uint8_t *file, size_t size) {
  for (size_t at = SIGNATURE; at + AROUND <= size;) {
    size_t length = (size_t)file[at] << 24 | (size_t)file[at + 1] << 16 | (size_t)file[at + 2] << 8 | file[at + 3];
    if (length > size - at - AROUND) return;
    uint32_t check = check_of(file + at + 4, length + 4);
    for (uint32_t i = 0; i < 4; i++) file[at + 8 + length + i] = (uint8_t)(check >> (24 - 8 * i));
    at += AROUND + length;
  }
}

static void try_file(const uint8_t *data, size_t size) {
  FILE *stream = fopen(path, "wb");
  ASSERT(stream != NULL);
  fwrite(data, 1, size, stream);
  ASSERT(fclose(stream) == 0);
  Arena *arena = arena_new();
  Diags diags = {0};
  float *pixels;
  uint32_t width, height;
  bool good = png_read(path, arena, MOST_EDGE, &pixels, &width, &height, &diags);
  ASSERT(good == (diags.count == 0));
  Text out = {0};
  if (good) {
    ASSERT(width > 0 && height > 0 && width <= MOST_EDGE && height <= MOST_EDGE);
    ASSERT(png_write(pixels, 1, width, height, &out, &diags));
  }
  text_free(&out);
  diags_free(&diags);
  arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static int file = -1;
  if (file < 0) {
    file = mkstemp(path);
    ASSERT(file >= 0);
    atexit(remove_file);
  }
  try_file(data, size);
  uint8_t *right = malloc(size + 1);
  ASSERT(right != NULL);
  memcpy(right, data, size);
  put_checks_right(right, size);
  try_file(right, size);
  free(right);
  return 0;
}
