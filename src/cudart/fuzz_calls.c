// libFuzzer target: the input is a list of calls of the CUDA library with any sizes, handles and orders. Handles may be destroyed,
// of another kind, or any number; device addresses may be any; host pointers hold what is asked of them, as in a program that only
// does wrong what the library can know. The library must not crash, hang or leak, and must be as new when all is destroyed.
#include "cudart/array.h"
#include "cudart/graph.h"
#include "cudart/size.h"
#include "cudart/test_api.h"

#include <stdio.h>
#include <sys/mman.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
  HANDLES = 4,
  MOST_CALLS = 200,
  HOST_BYTES = 1 << 16,
  DEVICE_BYTES = 64 << 20,
  TEXTURES = 0,
  MEMORY = HANDLE_CONTEXT + 1,
  KERNELS,
  KINDS
};

typedef struct Fuzz {
  const uint8_t *at, *end;
  void *handles[KINDS][HANDLES]; // by HandleKind, and those three; never cleared, so that destroyed handles come back
  Runtime *runtime;
} Fuzz;

static uint8_t host_memory[HOST_BYTES];

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 bias = 5;\n"
                          ".visible .entry fill(.param .u64 out, .param .u32 value) {\n"
                          "  .reg .u32 %r<4>;\n  .reg .u64 %d<4>;\n"
                          "  ld.param.u64 %d0, [out];\n  ld.param.u32 %r0, [value];\n"
                          "  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %d1, %r1, 4;\n"
                          "  add.u64 %d2, %d0, %d1;\n  st.global.u32 [%d2], %r0;\n  ret;\n}\n";

// ---- Draws ------------------------------------------------------------------------------------------------------

static uint8_t byte(Fuzz *f) { return f->at < f->end ? *f->at++ : 0; }
static bool coin(Fuzz *f) { return byte(f) & 1; }

static uint64_t size(Fuzz *f) {
  static const uint64_t edges[] = {0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   8,
                                   16,
                                   31,
                                   64,
                                   256,
                                   511,
                                   512,
                                   513,
                                   1000,
                                   4096,
                                   65535,
                                   65536,
                                   1 << 20,
                                   2 << 20,
                                   32 << 20,
                                   UINT64_C(1) << 31,
                                   UINT64_C(1) << 32,
                                   UINT64_C(1) << 33,
                                   UINT64_C(1) << 62,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX / 3,
                                   UINT64_MAX - 511,
                                   UINT64_MAX - 1,
                                   UINT64_MAX};
  uint8_t choice = byte(f);
  return choice < 128 ? edges[choice % COUNT_OF(edges)] : choice - 128u;
}

static void *handle(Fuzz *f, uint32_t kind) {
  static const uintptr_t wild[] = {0, 1, 2, 8, 0x41, 0xFFFFFFFF, UINTPTR_MAX - 7, UINTPTR_MAX};
  uint8_t choice = byte(f);
  if (choice < 16) return pointer_of(wild[choice % COUNT_OF(wild)]);
  if (choice < 24) return f->handles[byte(f) % KINDS][choice % HANDLES];
  void *chosen = f->handles[kind][choice % HANDLES];
  return chosen != NULL ? chosen : f->handles[kind][0];
}

static void keep(Fuzz *f, uint32_t kind, CudaError error, void *made) {
  if (error == cudaSuccess && made != NULL) f->handles[kind][byte(f) % HANDLES] = made;
}

// An address that the library takes for device memory: in an allocation, or not.
static void *device(Fuzz *f) {
  uint8_t choice = byte(f);
  if (choice < 8) return NULL;
  if (choice < 24) return pointer_of(memory_base(device_memory(f->runtime->device)) + min_u64(size(f), DEVICE_BYTES));
  return pointer_of(address_of(f->handles[MEMORY][choice % HANDLES]) + (choice < 64 ? byte(f) : 0));
}

// A pointer for that many bytes: to the host's memory if it has them.
static void *anywhere(Fuzz *f, uint64_t bytes) { return bytes <= HOST_BYTES && coin(f) ? host_memory : device(f); }

static Extent extent(Fuzz *f) {
  Extent drawn = {size(f), size(f), size(f)};
  return drawn;
}

static uint64_t span(const PitchedPointer *side, const Extent *box) {
  return size_of_box(box->width, box->height, box->depth, side->pitch, size_multiply(side->pitch, side->height));
}

static PitchedPointer pitched(Fuzz *f, const Extent *box) {
  PitchedPointer drawn = {NULL, size(f), size(f), size(f)};
  drawn.pointer = anywhere(f, span(&drawn, box));
  return drawn;
}

static Copy3D copy(Fuzz *f) {
  Extent box = extent(f), bytes = {size_multiply(box.width, 16), box.height, box.depth};
  Copy3D drawn = {.extent = box, .kind = byte(f) % 8 - 1, .source = pitched(f, &bytes), .destination = pitched(f, &bytes)};
  if (coin(f)) drawn.source_array = handle(f, HANDLE_ARRAY);
  if (coin(f)) drawn.destination_array = handle(f, HANDLE_ARRAY);
  // Positions would lead out of host memory.
  if (drawn.source.pointer != host_memory && coin(f)) drawn.source_position = (Position){size(f), size(f), size(f)};
  if (drawn.destination.pointer != host_memory && coin(f)) drawn.destination_position = (Position){size(f), size(f), size(f)};
  return drawn;
}

static ChannelDesc channels(Fuzz *f) {
  static const ChannelDesc drawn[] = {{8, 0, 0, 0, 1},        {32, 32, 32, 32, 2}, {16, 16, 0, 0, 0}, {0, 0, 0, 0, 0},
                                      {-8, 0, 0, 16, 0},      {10, 10, 10, 2, 31}, {32, 0, 0, 0, 2},  {INT32_MAX, 1, 1, INT32_MAX, 3},
                                      {INT32_MIN, 0, 0, 0, 9}};
  return drawn[byte(f) % COUNT_OF(drawn)];
}

