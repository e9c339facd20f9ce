// nvcc: -lcuda
// The driver's interface: device, context, a module from PTX text, globals, both ways to pass arguments, linking.
#include <cuda.h>

#include <cstdio>
#include <cstring>

static const char ptx[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 bias = 5;
.visible .entry fill(.param .u64 out, .param .u32 count) {
  .reg .pred %p;
  .reg .u32 %r<5>;
  .reg .u64 %d<4>;
  ld.param.u64 %d0, [out];
  ld.param.u32 %r0, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r0;
  @%p ret;
  ld.global.u32 %r4, [bias];
  add.u32 %r4, %r4, %r1;
  mul.wide.u32 %d1, %r1, 4;
  add.u64 %d2, %d0, %d1;
  st.global.u32 [%d2], %r4;
  ret;
}
)";

static void check(CUresult result, int line) {
  if (result == CUDA_SUCCESS) return;
  const char *name;
  cuGetErrorName(result, &name);
  std::printf("line %d: %s\n", line, name);
  std::exit(1);
}
#define CHECK(call) check(call, __LINE__)

// Memory that is reserved, created and mapped in separate steps.
static CUdeviceptr map_memory(size_t wanted, size_t *bytes, CUmemGenericAllocationHandle *handle) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  size_t granularity;
  CHECK(cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  *bytes = (wanted + granularity - 1) / granularity * granularity;
  CUdeviceptr address;
  CHECK(cuMemAddressReserve(&address, *bytes, 0, 0, 0));
  CHECK(cuMemCreate(handle, *bytes, &properties, 0));
  CHECK(cuMemMap(address, *bytes, 0, *handle, 0));
  CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemSetAccess(address, *bytes, &access, 1));
  return address;
}

static void run(CUmodule module, unsigned bias) {
  const unsigned count = 1000;
  CUfunction fill;
  CHECK(cuModuleGetFunction(&fill, module, "fill"));
  size_t mapped;
  CUmemGenericAllocationHandle handle;
  CUdeviceptr out = map_memory(count * 4, &mapped, &handle);
  unsigned got[count], n = count;
  void *arguments[] = {&out, &n};
  struct {
    CUdeviceptr out;
    unsigned count;
  } packed = {out, count};
  size_t bytes = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  for (int way = 0; way < 2; way++) {
    CHECK(cuMemsetD32(out, 0xFFFFFFFF, count));
    CHECK(cuLaunchKernel(fill, 8, 1, 1, 128, 1, 1, 0, nullptr, way ? nullptr : arguments, way ? extra : nullptr));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(got, out, sizeof got));
    for (unsigned i = 0; i < count; i++)
      if (got[i] != i + bias) std::printf("way %d: got[%u] = %u\n", way, i, got[i]), std::exit(1);
  }
  CHECK(cuMemUnmap(out, mapped));
  CHECK(cuMemRelease(handle));
  CHECK(cuMemAddressFree(out, mapped));
}

int main() {
  CUdevice device;
  CUcontext context;
  int count = 0, major = 0;
  CHECK(cuInit(0));
  CHECK(cuDeviceGetCount(&count));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuCtxCreate(&context, nullptr, 0, device));
  CUdeviceptr plain;
  CHECK(cuMemAlloc(&plain, 100));
  CHECK(cuMemFree(plain));
  if (cuMemFree(plain) != CUDA_ERROR_INVALID_VALUE) return std::printf("freed twice\n"), 1;
  if (count != 1 || major != 7) return std::printf("%d devices, major %d\n", count, major), 1;

  CUmodule module;
  CHECK(cuModuleLoadData(&module, ptx));
  run(module, 5);
  CUdeviceptr bias;
  size_t bytes;
  unsigned value = 70;
  CHECK(cuModuleGetGlobal(&bias, &bytes, module, "bias"));
  if (bytes != 4) return std::printf("bias has %zu bytes\n", bytes), 1;
  CHECK(cuMemcpyHtoD(bias, &value, 4));
  run(module, 70);
  CUfunction none;
  if (cuModuleGetFunction(&none, module, "nowhere") != CUDA_ERROR_NOT_FOUND) return std::printf("nowhere was found\n"), 1;
  CHECK(cuModuleUnload(module));

  CUlinkState link;
  void *image;
  CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char *>(ptx), std::strlen(ptx) + 1, "fill", 0, nullptr, nullptr));
  CHECK(cuLinkComplete(link, &image, &bytes));
  CHECK(cuModuleLoadData(&module, image));
  CHECK(cuLinkDestroy(link));
  run(module, 5);
  CHECK(cuCtxDestroy(context));
  std::printf("PASS\n");
}
