// The driver's interface as programs reach it that link none of it: dlopen, cuGetProcAddress, and what NVIDIA's samples of the driver's
// interface use: arrays and textures, copies with shapes, fills, attributes, libraries, graphs, occupancy.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static const char ptx[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry look(.param .u64 texture, .param .u64 out, .param .u32 width) {
  .reg .u32 %r<6>;
  .reg .u64 %d<4>;
  .reg .f32 %f<6>;
  ld.param.u64 %d0, [texture];
  ld.param.u64 %d1, [out];
  ld.param.u32 %r0, [width];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  cvt.rn.f32.u32 %f0, %r1;
  cvt.rn.f32.u32 %f1, %r2;
  add.f32 %f0, %f0, 0f3F000000;
  add.f32 %f1, %f1, 0f3F000000;
  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d0, {%f0, %f1}];
  mad.lo.u32 %r3, %r2, %r0, %r1;
  mul.wide.u32 %d2, %r3, 4;
  add.u64 %d3, %d1, %d2;
  st.global.f32 [%d3], %f2;
  ret;
}
)";

typedef CUresult (*Find)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
static Find find_function;

template <typename T> static T function(const char *name, T) {
  void *found = nullptr;
  CUdriverProcAddressQueryResult status;
  if (find_function(name, &found, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &status) != CUDA_SUCCESS || found == nullptr) {
    std::printf("%s is not found\n", name);
    std::exit(1);
  }
  return reinterpret_cast<T>(found);
}
#define NAME_OF(name) #name
#define TEXT_OF(name) NAME_OF(name)
// By the plain name: cuMemAlloc is a macro for the newest form of it, which must be what is found.
#define CALL(name, plain, ...)                                                        \
  do {                                                                                \
    CUresult result = function(plain, (decltype(&name))nullptr)(__VA_ARGS__);         \
    if (result != CUDA_SUCCESS) {                                                     \
      std::printf("line %d: %s gives %d\n", __LINE__, plain, (int)result);            \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)
#define EXPECT(condition)                                                             \
  do {                                                                                \
    if (!(condition)) {                                                               \
      std::printf("line %d: %s\n", __LINE__, #condition);                             \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

enum { WIDTH = 16, HEIGHT = 4 };

static void test_texture(CUfunction look) {
  float pixels[HEIGHT][WIDTH + 4], seen[HEIGHT][WIDTH];
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH + 4; x++) pixels[y][x] = (float)(100 * y + x);
  }
  CUDA_ARRAY_DESCRIPTOR wish = {WIDTH, HEIGHT, CU_AD_FORMAT_FLOAT, 1}, got;
  CUarray array;
  CALL(cuArrayCreate, "cuArrayCreate", &array, &wish);
  CALL(cuArrayGetDescriptor, "cuArrayGetDescriptor", &got, array);
  EXPECT(got.Width == WIDTH && got.Height == HEIGHT && got.Format == CU_AD_FORMAT_FLOAT && got.NumChannels == 1);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = pixels;
  copy.srcXInBytes = 2 * sizeof(float);
  copy.srcPitch = sizeof pixels[0];
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = WIDTH * sizeof(float);
  copy.Height = HEIGHT;
  CALL(cuMemcpy2D, "cuMemcpy2D", &copy);
  CUDA_RESOURCE_DESC resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC sampling = {};
  sampling.addressMode[0] = sampling.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture;
  CALL(cuTexObjectCreate, "cuTexObjectCreate", &texture, &resource, &sampling, nullptr);
  CUdeviceptr out;
  CALL(cuMemAlloc, "cuMemAlloc", &out, sizeof seen);
  int width = WIDTH;
  void *arguments[] = {&texture, &out, &width};
  CALL(cuLaunchKernel, "cuLaunchKernel", look, 1, 1, 1, WIDTH, HEIGHT, 1, 0, nullptr, arguments, nullptr);
  CALL(cuMemcpyDtoH, "cuMemcpyDtoH", seen, out, sizeof seen);
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++) EXPECT(seen[y][x] == pixels[y][x + 2]);
  }
  CUdeviceptr start;
  size_t bytes;
  unsigned kind;
  CALL(cuMemGetAddressRange, "cuMemGetAddressRange", &start, &bytes, out + 20);
  EXPECT(start == out && bytes == sizeof seen);
  CALL(cuPointerGetAttribute, "cuPointerGetAttribute", &kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, out);
  EXPECT(kind == CU_MEMORYTYPE_DEVICE);
  CALL(cuTexObjectDestroy, "cuTexObjectDestroy", texture);
  CALL(cuArrayDestroy, "cuArrayDestroy", array);
  CALL(cuMemFree, "cuMemFree", out);
}