static Dim3 dimensions(Fuzz *f) {
  static const uint32_t edges[] = {1, 1, 2, 3, 32, 0, 1024, 1025, 65536, UINT32_MAX};
  uint8_t choice = byte(f);
  return (Dim3){edges[choice % COUNT_OF(edges)], choice < 240 ? 1 : edges[byte(f) % COUNT_OF(edges)], choice < 250 ? 1 : byte(f)};
}

// Bytes of the input at the end of what can be read.
static const void *image(Fuzz *f) {
  enum { PAGE = 4096 };
  static uint8_t *pages;
  if (pages == NULL) {
    pages = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT(pages != MAP_FAILED && mprotect(pages + PAGE, PAGE, PROT_NONE) == 0);
  }
  size_t count = byte(f);
  for (size_t i = 0; i < count; i++) pages[PAGE - count + i] = byte(f);
  return pages + PAGE - count;
}

static void nothing(void *data) { (void)data; }
static void callback(Stream *stream, CudaError status, void *data) { (void)stream, (void)status, (void)data; }

// ---- Calls --------------------------------------------------------------------------------------------------------

static void call_allocation(Fuzz *f) {
  void *made = NULL;
  size_t pitch = 0;
  PitchedPointer rows = {0};
  uint64_t address = 0;
  switch (byte(f) % 16) {
  case 0: keep(f, MEMORY, cudaMalloc(&made, size(f)), made); break;
  case 1: keep(f, MEMORY, cudaMallocManaged(&made, size(f), byte(f) % 4), made); break;
  case 2: { // beside device memory there is room that no host has
    uint64_t bytes = size(f);
    keep(f, MEMORY, cudaHostAlloc(&made, bytes > DEVICE_BYTES && bytes <= UINT64_C(1) << 33 ? 1000 : bytes, byte(f) % 9), made);
    break;
  }
  case 3: keep(f, MEMORY, cudaMallocPitch(&made, &pitch, size(f), size(f)), made); break;
  case 4: keep(f, MEMORY, cudaMalloc3D(&rows, extent(f)), rows.pointer); break;
  case 5: keep(f, MEMORY, cudaMallocAsync(&made, size(f), handle(f, HANDLE_STREAM)), made); break;
  case 6: keep(f, MEMORY, cudaMallocFromPoolAsync(&made, size(f), handle(f, HANDLE_POOL), handle(f, HANDLE_STREAM)), made); break;
  case 7: keep(f, MEMORY, cuMemAlloc_v2(&address, size(f)), pointer_of(address)); break;
  case 8: keep(f, MEMORY, cuMemAddressReserve(&address, size(f), 0, 0, 0), pointer_of(address)); break;
  case 9: cudaFree(device(f)); break;
  case 10: cudaFreeHost(device(f)); break;
  case 11: cudaFreeAsync(device(f), handle(f, HANDLE_STREAM)); break;
  case 12: cuMemAddressFree(address_of(device(f)), size(f)); break;
  case 13: cudaHostRegister(coin(f) ? host_memory + byte(f) : device(f), size(f), byte(f)); break;
  case 14: cudaHostUnregister(host_memory + byte(f)); break;
  case 15: cudaDeviceSetLimit(byte(f) % 9, size(f)); break;
  }
}

static void call_questions(Fuzz *f) {
  PointerAttributes attributes;
  FuncAttributes function;
  void *pointer;
  size_t offset, bytes;
  const char *name;
  int number;
  uint32_t flags;
  switch (byte(f) % 12) {
  case 0: cudaPointerGetAttributes(&attributes, device(f)); break;
  case 1: cudaHostGetDevicePointer(&pointer, device(f), 0); break;
  case 2: cudaHostGetFlags(&flags, device(f)); break;
  case 3: cudaMemAdvise(device(f), size(f), byte(f), (MemLocation){1, 0}); break;
  case 4: cudaMemRangeGetAttribute(host_memory, byte(f), byte(f), device(f), size(f)); break;
  case 5: cudaFuncGetAttributes(&function, handle(f, KERNELS)); break;
  case 6: cudaFuncGetParamInfo(handle(f, KERNELS), size(f), &offset, &bytes); break;
  case 7: cudaFuncGetName(&name, handle(f, KERNELS)); break;
  case 8: cudaFuncSetAttribute(handle(f, KERNELS), byte(f) % 20 - 2, (int)size(f)); break;
  case 9: cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, handle(f, KERNELS), (int)size(f), size(f)); break;
  case 10: cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, handle(f, KERNELS), (int)size(f), (int)size(f)); break;
  case 11: cuFuncSetCacheConfig(handle(f, KERNELS), byte(f)); break;
  }
}

