// Pictures as PNG files; see png_file.h.
#include "cli/png_file.h"

#include <png.h>
#include <stdlib.h>

bool png_read(const char *path, Arena *arena, uint32_t most_edge, float **pixels, uint32_t *width, uint32_t *height, Diags *diags) {
  char *bytes;
  size_t length;
  if (!file_read(arena, path, &bytes, &length, diags)) return false;
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_memory(&image, bytes, length)) return diags_add(diags, path, 0, 0, "is no PNG picture: %s", image.message);
  if (image.width > most_edge || image.height > most_edge) {
    png_image_free(&image);
    return diags_add(diags, path, 0, 0, "is %u x %u; a texture has at most %u x %u texels", image.width, image.height, most_edge,
                     most_edge);
  }
  image.format = PNG_FORMAT_RGBA;
  uint8_t *samples = malloc(PNG_IMAGE_SIZE(image));
  bool good = samples != NULL && png_image_finish_read(&image, NULL, samples, 0, NULL) != 0;
  if (good) {
    size_t count = (size_t)image.width * image.height * 4;
    *pixels = ARENA_ARRAY(arena, float, count);
    for (size_t i = 0; i < count; i++) (*pixels)[i] = (float)samples[i] / 255.0f;
    *width = image.width;
    *height = image.height;
  }
  free(samples);
  if (!good) diags_add(diags, path, 0, 0, "is a damaged PNG picture: %s", image.message);
  png_image_free(&image);
  return good;
}

static uint8_t sample_of(float x) { return x > 0.0f ? (uint8_t)((x < 1.0f ? x : 1.0f) * 255.0f + 0.5f) : 0; }

bool png_write(const float *pixels, uint32_t channels, uint32_t width, uint32_t height, Text *out, Diags *diags) {
  png_image image = {.version = PNG_IMAGE_VERSION, .width = width, .height = height};
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  size_t count = (size_t)width * height * channels;
  uint8_t *samples = malloc(count + 1);
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  char *file = malloc(bytes);
  bool good = samples != NULL && file != NULL;
  for (size_t i = 0; i < count && good; i++) samples[i] = sample_of(pixels[i]);
  good = good && png_image_write_to_memory(&image, file, &bytes, 0, samples, 0, NULL) != 0;
  if (good) text_add_bytes(out, file, bytes);
  free(samples);
  free(file);
  return good || diags_add(diags, NULL, 0, 0, "no PNG picture could be made: %s", image.message);
}
