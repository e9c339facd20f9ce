// Sizes, pitches and positions at the edges of 64 bits, through the interface: refused with the right error, never wrapped.
#include "cudart/array.h"
#include "cudart/test_api.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <cmocka.h>

#define MAX UINT64_MAX
#define TOP (UINT64_C(1) << 63)
#define G8 (UINT64_C(1) << 33)

static const ChannelDesc one_float = {32, 0, 0, 0, CHANNEL_FLOAT};

static uint8_t *device_bytes(size_t bytes) {
  void *pointer = NULL;
  assert_int_equal(cudaMalloc(&pointer, bytes), cudaSuccess);
  return pointer;
}

// ---- Allocations ------------------------------------------------------------------------------------------

static void allocations_that_wrap_are_refused(void **state) {
  (void)state;
  void *pointer = NULL;
  size_t pitch = 7;
  static const struct {
    size_t width, height;
  } pitched[] = {{G8, G8}, {MAX, 1}, {MAX - 511, 1}, {MAX - 510, 1}, {1, MAX}, {512, TOP >> 8}, {513, (MAX / 1024) + 1}, {MAX, 0}};
  for (size_t i = 0; i < COUNT_OF(pitched); i++) {
    assert_int_equal(cudaMallocPitch(&pointer, &pitch, pitched[i].width, pitched[i].height), cudaErrorMemoryAllocation);
    assert_null(pointer);
    assert_int_equal(pitch, 7);
  }
  static const Extent volumes[] = {{G8, G8, 1}, {1, G8, G8}, {MAX, MAX, MAX}, {1, 1, MAX}, {512, 1, TOP >> 8}, {MAX - 1, 1, 1}};
  for (size_t i = 0; i < COUNT_OF(volumes); i++) {
    PitchedPointer rows = {.pitch = 7};
    assert_int_equal(cudaMalloc3D(&rows, volumes[i]), cudaErrorMemoryAllocation);
    assert_int_equal(rows.pitch, 7);
  }
  static const size_t sizes[] = {MAX, MAX - 1, MAX - 255, TOP, UINT64_C(1) << 62};
  for (size_t i = 0; i < COUNT_OF(sizes); i++) {
    uint64_t address = 7;
    assert_int_equal(cudaMalloc(&pointer, sizes[i]), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMallocManaged(&pointer, sizes[i], 1), cudaErrorMemoryAllocation);
    assert_int_equal(cudaHostAlloc(&pointer, sizes[i], 0), cudaErrorMemoryAllocation);
    assert_int_equal(cudaMallocAsync(&pointer, sizes[i], NULL), cudaErrorMemoryAllocation);
    assert_int_equal(cuMemAlloc_v2(&address, sizes[i]), cudaErrorMemoryAllocation);
    assert_int_equal(address, 7);
  }
  assert_int_equal(cuMemAddressReserve(&(uint64_t){0}, TOP, 0, 0, 0), cudaErrorMemoryAllocation);
  assert_int_equal(cuMemCreate(&pointer, TOP, NULL, 0), cudaErrorMemoryAllocation);
  assert_int_equal(cudaDeviceSetLimit(2, MAX), cudaErrorMemoryAllocation); // the heap of malloc in kernels
}

static void allocations_at_the_edge_are_made(void **state) {
  (void)state;
  void *pointer = NULL;
  size_t pitch = 0;
  static const size_t widths[] = {1, 511, 512, 513}, pitches[] = {512, 512, 512, 1024};
  for (size_t i = 0; i < COUNT_OF(widths); i++) {
    assert_int_equal(cudaMallocPitch(&pointer, &pitch, widths[i], 3), cudaSuccess);
    assert_int_equal(pitch, pitches[i]);
    assert_int_equal(cudaMemset2D(pointer, pitch, 1, pitch, 3), cudaSuccess); // all of it is there
    assert_int_equal(cudaMemset2D(pointer, pitch, 1, pitch, 4), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(pointer), cudaSuccess);
  }
  assert_int_equal(cudaMallocPitch(&pointer, &pitch, 0, MAX), cudaSuccess); // nothing, as on hardware
  assert_null(pointer);
}