static void call_copy(Fuzz *f) {
  Stream *stream = handle(f, HANDLE_STREAM);
  Extent box = {size(f), size(f), 1};
  uint64_t pitches[2] = {size(f), size(f)};
  void *to = anywhere(f, max_u64(box.width, size_of_box(box.width, box.height, 1, pitches[0], 0)));
  void *from = anywhere(f, max_u64(box.width, size_of_box(box.width, box.height, 1, pitches[1], 0)));
  Array *array = handle(f, HANDLE_ARRAY), *other = handle(f, HANDLE_ARRAY);
  int kind = byte(f) % 8 - 1;
  Copy3D volume;
  switch (byte(f) % 17) {
  case 0: cudaMemcpyAsync(to, from, box.width, kind, stream); break;
  case 1: cudaMemcpy2DAsync(to, pitches[0], from, pitches[1], box.width, box.height, kind, stream); break;
  case 2: volume = copy(f), cudaMemcpy3DAsync(&volume, stream); break;
  case 3: cudaMemcpy2DToArrayAsync(array, size(f), size(f), from, pitches[1], box.width, box.height, kind, stream); break;
  case 4: cudaMemcpy2DFromArrayAsync(to, pitches[0], array, size(f), size(f), box.width, box.height, kind, stream); break;
  case 5: cudaMemcpy2DArrayToArray(array, size(f), size(f), other, size(f), size(f), box.width, box.height, kind); break;
  case 6: cudaMemcpyToArrayAsync(array, size(f), size(f), from, box.width, kind, stream); break;
  case 7: cudaMemcpyFromArrayAsync(to, array, size(f), size(f), box.width, kind, stream); break;
  case 8: cudaMemcpyArrayToArray(array, size(f), size(f), other, size(f), size(f), size(f), kind); break;
  case 9: cudaMemset2DAsync(device(f), pitches[0], byte(f), box.width, box.height, stream); break;
  case 10: cudaMemsetAsync(device(f), byte(f), box.width, stream); break;
  case 11: cudaMemset3DAsync((PitchedPointer){device(f), size(f), size(f), size(f)}, byte(f), extent(f), stream); break;
  case 12: cuMemsetD16_v2(address_of(device(f)), 7, box.width); break;
  case 13: cuMemsetD32_v2(address_of(device(f)), 7, box.width); break;
  case 14: cuMemcpyDtoD_v2(address_of(device(f)), address_of(device(f)), size(f)); break;
  case 15: cudaMemcpyToSymbol(handle(f, KERNELS), from, box.width, size(f), kind); break;
  case 16: cudaMemcpyPeer(device(f), byte(f) % 2, device(f), 0, size(f)); break;
  }
}

static void call_array(Fuzz *f) {
  Array *array = NULL;
  Mipmap *mipmap = NULL;
  ChannelDesc desc = channels(f);
  Extent got;
  uint32_t flags;
  switch (byte(f) % 8) {
  case 0: keep(f, HANDLE_ARRAY, cudaMallocArray(&array, &desc, size(f), size(f), byte(f) % 16), array); break;
  case 1: keep(f, HANDLE_ARRAY, cudaMalloc3DArray(&array, &desc, extent(f), byte(f) % 16), array); break;
  case 2: cudaFreeArray(handle(f, HANDLE_ARRAY)); break;
  case 3: keep(f, HANDLE_MIPMAP, cudaMallocMipmappedArray(&mipmap, &desc, extent(f), byte(f), byte(f) % 16), mipmap); break;
  case 4: cudaFreeMipmappedArray(handle(f, HANDLE_MIPMAP)); break;
  case 5: keep(f, HANDLE_ARRAY, cudaGetMipmappedArrayLevel(&array, handle(f, HANDLE_MIPMAP), byte(f)), array); break;
  case 6: cudaArrayGetInfo(&desc, &got, &flags, handle(f, HANDLE_ARRAY)); break;
  case 7: cudaGetChannelDesc(&desc, handle(f, HANDLE_ARRAY)); break;
  }
}

static void call_texture(Fuzz *f) {
  ResourceDesc resource = {.type = byte(f) % 5};
  TextureDesc desc = {.address_mode = {byte(f) % 5, byte(f) % 4, 0}, .filter_mode = byte(f) % 3, .read_mode = byte(f) % 2};
  ResourceViewDesc view = {.format = byte(f), .first_level = byte(f), .last_level = byte(f), .first_layer = byte(f), .last_layer = byte(f)};
  uint64_t object = 0;
  if (resource.type == RESOURCE_ARRAY) resource.of.array = handle(f, HANDLE_ARRAY);
  if (resource.type == RESOURCE_MIPMAP) resource.of.mipmap = handle(f, HANDLE_MIPMAP);
  if (resource.type == RESOURCE_LINEAR) {
    resource.of.linear.pointer = device(f);
    resource.of.linear.channels = channels(f);
    resource.of.linear.bytes = size(f);
  }
  if (resource.type == RESOURCE_PITCH2D) {
    resource.of.pitch2d.pointer = device(f);
    resource.of.pitch2d.channels = channels(f);
    resource.of.pitch2d.width = size(f), resource.of.pitch2d.height = size(f), resource.of.pitch2d.pitch = size(f);
  }
  CudaError error = cudaErrorInvalidValue;
  switch (byte(f) % 4) {
  case 0: error = cudaCreateTextureObject(&object, &resource, &desc, coin(f) ? &view : NULL); break;
  case 1: error = cudaCreateSurfaceObject(&object, &resource); break;
  case 2: cudaDestroyTextureObject(address_of(handle(f, TEXTURES))); break;
  case 3: cudaGetTextureObjectResourceDesc(&resource, address_of(handle(f, TEXTURES))); break;
  }
  keep(f, TEXTURES, error, pointer_of(object));
}

static void call_stream(Fuzz *f) {
  Stream *stream = NULL;
  Event *event = NULL;
  Graph *graph = NULL;
  GraphNode *node = handle(f, HANDLE_NODE);
  GraphNode *const *tails;
  const EdgeData *edges;
  float milliseconds;
  int status;
  uint64_t id;
  size_t count;
  switch (byte(f) % 17) {
  case 0: keep(f, HANDLE_STREAM, cudaStreamCreateWithPriority(&stream, byte(f) % 3, byte(f)), stream); break;
  case 1: cudaStreamDestroy(handle(f, HANDLE_STREAM)); break;
  case 2: cudaStreamBeginCapture(handle(f, HANDLE_STREAM), byte(f) % 4); break;
  case 3: keep(f, HANDLE_GRAPH, cudaStreamEndCapture(handle(f, HANDLE_STREAM), &graph), graph); break;
  case 4: cudaStreamBeginCaptureToGraph(handle(f, HANDLE_STREAM), handle(f, HANDLE_GRAPH), &node, NULL, byte(f) % 2, 0); break;
  case 5: {
    CudaError error = cudaStreamGetCaptureInfo_v3(handle(f, HANDLE_STREAM), &status, &id, &graph, &tails, &edges, &count);
    keep(f, HANDLE_GRAPH, error, graph);
    break;
  }
  case 6: cudaStreamUpdateCaptureDependencies_v2(handle(f, HANDLE_STREAM), &node, NULL, byte(f) % 2, byte(f) % 3); break;
  case 7: cudaStreamWaitEvent(handle(f, HANDLE_STREAM), handle(f, HANDLE_EVENT), byte(f) % 2); break;
  case 8: cudaStreamSynchronize(handle(f, HANDLE_STREAM)); break;
  case 9: cudaStreamCopyAttributes(handle(f, HANDLE_STREAM), handle(f, HANDLE_STREAM)); break;
  case 10: cudaStreamSetAttribute(handle(f, HANDLE_STREAM), byte(f) - 100, host_memory); break;
  case 11: cudaLaunchHostFunc(handle(f, HANDLE_STREAM), coin(f) ? nothing : NULL, NULL); break;
  case 12: cudaStreamAddCallback(handle(f, HANDLE_STREAM), callback, NULL, byte(f) % 2); break;
  case 13: keep(f, HANDLE_EVENT, cudaEventCreateWithFlags(&event, byte(f) % 9), event); break;
  case 14: cudaEventDestroy(handle(f, HANDLE_EVENT)); break;
  case 15: cudaEventRecordWithFlags(handle(f, HANDLE_EVENT), handle(f, HANDLE_STREAM), byte(f) % 2); break;
  case 16: cudaEventElapsedTime(&milliseconds, handle(f, HANDLE_EVENT), handle(f, HANDLE_EVENT)); break;
  }
}

