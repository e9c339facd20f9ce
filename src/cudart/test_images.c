// Images that programs bring: fat binaries, their wrappers, PTX texts; whole, cut off and damaged, each at the end of what can be read,
// so that a read beyond it ends the test.
#include "cudart/test_api.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define FOLDER "tests/cuda/fatbin/"
enum { PAGE = 4096, ROOM = 4 * PAGE };

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int thread_limit, void *tid,
                            void *bid, void *block, void *grid, int *warp_size);
char __cudaInitModule(void **handle);

// Memory whose end is followed by a page that cannot be read.
static uint8_t *stretch_end(void) {
  uint8_t *bytes = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(bytes != MAP_FAILED && mprotect(bytes + ROOM, PAGE, PROT_NONE) == 0);
  return bytes + ROOM;
}

static char *read_file(Arena *arena, const char *name, size_t *count) {
  Diags diags = {0};
  char *bytes = NULL;
  assert_true(file_read(arena, arena_format(arena, FOLDER "%s.fatbin", name), &bytes, count, &diags));
  return bytes;
}

static void what_can_be_read_is_known(void **state) {
  (void)state;
  uint8_t *end = stretch_end(), *start = end - ROOM;
  assert_int_equal(mapped_bytes(end - 1), 1);
  assert_int_equal(mapped_bytes(start), ROOM);
  assert_int_equal(mapped_bytes(end), 0);
  assert_int_equal(mprotect(start, PAGE, PROT_READ), 0); // another mapping, the next begins where it ends
  assert_int_equal(mapped_bytes(start + 1), ROOM - 1);
  assert_int_equal(mapped_bytes(NULL), 0);
  assert_int_equal(mapped_bytes((void *)0x41), 0);
  assert_int_equal(mapped_bytes((void *)UINTPTR_MAX), 0);
}

// Loads what lies there, without the line that is said of every image; what could be loaded is unloaded.
static CudaError load(const void *image) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  FILE *own = stderr;
  stderr = nowhere;
  Binary *module = (Binary *)0x41;
  CudaError error = cuModuleLoadData(&module, image);
  stderr = own;
  if (error == cudaSuccess) assert_int_equal(cuModuleUnload(module), cudaSuccess);
  else assert_ptr_equal(module, (Binary *)0x41); // no handle of what is not there
  return error;
}

static void images_that_are_cut_off_are_refused(void **state) {
  Arena *arena = *state;
  uint8_t *end = stretch_end();
  static const char *const files[] = {"zstd", "lz4", "plain", "several"};
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    size_t count;
    const char *bytes = read_file(arena, files[i], &count);
    assert_true(count <= ROOM);
    memcpy(end - count, bytes, count);
    assert_int_equal(load(end - count), cudaSuccess);
    for (size_t kept = 0; kept < count; kept += kept < 160 ? 1 : 61) {
      memcpy(end - kept, bytes, kept);
      CudaError error = load(end - kept);
      assert_true(error == cudaErrorInvalidKernelImage || (error == cudaErrorInvalidPtx && kept < 4)); // too short to be known
    }
  }
}

static void damaged_images_are_refused(void **state) {
  Arena *arena = *state;
  uint8_t *end = stretch_end();
  static const char *const files[] = {"zstd", "lz4", "plain"};
  for (size_t i = 0; i < COUNT_OF(files); i++) {
    size_t count;
    const char *bytes = read_file(arena, files[i], &count);
    for (uint64_t flip = 0; flip < 100; flip++) {
      uint64_t bit = random_below(random_draw(5, i, flip), 8 * (flip % 2 == 0 ? 80 : count));
      memcpy(end - count, bytes, count);
      end[-(ptrdiff_t)count + (ptrdiff_t)(bit / 8)] ^= (uint8_t)(1 << bit % 8);
      load(end - count); // a flip in a text may still be PTX
    }
    for (size_t field = 4; field + 8 <= 80; field += 4) { // headers: every length at its largest
      memcpy(end - count, bytes, count);
      memset(end - count + field, 0xFF, 8);
      load(end - count);
    }
  }
}

static void wild_images_are_refused(void **state) {
  (void)state;
  uint8_t *end = stretch_end();
  assert_int_equal(load(NULL), cudaErrorInvalidValue);
  assert_int_equal(load((void *)0x41), cudaErrorInvalidKernelImage);
  assert_int_equal(load(end), cudaErrorInvalidKernelImage);
  memset(end - 8, 'x', 8); // a text without an end
  assert_int_equal(load(end - 8), cudaErrorInvalidPtx);
  memcpy(end - 8, "\177ELFxxxx", 8);
  assert_int_equal(load(end - 8), cudaErrorNoKernelImageForDevice);
}