static void host_memory_that_is_not_there_is_not_registered(void **state) {
  (void)state;
  enum { PAGE = 4096 };
  uint8_t *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED && munmap(pages + 2 * PAGE, PAGE) == 0);
  assert_int_equal(cudaHostRegister(pages, 2 * PAGE + 1, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaHostRegister(pages + PAGE, MAX, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaHostRegister((void *)0x41, 8, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaHostRegister(NULL, 8, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaHostRegister(pages + 100, PAGE, 0), cudaSuccess);
  assert_int_equal(cudaHostRegister(pages, 101, 0), cudaErrorHostMemoryAlreadyRegistered); // one byte of it
  assert_int_equal(cudaHostRegister(pages, 100, 0), cudaSuccess);
  assert_int_equal(cudaMemset(pages, 1, 100), cudaSuccess);
  assert_int_equal(cudaMemset(pages, 1, 101), cudaErrorInvalidValue);
  assert_int_equal(cudaHostUnregister(pages), cudaSuccess);
  assert_int_equal(cudaHostUnregister(pages), cudaErrorHostMemoryNotRegistered);
  assert_int_equal(cudaHostUnregister(pages + 100), cudaSuccess);
  munmap(pages, 2 * PAGE);
}

// ---- Fills and copies -------------------------------------------------------------------------------------------

static void fills_that_wrap_are_refused(void **state) {
  (void)state;
  enum { BYTES = 4096 };
  uint8_t *memory = device_bytes(BYTES);
  static const struct {
    size_t pitch, width, height;
    CudaError error;
  } cases[] = {
      {TOP, 64, 3, cudaErrorInvalidValue},                // 2 * 2^63 = 0
      {TOP, 64, 2, cudaErrorInvalidValue},                //
      {MAX, 1, 2, cudaErrorInvalidValue},                 // one byte before the start
      {MAX - 63, 64, 2, cudaErrorInvalidValue},           //
      {64, MAX, 1, cudaErrorInvalidValue},                //
      {64, 65, 2, cudaErrorInvalidValue},                 // rows that overlap
      {0, 1, MAX, cudaErrorInvalidValue},                 //
      {1, 1, MAX, cudaErrorInvalidValue},                 //
      {1024, 1024, 4, cudaSuccess},                       // just all
      {1024, 1024, 5, cudaErrorInvalidValue},             //
      {1024, 1, (MAX / 1024) + 2, cudaErrorInvalidValue}, // (height - 1) * pitch = 2^64
      {MAX, BYTES, 1, cudaSuccess},                       // a pitch that is not used
      {MAX, 0, MAX, cudaSuccess},                         // nothing
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++)
    assert_int_equal(cudaMemset2D(memory, cases[i].pitch, 1, cases[i].width, cases[i].height), cases[i].error);
  assert_int_equal(cudaMemset(memory, 1, MAX), cudaErrorInvalidValue);
  assert_int_equal(cudaMemset(memory, 1, MAX - address_of(memory) + 2), cudaErrorInvalidValue);            // to address 1
  assert_int_equal(cuMemsetD32_v2(address_of(memory), 1, (UINT64_C(1) << 62) + 1), cudaErrorInvalidValue); // 4 bytes, wrapped
  assert_int_equal(cuMemsetD16_v2(address_of(memory), 1, TOP + 1), cudaErrorInvalidValue);
  assert_int_equal(cuMemsetD32_v2(address_of(memory), 1, BYTES / 4), cudaSuccess);
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void volumes_that_wrap_are_refused(void **state) {
  (void)state;
  enum { BYTES = 4096 };
  uint8_t *memory = device_bytes(BYTES);
  static const struct {
    size_t pitch, rows;
    Extent extent;
    CudaError error;
  } cases[] = {
      {64, 8, {64, 8, 8}, cudaSuccess},
      {64, 8, {64, 8, 9}, cudaErrorInvalidValue},
      {64, 8, {64, 9, 2}, cudaErrorInvalidValue}, // slices that overlap
      {0, 0, {1, 1, MAX}, cudaErrorInvalidValue}, // a loop without an end
      {64, 0, {64, 1, MAX}, cudaErrorInvalidValue},
      {TOP, 2, {64, 2, 2}, cudaErrorInvalidValue},
      {UINT64_C(1) << 32, UINT64_C(1) << 32, {64, 1, 2}, cudaErrorInvalidValue}, // slices of 2^64 bytes
      {MAX, MAX, {1, 1, 1}, cudaSuccess},
      {64, 8, {0, MAX, MAX}, cudaSuccess},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    PitchedPointer rows = {memory, cases[i].pitch, 64, cases[i].rows};
    assert_int_equal(cudaMemset3D(rows, 1, cases[i].extent), cases[i].error);
  }
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void plane_copies_that_wrap_are_refused(void **state) {
  (void)state;
  enum { BYTES = 4096 };
  uint8_t *memory = device_bytes(BYTES);
  static uint8_t host[BYTES];
  static const struct {
    size_t pitch, width, height;
    CudaError error;
  } cases[] = {
      {TOP, 64, 3, cudaErrorInvalidPitchValue},
      {MAX, 64, 2, cudaErrorInvalidPitchValue},
      {2147483648, 64, 2, cudaErrorInvalidPitchValue},
      {2147483647, 64, 2, cudaErrorInvalidValue},
      {63, 64, 2, cudaErrorInvalidPitchValue},
      {64, 64, MAX, cudaErrorInvalidValue},
      {64, 64, BYTES / 64, cudaSuccess},
      {64, 64, BYTES / 64 + 1, cudaErrorInvalidValue},
      {64, 1, (MAX / 64) + 2, cudaErrorInvalidValue},
      {MAX, MAX, 1, cudaErrorInvalidValue},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    size_t pitch = cases[i].pitch, width = cases[i].width, height = cases[i].height;
    assert_int_equal(cudaMemcpy2D(memory, pitch, memory, pitch, width, height, DEVICE_TO_DEVICE), cases[i].error);
    assert_int_equal(cudaMemcpy2D(memory, pitch, host, pitch, width, height, HOST_TO_DEVICE), cases[i].error);
    assert_int_equal(cudaMemcpy2D(host, pitch, memory, pitch, width, height, COPY_DEFAULT), cases[i].error);
  }
  // Between host pointers nothing is known but the end of the address space.
  assert_int_equal(cudaMemcpy(host, host, MAX, HOST_TO_HOST), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy(host, (void *)8, 8, HOST_TO_HOST), cudaErrorInvalidValue); // a null pointer and an offset
  assert_int_equal(cudaMemcpy(memory, host, BYTES + 1, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void volume_copies_that_wrap_are_refused(void **state) {
  (void)state;
  enum { BYTES = 4096 };
  uint8_t *memory = device_bytes(BYTES);
  static const struct {
    size_t pitch, rows;
    Position position;
    Extent extent;
    CudaError error;
  } cases[] = {
      {64, 8, {0, 0, 0}, {64, 8, 8}, cudaSuccess},
      {64, 8, {0, 0, 0}, {64, 8, 9}, cudaErrorInvalidValue},
      {64, 8, {0, 0, 7}, {64, 8, 1}, cudaSuccess},
      {64, 8, {0, 0, 8}, {64, 8, 1}, cudaErrorInvalidValue},
      {64, 8, {1, 0, 0}, {64, 2, 1}, cudaErrorInvalidPitchValue},
      {64, 8, {0, 1, 0}, {64, 8, 2}, cudaErrorInvalidValue},
      {64, 8, {MAX, 0, 0}, {1, 1, 1}, cudaErrorInvalidValue}, // one byte before the start
      {64, 8, {0, MAX, 0}, {64, 1, 1}, cudaErrorInvalidValue},
      {64, 8, {0, 0, MAX}, {64, 8, 1}, cudaErrorInvalidValue},
      {64, 8, {0, 0, (MAX / 512) + 1}, {64, 8, 1}, cudaErrorInvalidValue}, // 2^64 bytes on
      {64, 0, {0, 0, 0}, {64, 1, MAX}, cudaErrorInvalidValue},             // a loop without an end
      {0, 0, {0, 0, 0}, {1, 1, MAX}, cudaErrorInvalidPitchValue},
      {64, MAX, {0, 0, 0}, {64, 1, 2}, cudaErrorInvalidValue},
      {64, 8, {0, 0, 0}, {MAX, MAX, MAX}, cudaErrorInvalidPitchValue},
      {64, 8, {MAX, MAX, MAX}, {MAX, MAX, 0}, cudaSuccess}, // nothing
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    PitchedPointer rows = {memory, cases[i].pitch, 64, cases[i].rows};
    Copy3D copy = {
        .source_position = cases[i].position, .source = rows, .destination = rows, .extent = cases[i].extent, .kind = COPY_DEFAULT};
    copy.destination_position = copy.source_position;
    assert_int_equal(cudaMemcpy3D(&copy), cases[i].error);
  }
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

// ---- Arrays and textures ----------------------------------------------------------------------------------------

static void arrays_have_the_sizes_that_properties_say(void **state) {
  (void)state;
  Array *array = NULL;
  static const struct {
    Extent extent;
    uint32_t flags;
    CudaError error;
  } cases[] = {
      {{MAX, MAX, 0}, 0, cudaErrorInvalidValue},
      {{MAX, 0, 0}, 0, cudaErrorInvalidValue},
      {{0, 0, 0}, 0, cudaErrorInvalidValue},
      {{131072, 0, 0}, 0, cudaSuccess},
      {{131073, 0, 0}, 0, cudaErrorInvalidValue},
      {{16, 65536, 0}, 0, cudaSuccess},
      {{16, 65537, 0}, 0, cudaErrorInvalidValue},
      {{16, 16, 16384}, 0, cudaSuccess},
      {{1, 1, 32768}, 0, cudaSuccess},
      {{1, 1, 32769}, 0, cudaErrorInvalidValue},
      {{1, 0, 8}, 0, cudaErrorInvalidValue},
      {{G8, G8, G8}, 0, cudaErrorInvalidValue},
      {{1, 0, 2048}, ARRAY_LAYERED, cudaSuccess},
      {{1, 0, 2049}, ARRAY_LAYERED, cudaErrorInvalidValue},
      {{4, 4, 6}, ARRAY_CUBEMAP, cudaSuccess},
      {{4, 5, 6}, ARRAY_CUBEMAP, cudaErrorInvalidValue},
      {{4, 4, 12}, ARRAY_CUBEMAP, cudaErrorInvalidValue},
      {{4, 4, 12}, ARRAY_CUBEMAP | ARRAY_LAYERED, cudaSuccess},
      {{4, 4, 0}, ARRAY_LAYERED, cudaErrorInvalidValue},
      {{131072, 65536, 0}, 0, cudaErrorMemoryAllocation}, // 32 GiB
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    assert_int_equal(cudaMalloc3DArray(&array, &one_float, cases[i].extent, cases[i].flags), cases[i].error);
    if (cases[i].error == cudaSuccess) assert_int_equal(cudaFreeArray(array), cudaSuccess);
  }
  assert_int_equal(cudaMallocArray(&array, &one_float, MAX, MAX, 0), cudaErrorInvalidValue);
  static const ChannelDesc wrong[] = {{0, 0, 0, 0, 2}, {-32, 64, 0, 0, 2}, {INT32_MAX, 1, 0, 0, 2}, {33, 0, 0, 0, 0}, {5, 0, 0, 0, 0}};
  for (size_t i = 0; i < COUNT_OF(wrong); i++)
    assert_int_equal(cudaMallocArray(&array, &wrong[i], 4, 4, 0), cudaErrorInvalidChannelDescriptor);
}

static void mipmaps_have_levels_down_to_one_texel(void **state) {
  (void)state;
  Mipmap *mipmap = NULL;
  Array *level = NULL;
  assert_int_equal(cudaMallocMipmappedArray(&mipmap, &one_float, (Extent){MAX, MAX, MAX}, 4, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaMallocMipmappedArray(&mipmap, &one_float, (Extent){32769, 0, 0}, 4, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaMallocMipmappedArray(&mipmap, &one_float, (Extent){8, 4, 0}, UINT32_MAX, 0), cudaSuccess);
  assert_int_equal(cudaGetMipmappedArrayLevel(&level, mipmap, 3), cudaSuccess);
  assert_int_equal(cudaGetMipmappedArrayLevel(&level, mipmap, 4), cudaErrorInvalidValue);
  assert_int_equal(cudaFreeArray(level), cudaErrorInvalidResourceHandle); // the mipmap's own
  assert_int_equal(cudaFreeMipmappedArray(mipmap), cudaSuccess);
  assert_int_equal(cudaFreeMipmappedArray(mipmap), cudaErrorInvalidResourceHandle);
}

static void copies_stay_inside_arrays(void **state) {
  (void)state;
  Array *array = NULL, *other = NULL;
  static uint8_t host[4096];
  const ChannelDesc byte = {8, 0, 0, 0, CHANNEL_UNSIGNED};
  assert_int_equal(cudaMallocArray(&array, &one_float, 8, 4, 0), cudaSuccess); // rows of 32 bytes, 64 apart
  assert_int_equal(cudaMallocArray(&other, &byte, 8, 4, 0), cudaSuccess);
  assert_int_equal(cudaMemcpy2DToArray(array, 0, 0, host, 32, 32, 4, HOST_TO_DEVICE), cudaSuccess);
  assert_int_equal(cudaMemcpy2DToArray(array, 4, 0, host, 32, 32, 4, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy2DToArray(array, MAX - 3, 0, host, 32, 4, 1, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy2DToArray(array, 0, MAX, host, 32, 32, 1, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy2DToArray(array, 0, 1, host, 32, 32, MAX, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy2DFromArray(host, 32, array, 4, 0, MAX - 3, 1, DEVICE_TO_HOST), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy2DFromArray(host, TOP, array, 0, 0, 32, 4, DEVICE_TO_HOST), cudaErrorInvalidPitchValue);
  assert_int_equal(cudaMemcpyToArray(array, 0, 0, host, 128, HOST_TO_DEVICE), cudaSuccess);
  assert_int_equal(cudaMemcpyToArray(array, 0, 0, host, 129, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpyToArray(array, 16, 3, host, 16, HOST_TO_DEVICE), cudaSuccess);
  assert_int_equal(cudaMemcpyToArray(array, 16, 3, host, 17, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpyToArray(array, MAX, MAX, host, MAX, HOST_TO_DEVICE), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpyArrayToArray(array, 0, 0, array, 32, 2, 32, DEVICE_TO_DEVICE), cudaSuccess); // the row's end: the next row
  assert_int_equal(cudaMemcpyArrayToArray(array, 0, 0, array, 32, 3, 1, DEVICE_TO_DEVICE), cudaErrorInvalidValue);
  Copy3D copy = {.source = {host, 32, 8, 4}, .destination_array = array, .extent = {8, 4, 1}, .kind = HOST_TO_DEVICE};
  assert_int_equal(cudaMemcpy3D(&copy), cudaSuccess);
  copy.destination_position.x = 1;
  assert_int_equal(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // into the padding
  copy.destination_position.x = (UINT64_C(1) << 62) + 1;        // times 4 bytes: 4
  copy.extent.width = 7;
  assert_int_equal(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  copy.destination_position.x = 0;
  copy.extent.width = (UINT64_C(1) << 62) + 1;
  assert_int_equal(cudaMemcpy3D(&copy), cudaErrorInvalidPitchValue);
  Copy3D between = {.source_array = other, .destination_array = array, .extent = {8, 4, 1}, .kind = DEVICE_TO_DEVICE};
  assert_int_equal(cudaMemcpy3D(&between), cudaErrorInvalidValue); // texels of 1 byte into texels of 4
  assert_int_equal(cudaFreeArray(array), cudaSuccess);
  assert_int_equal(cudaMemcpy3D(&copy), cudaErrorInvalidValue); // no array any more
  assert_int_equal(cudaFreeArray(other), cudaSuccess);
}

static CudaError make_texture(const ResourceDesc *resource) {
  const TextureDesc plain = {0};
  uint64_t object = 0;
  CudaError error = cudaCreateTextureObject(&object, resource, &plain, NULL);
  if (error == cudaSuccess) assert_int_equal(cudaDestroyTextureObject(object), cudaSuccess);
  return error;
}

static void textures_have_the_sizes_that_properties_say(void **state) {
  (void)state;
  uint8_t *memory = device_bytes(4096);
  ResourceDesc linear = {.type = RESOURCE_LINEAR, .of.linear = {memory, one_float, 4096}};
  assert_int_equal(make_texture(&linear), cudaSuccess);
  static const size_t too_big[] = {0, 3, (UINT64_C(1) << 30) + 4, UINT64_C(1) << 34, MAX};
  for (size_t i = 0; i < COUNT_OF(too_big); i++) {
    linear.of.linear.bytes = too_big[i];
    assert_int_equal(make_texture(&linear), cudaErrorInvalidValue);
  }
  static const struct {
    size_t width, height, pitch;
    CudaError error;
  } cases[] = {{8, 4, 32, cudaSuccess},
               {8, 4, 31, cudaErrorInvalidValue},
               {0, 4, 32, cudaErrorInvalidValue},
               {8, 65001, 32, cudaErrorInvalidValue},
               {8, 4, 2097121, cudaErrorInvalidValue},
               {8, 4, MAX, cudaErrorInvalidValue},
               {G8 + 8, 4, 32, cudaErrorInvalidValue},
               {MAX, MAX, MAX, cudaErrorInvalidValue}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    ResourceDesc plane = {.type = RESOURCE_PITCH2D, .of.pitch2d = {memory, one_float, cases[i].width, cases[i].height, cases[i].pitch}};
    assert_int_equal(make_texture(&plane), cases[i].error);
  }
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(allocations_that_wrap_are_refused),
      cmocka_unit_test(allocations_at_the_edge_are_made),
      cmocka_unit_test(host_memory_that_is_not_there_is_not_registered),
      cmocka_unit_test(fills_that_wrap_are_refused),
      cmocka_unit_test(volumes_that_wrap_are_refused),
      cmocka_unit_test(plane_copies_that_wrap_are_refused),
      cmocka_unit_test(volume_copies_that_wrap_are_refused),
      cmocka_unit_test(arrays_have_the_sizes_that_properties_say),
      cmocka_unit_test(mipmaps_have_levels_down_to_one_texel),
      cmocka_unit_test(copies_stay_inside_arrays),
      cmocka_unit_test(textures_have_the_sizes_that_properties_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