// Parameters of any node. A kernel's arguments are there: they are the host's memory.
static GraphNodeParams node_params(Fuzz *f, void **arguments) {
  static const int types[] = {NODE_KERNEL, NODE_MEMCPY,     NODE_MEMSET,       NODE_HOST,      NODE_GRAPH,    NODE_EMPTY,
                              NODE_EMPTY,  NODE_WAIT_EVENT, NODE_EVENT_RECORD, NODE_MEM_ALLOC, NODE_MEM_FREE, NODE_CONDITIONAL};
  GraphNodeParams params = {.type = types[byte(f) % COUNT_OF(types)]};
  switch (params.type) {
  case NODE_KERNEL:
    params.of.kernel = (KernelNodeParams){handle(f, KERNELS), dimensions(f), dimensions(f), byte(f), arguments, NULL};
    break;
  case NODE_MEMCPY: params.of.copy.copy = copy(f); break;
  case NODE_MEMSET: params.of.set = (MemsetParams){device(f), size(f), byte(f), byte(f) % 6, size(f), size(f)}; break;
  case NODE_HOST: params.of.host = (HostNodeParams){coin(f) ? nothing : NULL, NULL}; break;
  case NODE_GRAPH: params.of.graph = handle(f, HANDLE_GRAPH); break;
  case NODE_WAIT_EVENT:
  case NODE_EVENT_RECORD: params.of.event = handle(f, HANDLE_EVENT); break;
  case NODE_MEM_ALLOC: params.of.alloc.bytes = size(f); break;
  case NODE_MEM_FREE: params.of.free = device(f); break;
  default: break;
  }
  return params;
}

static void call_graph(Fuzz *f) {
  Graph *graph = NULL;
  GraphNode *node = NULL, *before[2] = {handle(f, HANDLE_NODE), handle(f, HANDLE_NODE)}, *nodes[4];
  GraphExec *exec = NULL;
  GraphExecUpdateResult result;
  void *out = device(f), *arguments[] = {&out, host_memory};
  GraphNodeParams params = node_params(f, arguments);
  size_t count = byte(f) % 5;
  uint32_t enabled;
  switch (byte(f) % 18) {
  case 0: keep(f, HANDLE_GRAPH, cudaGraphCreate(&graph, 0), graph); break;
  case 1: cudaGraphDestroy(handle(f, HANDLE_GRAPH)); break;
  case 2: keep(f, HANDLE_GRAPH, cudaGraphClone(&graph, handle(f, HANDLE_GRAPH)), graph); break;
  case 3: keep(f, HANDLE_NODE, cudaGraphNodeFindInClone(&node, handle(f, HANDLE_NODE), handle(f, HANDLE_GRAPH)), node); break;
  case 4:
  case 5: keep(f, HANDLE_NODE, cudaGraphAddNode_v2(&node, handle(f, HANDLE_GRAPH), before, NULL, byte(f) % 3, &params), node); break;
  case 6: cudaGraphNodeSetParams(handle(f, HANDLE_NODE), &params); break;
  case 7: cudaGraphExecNodeSetParams(handle(f, HANDLE_EXEC), handle(f, HANDLE_NODE), &params); break;
  case 8: cudaGraphDestroyNode(handle(f, HANDLE_NODE)); break;
  case 9: keep(f, HANDLE_EXEC, cudaGraphInstantiateWithFlags(&exec, handle(f, HANDLE_GRAPH), byte(f)), exec); break;
  case 10: cudaGraphExecDestroy(handle(f, HANDLE_EXEC)); break;
  case 11: cudaGraphLaunch(handle(f, HANDLE_EXEC), handle(f, HANDLE_STREAM)); break;
  case 12: cudaGraphExecUpdate(handle(f, HANDLE_EXEC), handle(f, HANDLE_GRAPH), &result); break;
  case 13: keep(f, HANDLE_GRAPH, cudaGraphChildGraphNodeGetGraph(handle(f, HANDLE_NODE), &graph), graph); break;
  case 14: cudaGraphAddDependencies_v2(handle(f, HANDLE_GRAPH), before, before + 1, NULL, byte(f) % 2); break;
  case 15: cudaGraphRemoveDependencies_v2(handle(f, HANDLE_GRAPH), before, before + 1, NULL, byte(f) % 2); break;
  case 16: cudaGraphGetEdges_v2(handle(f, HANDLE_GRAPH), nodes, nodes + 2, NULL, &(size_t){count % 3}); break;
  case 17: cudaGraphNodeGetEnabled(handle(f, HANDLE_EXEC), handle(f, HANDLE_NODE), &enabled); break;
  }
}