static void test_shapes() {
  CUdeviceptr rows;
  size_t pitch;
  CALL(cuMemAllocPitch, "cuMemAllocPitch", &rows, &pitch, 40, 3, 4);
  CALL(cuMemsetD2D8, "cuMemsetD2D8", rows, pitch, 7, 40, 3);
  CALL(cuMemsetD32Async, "cuMemsetD32Async", rows + pitch, 0x01020304, 2, nullptr);
  unsigned char seen[3][40];
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = rows;
  copy.srcPitch = pitch;
  copy.srcHeight = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = seen;
  copy.dstPitch = 40;
  copy.dstHeight = 3;
  copy.WidthInBytes = 40;
  copy.Height = 3;
  copy.Depth = 1;
  CALL(cuMemcpy3D, "cuMemcpy3D", &copy);
  EXPECT(seen[0][39] == 7 && seen[2][0] == 7 && seen[1][0] == 4 && seen[1][7] == 1 && seen[1][8] == 7);
  CALL(cuMemFree, "cuMemFree", rows);
}

static void test_questions(CUfunction look) {
  int threads, block, grid;
  CALL(cuFuncGetAttribute, "cuFuncGetAttribute", &threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, look);
  EXPECT(threads >= 32);
  CALL(cuOccupancyMaxPotentialBlockSize, "cuOccupancyMaxPotentialBlockSize", &grid, &block, look, nullptr, 0, 0);
  EXPECT(block >= 32 && grid >= 1);
  CUdevprop properties;
  CALL(cuDeviceGetProperties, "cuDeviceGetProperties", &properties, 0);
  EXPECT(properties.SIMDWidth == 32 && properties.maxThreadsPerBlock >= 512);
  CUuuid uuid;
  CALL(cuDeviceGetUuid, "cuDeviceGetUuid", &uuid, 0);
  size_t limit;
  CALL(cuCtxGetLimit, "cuCtxGetLimit", &limit, CU_LIMIT_STACK_SIZE);
  EXPECT(limit > 0);
}

static void test_library_and_graph() {
  CUlibrary library;
  CUkernel kernel;
  unsigned count;
  CALL(cuLibraryLoadData, "cuLibraryLoadData", &library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  CALL(cuLibraryGetKernelCount, "cuLibraryGetKernelCount", &count, library);
  CALL(cuLibraryGetKernel, "cuLibraryGetKernel", &kernel, library, "look");
  EXPECT(count == 1);
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec exec;
  CUstream stream;
  CUdeviceptr word;
  CALL(cuMemAlloc, "cuMemAlloc", &word, 4);
  CALL(cuStreamCreate, "cuStreamCreate", &stream, CU_STREAM_NON_BLOCKING);
  CALL(cuStreamBeginCapture, "cuStreamBeginCapture", stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CALL(cuMemsetD32Async, "cuMemsetD32Async", word, 77, 1, stream);
  CALL(cuStreamEndCapture, "cuStreamEndCapture", stream, &graph);
  CALL(cuGraphAddEmptyNode, "cuGraphAddEmptyNode", &node, graph, nullptr, 0);
  CALL(cuGraphInstantiate, "cuGraphInstantiate", &exec, graph, 0);
  int seen = 0;
  CALL(cuMemcpyHtoD, "cuMemcpyHtoD", word, &seen, 4);
  CALL(cuGraphLaunch, "cuGraphLaunch", exec, stream);
  CALL(cuMemcpyDtoH, "cuMemcpyDtoH", &seen, word, 4);
  EXPECT(seen == 77);
}

int main() {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  find_function = driver == nullptr ? nullptr : (Find)dlsym(driver, "cuGetProcAddress_v2");
  if (find_function == nullptr) return std::printf("no driver\n"), 1;
  CUcontext context;
  CUmodule module;
  CUfunction look;
  CALL(cuInit, "cuInit", 0);
  CALL(cuCtxCreate, "cuCtxCreate", &context, nullptr, 0, 0);
  CALL(cuModuleLoadData, "cuModuleLoadData", &module, ptx);
  CALL(cuModuleGetFunction, "cuModuleGetFunction", &look, module, "look");
  test_texture(look);
  test_shapes();
  test_questions(look);
  test_library_and_graph();
  CALL(cuCtxSynchronize, "cuCtxSynchronize");
  void *nothing = &nothing;
  CUdriverProcAddressQueryResult status;
  EXPECT(find_function("cuDoesNotExist", &nothing, CUDA_VERSION, 0, &status) == CUDA_ERROR_NOT_FOUND && nothing == nullptr);
  EXPECT(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  std::puts("PASS");
}