static void wrappers_are_read_within_their_memory(void **state) {
  Arena *arena = *state;
  size_t count;
  const char *bytes = read_file(arena, "zstd", &count);
  uint8_t *end = stretch_end(), *place = end - sizeof(FatBinaryWrapper);
  FatBinaryWrapper wrapper = {WRAPPER_MAGIC, 1, bytes, NULL};
  memcpy(place - 1, &wrapper, sizeof wrapper); // not aligned
  assert_int_equal(load(place - 1), cudaSuccess);
  memcpy(place + 4, &wrapper, sizeof wrapper - 4); // cut off
  assert_int_equal(load(place + 4), cudaErrorInvalidKernelImage);
  const void *units[] = {bytes, (void *)0x41, NULL};
  wrapper = (FatBinaryWrapper){WRAPPER_MAGIC, 2, NULL, units};
  assert_int_equal(load(&wrapper), cudaErrorInvalidKernelImage);
  units[1] = NULL;
  assert_int_equal(load(&wrapper), cudaSuccess);
  wrapper.fat_binaries = end - 2 * sizeof(void *); // a list without an end
  memcpy(end - 16, (const void *[]){bytes, bytes}, 16);
  assert_int_equal(load(&wrapper), cudaErrorInvalidKernelImage);
  wrapper.fat_binaries = (void *)0x41;
  assert_int_equal(load(&wrapper), cudaErrorInvalidKernelImage);
}

static void registered_binaries_are_read_within_their_memory(void **state) {
  Arena *arena = *state;
  size_t count;
  const char *bytes = read_file(arena, "plain", &count);
  uint8_t *end = stretch_end();
  static char stub, good_stub;
  void *arguments[] = {&(void *){NULL}, &(int){0}};
  FatBinaryWrapper good = {WRAPPER_MAGIC, 1, bytes, NULL};
  void **good_handle = __cudaRegisterFatBinary(&good);
  __cudaRegisterFunction(good_handle, &good_stub, &good_stub, "scale", -1, NULL, NULL, NULL, NULL, NULL);
  assert_int_equal(cudaLaunchKernel(&good_stub, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, arguments, 0, NULL), cudaSuccess);
  FatBinaryWrapper wrapper = {WRAPPER_MAGIC, 1, end - count + 1, NULL};
  memcpy(end - count + 1, bytes, count - 1);
  void **handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &stub, &stub, "scale", -1, NULL, NULL, NULL, NULL, NULL);
  assert_int_equal(__cudaInitModule(handle), 0);
  assert_int_equal(__cudaInitModule((void **)0x41), 0);
  __cudaRegisterFunction((void **)0x41, &stub + 1, &stub, "scale", -1, NULL, NULL, NULL, NULL, NULL);
  assert_int_equal(cudaLaunchKernel(&stub, (Dim3){1, 1, 1}, (Dim3){1, 1, 1}, arguments, 0, NULL), cudaErrorInvalidKernelImage);
  handle = __cudaRegisterFatBinary((void *)0x41);
  assert_int_equal(__cudaInitModule(handle), 0);
}

static void files_are_read_within_their_length(void **state) {
  Arena *arena = *state;
  size_t count;
  const char *bytes = read_file(arena, "lz4", &count);
  char path[] = P_tmpdir "/redoubt-image-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  Binary *module = NULL;
  assert_int_equal(cuModuleLoad(&module, path), cudaErrorInvalidKernelImage); // empty
  assert_int_equal(write(file, bytes, count - 1), (ssize_t)count - 1);
  assert_int_equal(cuModuleLoad(&module, path), cudaErrorInvalidKernelImage);
  assert_int_equal(write(file, bytes + count - 1, 1), 1);
  assert_int_equal(cuModuleLoad(&module, path), cudaSuccess);
  assert_int_equal(cuModuleUnload(module), cudaSuccess);
  FatBinaryWrapper wrapper = {WRAPPER_MAGIC, 1, bytes, NULL}; // pointers in a file mean nothing
  assert_int_equal(pwrite(file, &wrapper, sizeof wrapper, 0), (ssize_t)sizeof wrapper);
  assert_int_equal(cuModuleLoad(&module, path), cudaErrorInvalidPtx);
  assert_int_equal(cuModuleLoad(&module, "/"), cudaErrorFileNotFound);
  assert_int_equal(cuModuleLoad(&module, NULL), cudaErrorInvalidValue);
  close(file);
  unlink(path);
}

static int set_up(void **state) {
  *state = arena_new();
  return 0;
}
static int tear_down(void **state) {
  arena_free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_can_be_read_is_known),
      cmocka_unit_test(images_that_are_cut_off_are_refused),
      cmocka_unit_test(damaged_images_are_refused),
      cmocka_unit_test(wild_images_are_refused),
      cmocka_unit_test(wrappers_are_read_within_their_memory),
      cmocka_unit_test(registered_binaries_are_read_within_their_memory),
      cmocka_unit_test(files_are_read_within_their_length),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