static void call_module(Fuzz *f) {
  Binary *module = NULL;
  Kernel *kernel = NULL;
  Context *context = NULL;
  void *link = NULL, *linked = NULL;
  uint64_t address;
  size_t bytes;
  switch (byte(f) % 16) {
  case 0: keep(f, HANDLE_BINARY, cuModuleLoadData(&module, coin(f) ? ptx : ptx + byte(f)), module); break;
  case 1: keep(f, HANDLE_BINARY, cuModuleLoadData(&module, image(f)), module); break;
  case 2: cuModuleUnload(handle(f, HANDLE_BINARY)); break;
  case 3: keep(f, KERNELS, cuModuleGetFunction(&kernel, handle(f, HANDLE_BINARY), coin(f) ? "fill" : "bias"), kernel); break;
  case 4: cuModuleGetGlobal_v2(&address, &bytes, handle(f, HANDLE_BINARY), coin(f) ? "bias" : "fill"); break;
  case 5: cudaLibraryUnload(handle(f, HANDLE_BINARY)); break;
  case 6: keep(f, KERNELS, cudaLibraryEnumerateKernels(&kernel, 1, handle(f, HANDLE_BINARY)), kernel); break;
  case 7: keep(f, HANDLE_LINK, cuLinkCreate_v2(0, NULL, NULL, &link), link); break;
  case 8: cuLinkAddData_v2(handle(f, HANDLE_LINK), byte(f) % 3, ptx, min_u64(size(f), sizeof ptx), NULL, 0, NULL, NULL); break;
  case 9:
    if (cuLinkComplete(handle(f, HANDLE_LINK), &linked, &bytes) == cudaSuccess)
      keep(f, HANDLE_BINARY, cuModuleLoadData(&module, linked), module);
    break;
  case 10: cuLinkDestroy(handle(f, HANDLE_LINK)); break;
  case 11: keep(f, HANDLE_CONTEXT, cuCtxCreate_v2(&context, 0, byte(f) % 2), context); break;
  case 12: cuCtxDestroy_v2(handle(f, HANDLE_CONTEXT)); break;
  case 13: cuCtxPushCurrent_v2(handle(f, HANDLE_CONTEXT)); break;
  case 14: keep(f, HANDLE_CONTEXT, cuCtxPopCurrent_v2(&context), context); break;
  case 15: cuCtxSetCurrent(handle(f, HANDLE_CONTEXT)); break;
  }
}

static void call_other(Fuzz *f) {
  MemPool *pool = NULL;
  MemPoolProps props = {0};
  void *piece = NULL, *out = device(f), *arguments[] = {&out, host_memory};
  size_t bytes = byte(f);
  void *extra[] = {pointer_of(1), host_memory, pointer_of(2), &bytes, NULL};
  Dim3 grid = dimensions(f), block = dimensions(f);
  Stream *stream = handle(f, HANDLE_STREAM);
  switch (byte(f) % 12) {
  case 0: keep(f, HANDLE_POOL, cudaMemPoolCreate(&pool, &props), pool); break;
  case 1: cudaMemPoolDestroy(handle(f, HANDLE_POOL)); break;
  case 2: cudaDeviceSetMemPool(0, handle(f, HANDLE_POOL)); break;
  case 3: cudaMemPoolSetAttribute(handle(f, HANDLE_POOL), byte(f) % 12, host_memory); break;
  case 4: keep(f, HANDLE_PIECE, cuMemCreate(&piece, size(f), NULL, 0), piece); break;
  case 5: cuMemRelease(handle(f, HANDLE_PIECE)); break;
  case 6: cuMemMap(address_of(device(f)), size(f), byte(f) % 2, handle(f, HANDLE_PIECE), 0); break;
  case 7: cuMemUnmap(address_of(device(f)), size(f)); break;
  case 8: cudaGraphicsUnregisterResource(handle(f, HANDLE_GRAPHICS)); break;
  case 9: cudaLaunchKernel(handle(f, KERNELS), grid, block, coin(f) ? arguments : NULL, size(f), stream); break;
  case 10:
    cuLaunchKernel(handle(f, KERNELS), grid.x, grid.y, grid.z, block.x, block.y, block.z, byte(f), stream, NULL, coin(f) ? extra : NULL);
    break;
  case 11: cudaDeviceReset(); break;
  }
}

// ---- The same by other names ----------------------------------------------------------------------------------------

// Nodes by the functions that make one kind each.
static void call_nodes(Fuzz *f) {
  GraphNode *node = NULL, *before[2] = {handle(f, HANDLE_NODE), handle(f, HANDLE_NODE)};
  Graph *graph = handle(f, HANDLE_GRAPH);
  size_t count = byte(f) % 3;
  void *out = device(f), *arguments[] = {&out, host_memory};
  KernelNodeParams kernel = {handle(f, KERNELS), dimensions(f), dimensions(f), byte(f), arguments, NULL};
  MemsetParams set = {device(f), size(f), byte(f), byte(f) % 6, size(f), size(f)};
  MemAllocNodeParams alloc = {.bytes = size(f)};
  Copy3D volume;
  CudaError error = cudaErrorInvalidValue;
  uint64_t bytes = size(f);
  int kind = byte(f) % 8 - 1;
  switch (byte(f) % 12) {
  case 0: error = cudaGraphAddKernelNode(&node, graph, before, count, &kernel); break;
  case 1: volume = copy(f), error = cudaGraphAddMemcpyNode(&node, graph, before, count, &volume); break;
  case 2: error = cudaGraphAddMemcpyNode1D(&node, graph, before, count, anywhere(f, bytes), anywhere(f, bytes), bytes, kind); break;
  case 3:
    error = cudaGraphAddMemcpyNodeToSymbol(&node, graph, before, count, handle(f, KERNELS), anywhere(f, bytes), bytes, size(f), kind);
    break;
  case 4: error = cudaGraphAddMemsetNode(&node, graph, before, count, &set); break;
  case 5: error = cudaGraphAddHostNode(&node, graph, before, count, &(HostNodeParams){coin(f) ? nothing : NULL, NULL}); break;
  case 6: error = cudaGraphAddChildGraphNode(&node, graph, before, count, handle(f, HANDLE_GRAPH)); break;
  case 7: error = cudaGraphAddEventRecordNode(&node, graph, before, count, handle(f, HANDLE_EVENT)); break;
  case 8: error = cudaGraphAddEventWaitNode(&node, graph, before, count, handle(f, HANDLE_EVENT)); break;
  case 9: error = cudaGraphAddMemAllocNode(&node, graph, before, count, &alloc), keep(f, MEMORY, error, alloc.pointer); break;
  case 10: error = cudaGraphAddMemFreeNode(&node, graph, before, count, device(f)); break;
  case 11: error = cudaGraphAddEmptyNode(&node, graph, before, count); break;
  }
  keep(f, HANDLE_NODE, error, node);
}

// What is asked of nodes and graphs, and changed in them. What a question has answered goes into the next node.
static void call_node_questions(Fuzz *f) {
  GraphNode *node = handle(f, HANDLE_NODE), *other = handle(f, HANDLE_NODE), *nodes[4];
  GraphExec *exec = handle(f, HANDLE_EXEC), *made = NULL;
  Graph *graph = handle(f, HANDLE_GRAPH);
  GraphInstantiateParams wish = {.flags = byte(f)};
  KernelNodeParams kernel;
  MemAllocNodeParams alloc;
  Copy3D volume;
  Event *event = handle(f, HANDLE_EVENT);
  LaunchAttribute attribute = {.value.cluster = dimensions(f)};
  size_t count = byte(f) % 5;
  uint64_t flags;
  int type = byte(f) % 4;
  switch (byte(f) % 18) {
  case 0:
    if (cudaGraphKernelNodeGetParams(node, &kernel) == cudaSuccess) cudaGraphKernelNodeSetParams(other, &kernel);
    break;
  case 1:
    if (cudaGraphKernelNodeGetParams(node, &kernel) == cudaSuccess) cudaGraphExecKernelNodeSetParams(exec, other, &kernel);
    break;
  case 2:
    if (cudaGraphMemcpyNodeGetParams(node, &volume) == cudaSuccess) cudaGraphExecMemcpyNodeSetParams(exec, other, &volume);
    break;
  case 3: cudaGraphKernelNodeSetAttribute(node, byte(f) % 6, (const LaunchAttribute *)(const void *)&attribute.value); break;
  case 4: keep(f, MEMORY, cudaGraphMemAllocNodeGetParams(node, &alloc), alloc.pointer); break;
  case 5: keep(f, HANDLE_EVENT, cudaGraphEventRecordNodeGetEvent(node, &event), event); break;
  case 6: cudaGraphExecChildGraphNodeSetParams(exec, node, graph); break;
  case 7: cudaGraphExecEventRecordNodeSetEvent(exec, node, event); break;
  case 8: cudaGraphExecGetFlags(exec, &flags); break;
  case 9: cudaGraphGetNodes(graph, coin(f) ? nodes : NULL, &count); break;
  case 10: cudaGraphGetRootNodes(graph, coin(f) ? nodes : NULL, &count); break;
  case 11: keep(f, HANDLE_EXEC, cudaGraphInstantiateWithParams(&made, graph, &wish), made); break;
  case 12: cudaGraphNodeGetDependencies_v2(node, coin(f) ? nodes : NULL, NULL, &count); break;
  case 13: cudaGraphNodeGetDependentNodes_v2(node, coin(f) ? nodes : NULL, NULL, &count); break;
  case 14: cudaGraphNodeGetType(node, &type); break;
  case 15: cudaGraphNodeSetEnabled(exec, node, byte(f) % 3); break;
  case 16: cudaGraphUpload(exec, handle(f, HANDLE_STREAM)); break;
  case 17: cudaThreadExchangeStreamCaptureMode(&type); break;
  }
}

static TestSide3D side(Fuzz *f, uint64_t width, uint64_t height, uint64_t depth) {
  TestSide3D drawn = {
      .type = byte(f) % 6, .pitch = size(f), .height = size(f), .device = address_of(device(f)), .array = handle(f, HANDLE_ARRAY)};
  uint64_t bytes = max_u64(width, size_of_box(width, height, depth, drawn.pitch, size_multiply(drawn.pitch, drawn.height)));
  drawn.host = anywhere(f, bytes);
  bool is_host = drawn.type == 1 && drawn.host == host_memory; // positions would lead out of it
  if (!is_host && coin(f)) drawn.x_bytes = size(f), drawn.y = size(f), drawn.z = size(f);
  return drawn;
}

static TestSide2D flat(const TestSide3D *of) {
  TestSide2D drawn = {.x_bytes = of->x_bytes, .y = of->y, .type = of->type, .host = of->host, .device = of->device, .array = of->array};
  drawn.pitch = of->pitch;
  return drawn;
}

static void call_driver_copy(Fuzz *f) {
  Array *array = handle(f, HANDLE_ARRAY), *other = handle(f, HANDLE_ARRAY);
  Stream *stream = handle(f, HANDLE_STREAM);
  uint64_t width = size(f), height = size(f), depth = coin(f) ? 1 : size(f), address = address_of(device(f));
  TestSide3D from, to;
  switch (byte(f) % 10) {
  case 0:
    from = side(f, width, height, 1), to = side(f, width, height, 1);
    cuMemcpy2DAsync_v2(&(TestCopy2D){flat(&from), flat(&to), width, height}, stream);
    break;
  case 1:
    from = side(f, width, height, depth), to = side(f, width, height, depth);
    cuMemcpy3DAsync_v2(&(TestCopy3D){from, to, width, height, depth}, stream);
    break;
  case 2: cuMemcpyAtoA_v2(array, size(f), other, size(f), width); break;
  case 3: cuMemcpyAtoD_v2(address, array, size(f), width); break;
  case 4: cuMemcpyDtoA_v2(array, size(f), address, width); break;
  case 5: cuMemcpyAtoHAsync_v2(anywhere(f, width), array, size(f), width, stream); break;
  case 6: cuMemcpyHtoAAsync_v2(array, size(f), anywhere(f, width), width, stream); break;
  case 7: cuMemsetD2D16Async(address, size(f), 7, width, height, stream); break;
  case 8: cuMemsetD2D32_v2(address, size(f), 7, width, height); break;
  case 9: cuMemsetD8Async(address, 7, width, stream); break;
  }
}

static TestResource resource_of(Fuzz *f) {
  TestResource drawn = {.type = byte(f) % 6, .flags = byte(f) % 2};
  if (drawn.type < 2) {
    drawn.of.handle = handle(f, drawn.type == 0 ? HANDLE_ARRAY : HANDLE_MIPMAP);
    return drawn;
  }
  static const int formats[] = {1, 2, 3, 8, 9, 10, 16, 32, 0, -1};
  drawn.of.memory.address = address_of(device(f));
  drawn.of.memory.format = formats[byte(f) % COUNT_OF(formats)];
  drawn.of.memory.channels = byte(f) % 6;
  drawn.of.memory.bytes_or_width = size(f), drawn.of.memory.height = size(f), drawn.of.memory.pitch = size(f);
  return drawn;
}

static void call_driver_objects(Fuzz *f) {
  static const int formats[] = {1, 2, 3, 8, 9, 10, 16, 32, 0, 4};
  TestArray wish = {size(f), size(f), size(f), formats[byte(f) % COUNT_OF(formats)], byte(f) % 6, byte(f) % 16};
  TestResource resource = resource_of(f);
  TestTexture texture = {{byte(f) % 5, byte(f) % 5, 0}, byte(f) % 3, byte(f), {byte(f)}};
  ResourceViewDesc view = {.format = byte(f), .last_level = byte(f), .last_layer = byte(f)};
  Array *array = NULL;
  Mipmap *mipmap = NULL;
  Context *context = NULL;
  uint64_t object = 0, address = 0;
  size_t bytes = 0;
  int number;
  switch (byte(f) % 12) {
  case 0: keep(f, HANDLE_ARRAY, cuArray3DCreate_v2(&array, &wish), array); break;
  case 1: cuArray3DGetDescriptor_v2(&wish, handle(f, HANDLE_ARRAY)); break;
  case 2: keep(f, HANDLE_MIPMAP, cuMipmappedArrayCreate(&mipmap, &wish, byte(f)), mipmap); break;
  case 3: keep(f, TEXTURES, cuTexObjectCreate(&object, &resource, &texture, coin(f) ? &view : NULL), pointer_of(object)); break;
  case 4: keep(f, TEXTURES, cuSurfObjectCreate(&object, &resource), pointer_of(object)); break;
  case 5: keep(f, MEMORY, cuMemAllocPitch_v2(&address, &bytes, size(f), size(f), byte(f)), pointer_of(address)); break;
  case 6: cuMemGetAddressRange_v2(&address, &bytes, address_of(device(f))); break;
  case 7: cuPointerGetAttribute(host_memory, byte(f) % 24, address_of(device(f))); break;
  case 8: {
    const int asked[] = {byte(f) % 24, byte(f) % 24};
    cuPointerGetAttributes(byte(f) % 3, asked, (void *[]){host_memory, host_memory + 256}, address_of(device(f)));
    break;
  }
  case 9: cuMemSetAccess(address_of(device(f)), size(f), NULL, byte(f) % 2); break;
  case 10: cuFuncGetAttribute(&number, byte(f) % 20 - 2, handle(f, KERNELS)); break;
  case 11: keep(f, HANDLE_CONTEXT, cuStreamGetCtx(handle(f, HANDLE_STREAM), &context), context); break;
  }
}

static void call_driver_launch(Fuzz *f) {
  static const char *const names[] = {"cuMemAlloc", "cuGetProcAddress", "cu", "", "cudaMalloc", "cuStreamGetCaptureInfo", "cuNoSuchThing"};
  LaunchAttribute attributes[2] = {{.id = byte(f) % 8, .value.cluster = dimensions(f)}, {.id = byte(f) % 8, .value.number = byte(f)}};
  TestLaunch config = {dimensions(f), dimensions(f), byte(f), handle(f, HANDLE_STREAM), attributes, byte(f) % 3};
  void *kernel = handle(f, KERNELS), *out = device(f), *arguments[] = {&out, host_memory}, *function;
  size_t bytes = byte(f);
  void *extra[] = {pointer_of(1), host_memory, pointer_of(2), &bytes, NULL};
  Binary *module = NULL;
  int number;
  switch (byte(f) % 7) {
  case 0: cuLaunchKernelEx(&config, kernel, arguments, NULL); break;
  case 1: cuLaunchKernelEx(&config, kernel, NULL, coin(f) ? extra : NULL); break;
  case 2: cuOccupancyMaxActiveClusters(&number, kernel, &config); break;
  case 3: cuOccupancyMaxPotentialClusterSize(&number, kernel, &config); break;
  case 4: cuFuncLoad(kernel); break;
  case 5: keep(f, HANDLE_BINARY, cuFuncGetModule(&module, kernel), module); break;
  case 6: cuGetProcAddress_v2(names[byte(f) % COUNT_OF(names)], &function, byte(f) * 100, byte(f) % 4, &number); break;
  }
}

// ---- One input --------------------------------------------------------------------------------------------------------

// Things to work on: most calls on nothing end at once.
static void prepare(Fuzz *f) {
  ChannelDesc desc = {32, 0, 0, 0, CHANNEL_FLOAT};
  void *(*handles)[HANDLES] = f->handles;
  CudaError error = cudaMalloc(&handles[MEMORY][0], 4096);
  if (error == cudaSuccess) error = cudaStreamCreate((Stream **)&handles[HANDLE_STREAM][0]);
  if (error == cudaSuccess) error = cudaStreamCreate((Stream **)&handles[HANDLE_STREAM][1]);
  if (error == cudaSuccess) error = cudaEventCreate((Event **)&handles[HANDLE_EVENT][0]);
  if (error == cudaSuccess) error = cudaGraphCreate((Graph **)&handles[HANDLE_GRAPH][0], 0);
  if (error == cudaSuccess) error = cudaGraphAddEmptyNode((GraphNode **)&handles[HANDLE_NODE][0], handles[HANDLE_GRAPH][0], NULL, 0);
  if (error == cudaSuccess) error = cudaGraphInstantiateWithFlags((GraphExec **)&handles[HANDLE_EXEC][0], handles[HANDLE_GRAPH][0], 0);
  if (error == cudaSuccess) error = cudaMallocArray((Array **)&handles[HANDLE_ARRAY][0], &desc, 16, 8, 0);
  if (error == cudaSuccess) error = cuModuleLoadData((Binary **)&handles[HANDLE_BINARY][0], ptx);
  if (error == cudaSuccess) error = cuModuleGetFunction((Kernel **)&handles[KERNELS][0], handles[HANDLE_BINARY][0], "fill");
  ASSERT(error == cudaSuccess);
}

static void destroy(HandleKind kind, void *made) {
  switch (kind) {
  case HANDLE_STREAM: cudaStreamDestroy(made); break;
  case HANDLE_EVENT: cudaEventDestroy(made); break;
  case HANDLE_GRAPH: cudaGraphDestroy(made); break;
  case HANDLE_EXEC: cudaGraphExecDestroy(made); break;
  case HANDLE_ARRAY: cudaFreeArray(made); break;
  case HANDLE_MIPMAP: cudaFreeMipmappedArray(made); break;
  case HANDLE_POOL: cudaMemPoolDestroy(made); break;
  case HANDLE_PIECE: cuMemRelease(made); break;
  case HANDLE_BINARY: cuModuleUnload(made); break;
  case HANDLE_LINK: cuLinkDestroy(made); break;
  case HANDLE_CONTEXT: cuCtxDestroy_v2(made); break;
  default: break;
  }
}

// Destroys every handle of the kind that its call destroys; others are part of something, or there from the start.
static void destroy_all(Runtime *runtime, HandleKind kind) {
  const PointerMap *map = &runtime->handles;
  for (uint32_t i = 0; i < map->capacity; i++) {
    if (map->keys[i] == NULL || address_of(map->values[i]) != kind) continue;
    uint32_t before = map->count;
    destroy(kind, pointer_of(address_of(map->keys[i])));
    if (map->count < before) i = UINT32_MAX; // others have moved: from the start
  }
}

static void free_memory(Runtime *runtime) {
  const PointerMap *map = &runtime->allocations;
  for (uint32_t i = 0; i < map->capacity;) {
    Allocation *allocation = map->keys[i] == NULL ? NULL : map->values[i];
    if (allocation == NULL) {
      i++;
      continue;
    }
    allocation->of_graph = false; // else it stays until the process ends
    ASSERT(allocation_free(runtime, allocation->start, allocation->type == MEMORY_HOST) == cudaSuccess);
  }
  runtime->graph_in_use = 0;
  while (runtime->range_count > 0) cudaHostUnregister(pointer_of(runtime->ranges[0]->start));
}

static void clean_up(Runtime *runtime) {
  static const HandleKind order[] = {HANDLE_STREAM, HANDLE_EXEC,  HANDLE_GRAPH,  HANDLE_EVENT, HANDLE_ARRAY,  HANDLE_MIPMAP,
                                     HANDLE_POOL,   HANDLE_PIECE, HANDLE_BINARY, HANDLE_LINK,  HANDLE_CONTEXT};
  runtime->sticky = cudaSuccess;
  stream_end_capture(runtime, &runtime->default_stream);
  for (size_t i = 0; i < COUNT_OF(order); i++) destroy_all(runtime, order[i]);
  while (cuCtxPopCurrent_v2(NULL) == cudaSuccess) continue;
  for (uint32_t i = 0; i < runtime->textures.capacity;) {
    if (runtime->textures.keys[i] == NULL) i++;
    else cudaDestroyTextureObject(address_of(runtime->textures.keys[i]));
  }
  free_memory(runtime);
  ASSERT(runtime->graph_nodes == 0 && runtime->capturing == NULL && runtime->device_in_use == 0);
  ASSERT(memory_in_use(device_memory(runtime->device)) == 0 && runtime->kernels.count == 0);
  ASSERT(runtime->handles.count <= 2); // the default pool and the primary context
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  Runtime *runtime = runtime_enter();
  runtime->environment.spec.memory_bytes = DEVICE_BYTES;
  runtime->environment.spec.limit_instructions = 10000;
  runtime->most_graph_nodes = 1000;
  ASSERT(runtime_device(runtime) != NULL);
  runtime_leave_quietly(runtime);
  stderr = fopen("/dev/null", "w"); // what the library says; the fuzzer writes to the file itself
  ASSERT(stderr != NULL);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  static void (*const calls[])(Fuzz *) = {call_allocation,     call_questions,   call_copy,           call_array,        call_texture,
                                          call_stream,         call_graph,       call_module,         call_other,        call_nodes,
                                          call_node_questions, call_driver_copy, call_driver_objects, call_driver_launch};
  enum { FIRST = 9 }; // those that older inputs draw from
  Fuzz fuzz = {.at = data, .end = data + bytes, .runtime = runtime_enter()};
  runtime_leave_quietly(fuzz.runtime);
  uint8_t form = byte(&fuzz);
  uint32_t count = (form & 2) != 0 ? COUNT_OF(calls) : FIRST;
  if ((form & 1) != 0) prepare(&fuzz);
  for (int i = 0; i < MOST_CALLS && fuzz.at < fuzz.end; i++) calls[byte(&fuzz) % count](&fuzz);
  clean_up(fuzz.runtime);
  return 0;
}
