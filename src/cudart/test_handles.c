// Handles of every kind: any number, one of another kind, one that was destroyed. All are refused with the right error, and nothing
// behind them is read.
#include "cudart/graph.h"
#include "cudart/test_api.h"

#include <setjmp.h>
#include <cmocka.h>

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 bias = 5;\n"
                          ".visible .entry fill(.param .u64 out, .param .u32 value) {\n"
                          "  .reg .u32 %r<2>;\n  .reg .u64 %d<2>;\n"
                          "  ld.param.u64 %d0, [out];\n  ld.param.u32 %r0, [value];\n  st.global.u32 [%d0], %r0;\n  ret;\n}\n";

// What no call may take for a handle: numbers, and a handle of a kind that the call does not want.
static void *wild(int which, void *other) {
  static const uintptr_t numbers[] = {0x41, 8, 0xDEADBEEF, UINTPTR_MAX};
  return which < 4 ? pointer_of(numbers[which]) : other;
}
enum { WILD = 5 };

static Graph *new_graph(void) {
  Graph *graph = NULL;
  assert_int_equal(cudaGraphCreate(&graph, 0), cudaSuccess);
  return graph;
}

static Stream *new_stream(void) {
  Stream *stream = NULL;
  assert_int_equal(cudaStreamCreate(&stream), cudaSuccess);
  return stream;
}

static Event *new_event(void) {
  Event *event = NULL;
  assert_int_equal(cudaEventCreate(&event), cudaSuccess);
  return event;
}

static Binary *new_module(void) {
  Binary *module = NULL;
  assert_int_equal(cuModuleLoadData(&module, ptx), cudaSuccess);
  return module;
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

static void the_driver_knows_its_handles(void **state) {
  (void)state;
  Event *event = new_event();
  Kernel *kernel;
  Context *context;
  void *image;
  uint64_t address;
  size_t bytes;
  for (int i = 0; i < WILD; i++) {
    void *handle = wild(i, event);
    assert_int_equal(cuModuleUnload(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuModuleGetFunction(&kernel, handle, "fill"), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuModuleGetGlobal_v2(&address, &bytes, handle, "bias"), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuLinkAddData_v2(handle, 1, ptx, sizeof ptx, NULL, 0, NULL, NULL), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuLinkComplete(handle, &image, &bytes), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuLinkDestroy(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuFuncSetAttribute(handle, 8, 0), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuFuncSetCacheConfig(handle, 0), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuStreamDestroy_v2(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuStreamSynchronize(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cuCtxDestroy_v2(handle), cudaErrorDeviceUninitialized);
    assert_int_equal(cuCtxPushCurrent_v2(handle), cudaErrorDeviceUninitialized);
    assert_int_equal(cuCtxSetCurrent(handle), cudaErrorDeviceUninitialized);
    assert_int_equal(cuMemRelease(handle), cudaErrorInvalidValue);
    assert_int_equal(cuMemMap(0x41, 8, 0, handle, 0), cudaErrorInvalidValue);
  }
  assert_int_equal(cuCtxPopCurrent_v2(&context), cudaErrorDeviceUninitialized); // none was pushed
  assert_int_equal(cuEventDestroy_v2(event), cudaSuccess);
  assert_int_equal(cuEventDestroy_v2(event), cudaErrorInvalidResourceHandle);
}

static void the_runtime_knows_its_handles(void **state) {
  (void)state;
  Array *array;
  Graph *graph;
  GraphExec *exec;
  FuncAttributes attributes;
  ResourceDesc resource;
  uint32_t count;
  float milliseconds;
  MemPool *pool = NULL;
  assert_int_equal(cudaMemPoolCreate(&pool, &(MemPoolProps){0}), cudaSuccess);
  for (int i = 0; i < WILD; i++) {
    void *handle = wild(i, pool);
    assert_int_equal(cudaStreamDestroy(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaStreamBeginCapture(handle, 0), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaLaunchHostFunc(handle, (HostFunction)(uintptr_t)1, NULL), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventDestroy(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaEventElapsedTime(&milliseconds, handle, handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaFreeArray(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaFreeMipmappedArray(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaGetMipmappedArrayLevel(&array, handle, 0), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaDestroyTextureObject(address_of(handle)), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaGetTextureObjectResourceDesc(&resource, address_of(handle)), cudaErrorInvalidValue);
    assert_int_equal(cudaLibraryUnload(handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaLibraryGetKernelCount(&count, handle), cudaErrorInvalidResourceHandle);
    assert_int_equal(cudaFuncGetAttributes(&attributes, handle), cudaErrorInvalidDeviceFunction);
    assert_int_equal(cudaGraphDestroy(handle), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphClone(&graph, handle), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphInstantiateWithFlags(&exec, handle, 0), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphExecDestroy(handle), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphLaunch(handle, NULL), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphDestroyNode(handle), cudaErrorInvalidValue);
    if (handle != pool) assert_int_equal(cudaMemPoolDestroy(handle), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphicsUnregisterResource(handle), cudaErrorInvalidResourceHandle);
    Copy3D copy = {.source_array = handle, .destination_array = handle, .extent = {1, 1, 1}, .kind = DEVICE_TO_DEVICE};
    assert_int_equal(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  }
  assert_int_equal(cudaMemPoolDestroy(pool), cudaSuccess);
  assert_int_equal(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

// ---- Modules ----------------------------------------------------------------------------------------------------------

static void an_unloaded_module_is_gone_with_its_kernels(void **state) {
  (void)state;
  Binary *module = new_module();
  Kernel *kernel = NULL, *again = NULL;
  void *memory = NULL;
  int value = 1;
  assert_int_equal(cudaMalloc(&memory, 4), cudaSuccess);
  void *arguments[] = {&memory, &value};
  assert_int_equal(cuModuleGetFunction(&kernel, module, "fill"), cudaSuccess);
  assert_int_equal(cuModuleGetFunction(&again, module, "fill"), cudaSuccess);
  assert_ptr_equal(kernel, again);
  assert_int_equal(cuModuleGetFunction(&again, module, NULL), cudaErrorSymbolNotFound);
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), cudaSuccess);
  // Graphs that hold the kernel outlive it.
  Graph *graph = new_graph(), *clone = NULL;
  GraphNode *node = NULL;
  GraphExec *exec = NULL, *late = NULL;
  KernelNodeParams params = {kernel, {1, 1, 1}, {1, 1, 1}, 0, arguments, NULL};
  assert_int_equal(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params), cudaSuccess);
  assert_int_equal(cudaGraphInstantiateWithFlags(&exec, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(exec, NULL), cudaSuccess);
  assert_int_equal(cuModuleUnload(module), cudaSuccess);
  assert_int_equal(cuModuleUnload(module), cudaErrorInvalidResourceHandle);
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), cudaErrorInvalidResourceHandle);
  assert_int_equal(cudaGraphLaunch(exec, NULL), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cudaGraphInstantiateWithFlags(&late, graph, 0), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cudaGraphClone(&clone, graph), cudaErrorInvalidDeviceFunction);
  // A module that comes after is another.
  Binary *other = new_module();
  assert_int_equal(cuModuleGetFunction(&again, other, "fill"), cudaSuccess);
  assert_ptr_not_equal(kernel, again);
  assert_int_equal(cudaGraphLaunch(exec, NULL), cudaErrorInvalidDeviceFunction);
  assert_int_equal(cuModuleUnload(other), cudaSuccess);
  assert_int_equal(cudaGraphExecDestroy(exec), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void arguments_must_be_there(void **state) {
  (void)state;
  Binary *module = new_module();
  Kernel *kernel = NULL;
  void *memory = NULL;
  assert_int_equal(cudaMalloc(&memory, 4), cudaSuccess);
  assert_int_equal(cuModuleGetFunction(&kernel, module, "fill"), cudaSuccess);
  void *missing[] = {&memory, NULL};
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, missing, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, NULL, missing, NULL), cudaErrorInvalidValue); // no code of the driver's
  struct {
    void *out;
    int value;
  } packed = {memory, 7};
  size_t bytes = 11;
  void *extra[] = {pointer_of(1), &packed, pointer_of(2), &bytes, NULL};
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), cudaErrorInvalidValue);
  bytes = 12;
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), cudaSuccess);
  extra[1] = NULL;
  assert_int_equal(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), cudaErrorInvalidValue);
  assert_int_equal(cudaLaunchKernelExC(NULL, kernel, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuModuleUnload(module), cudaSuccess);
  assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void links_and_contexts_end_once(void **state) {
  (void)state;
  void *link = NULL, *image = NULL;
  size_t bytes = 0;
  assert_int_equal(cuLinkCreate_v2(0, NULL, NULL, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuLinkCreate_v2(0, NULL, NULL, &link), cudaSuccess);
  assert_int_equal(cuLinkComplete(link, &image, &bytes), cudaErrorInvalidValue); // nothing was added
  assert_int_equal(cuLinkAddData_v2(link, 1, NULL, 5, NULL, 0, NULL, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuLinkAddData_v2(link, 1, ptx, SIZE_MAX, NULL, 0, NULL, NULL), cudaSuccess); // it ends with its NUL
  assert_int_equal(cuLinkComplete(link, &image, &bytes), cudaSuccess);
  assert_int_equal(bytes, sizeof ptx);
  assert_int_equal(cuLinkDestroy(link), cudaSuccess);
  assert_int_equal(cuLinkDestroy(link), cudaErrorInvalidResourceHandle);

  Context *first = NULL, *second = NULL, *got = NULL, *primary = NULL;
  assert_int_equal(cuCtxGetCurrent(&primary), cudaSuccess);
  assert_int_equal(cuCtxCreate_v2(&first, 0, 1), cudaErrorInvalidDevice);
  assert_int_equal(cuCtxCreate_v2(&first, 0, 0), cudaSuccess);
  assert_int_equal(cuCtxCreate_v2(&second, 0, 0), cudaSuccess);
  assert_int_equal(cuCtxGetCurrent(&got), cudaSuccess);
  assert_ptr_equal(got, second);
  assert_int_equal(cuCtxPopCurrent_v2(&got), cudaSuccess);
  assert_ptr_equal(got, second);
  assert_int_equal(cuCtxDestroy_v2(second), cudaSuccess);
  assert_int_equal(cuCtxDestroy_v2(second), cudaErrorDeviceUninitialized);
  assert_int_equal(cuCtxPushCurrent_v2(second), cudaErrorDeviceUninitialized);
  assert_int_equal(cuCtxDestroy_v2(first), cudaSuccess); // current: popped
  assert_int_equal(cuCtxGetCurrent(&got), cudaSuccess);
  assert_ptr_equal(got, primary);
  assert_int_equal(cuCtxDestroy_v2(primary), cudaErrorDeviceUninitialized);
  assert_int_equal(cuDevicePrimaryCtxRelease_v2(0), cudaErrorDeviceUninitialized); // never retained
  assert_int_equal(cuDevicePrimaryCtxRetain(&got, 0), cudaSuccess);
  assert_ptr_equal(got, primary);
  assert_int_equal(cuDevicePrimaryCtxRelease_v2(0), cudaSuccess);
}

// ---- Streams and graphs -------------------------------------------------------------------------------------------------

static void nodes_take_only_what_is_there(void **state) {
  (void)state;
  Graph *graph = new_graph(), *other = new_graph();
  GraphNode *node = NULL, *foreign = NULL, *gone = NULL, *wrong = (GraphNode *)0x41;
  Event *event = new_event();
  assert_int_equal(cudaGraphAddEmptyNode(&node, graph, NULL, 0), cudaSuccess);
  assert_int_equal(cudaGraphAddEmptyNode(&gone, graph, NULL, 0), cudaSuccess);
  assert_int_equal(cudaGraphAddEmptyNode(&foreign, other, NULL, 0), cudaSuccess);
  assert_int_equal(cudaGraphDestroyNode(gone), cudaSuccess);
  assert_int_equal(cudaGraphDestroyNode(gone), cudaErrorInvalidValue);
  assert_int_equal(cudaEventDestroy(event), cudaSuccess);
  GraphNode *const bad[] = {wrong, gone, foreign, NULL};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    assert_int_equal(cudaGraphAddEmptyNode(&node, graph, &bad[i], 1), cudaErrorInvalidValue);
    assert_int_equal(cudaGraphAddDependencies_v2(graph, &bad[i], &node, NULL, 1), cudaErrorInvalidValue);
  }
  assert_int_equal(cudaGraphAddEmptyNode(&node, graph, NULL, 3), cudaErrorInvalidValue);
  assert_int_equal(cudaGraphAddDependencies_v2(graph, NULL, NULL, NULL, 1), cudaErrorInvalidValue);
  assert_int_equal(cudaGraphAddEventRecordNode(&node, graph, NULL, 0, event), cudaErrorInvalidValue);
  assert_int_equal(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, (Graph *)0x41), cudaErrorInvalidValue);
  GraphNodeParams host = {.type = NODE_HOST};
  assert_int_equal(cudaGraphAddNode_v2(&node, graph, NULL, NULL, 0, &host), cudaErrorInvalidValue);
  MemsetParams set = {.destination = graph, .element_bytes = 1000, .width = 1, .height = 1};
  assert_int_equal(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set), cudaErrorInvalidValue);
  MemAllocNodeParams memory = {.bytes = 64};
  size_t before, after, total;
  assert_int_equal(cudaMemGetInfo(&before, &total), cudaSuccess);
  assert_int_equal(cudaGraphAddMemAllocNode(&node, (Graph *)0x41, NULL, 0, &memory), cudaErrorInvalidValue);
  assert_int_equal(cudaMemGetInfo(&after, &total), cudaSuccess);
  assert_int_equal(before, after);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  assert_int_equal(cudaGraphDestroy(other), cudaSuccess);
}

static void a_child_graph_belongs_to_its_node(void **state) {
  (void)state;
  Graph *graph = new_graph(), *child = new_graph(), *inner = NULL;
  GraphNode *node = NULL, *within = NULL;
  assert_int_equal(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child), cudaSuccess);
  assert_int_equal(cudaGraphChildGraphNodeGetGraph(node, &inner), cudaSuccess);
  assert_ptr_not_equal(inner, child);
  assert_int_equal(cudaGraphDestroy(inner), cudaErrorInvalidValue);
  assert_int_equal(cudaGraphAddEmptyNode(&within, inner, NULL, 0), cudaSuccess);
  // A stream that captures into it loses its graph with the node.
  Stream *stream = new_stream();
  assert_int_equal(cudaStreamBeginCaptureToGraph(stream, inner, NULL, NULL, 0, 0), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  assert_int_equal(cudaStreamEndCapture(stream, &inner), cudaErrorIllegalState);
  assert_int_equal(cudaGraphDestroyNode(within), cudaErrorInvalidValue);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(child), cudaSuccess);
}

static void graphs_in_graphs_have_an_end(void **state) {
  (void)state;
  Graph *graph = new_graph();
  GraphNode *node = NULL;
  CudaError error = cudaSuccess;
  int levels = 0;
  for (; error == cudaSuccess && levels < 100; levels++) { // each holds the last: as deep as there are calls
    Graph *outer = new_graph();
    error = cudaGraphAddChildGraphNode(&node, outer, NULL, 0, graph);
    assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
    graph = outer;
  }
  assert_int_equal(error, cudaErrorInvalidValue);
  assert_true(levels > 50);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  // Each holds the last twice: as many as there are bits.
  Runtime *runtime = runtime_enter();
  uint64_t most = runtime->most_graph_nodes;
  runtime->most_graph_nodes = 1000;
  runtime_leave_quietly(runtime);
  graph = new_graph();
  assert_int_equal(cudaGraphAddEmptyNode(&node, graph, NULL, 0), cudaSuccess);
  for (int i = 0; i < 40 && error != cudaErrorMemoryAllocation; i++) {
    Graph *clone = NULL;
    error = cudaGraphClone(&clone, graph);
    if (error == cudaSuccess) error = cudaGraphAddChildGraphNode(&node, graph, NULL, 0, clone);
    if (clone != NULL) assert_int_equal(cudaGraphDestroy(clone), cudaSuccess);
  }
  assert_int_equal(error, cudaErrorMemoryAllocation);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  assert_int_equal(runtime->graph_nodes, 0);
  runtime->most_graph_nodes = most;
}

static void captures_outlive_what_they_need(void **state) {
  (void)state;
  Stream *stream = new_stream(), *joined = new_stream();
  Event *event = new_event();
  Graph *graph = NULL, *captured = NULL;
  GraphNode *wrong = (GraphNode *)0x41, *const *tails = NULL;
  int status;
  uint64_t id;
  size_t count = 0;
  assert_int_equal(cudaStreamBeginCapture(stream, 0), cudaSuccess);
  assert_int_equal(cudaStreamUpdateCaptureDependencies_v2(stream, &wrong, NULL, 1, 1), cudaErrorInvalidValue);
  assert_int_equal(cudaStreamUpdateCaptureDependencies_v2(stream, NULL, NULL, 1, 1), cudaErrorInvalidValue);
  assert_int_equal(cudaLaunchHostFunc(stream, (HostFunction)(uintptr_t)1, NULL), cudaSuccess); // never run
  assert_int_equal(cudaEventRecord(event, stream), cudaSuccess);
  assert_int_equal(cudaStreamWaitEvent(joined, event, 0), cudaSuccess);
  assert_int_equal(cudaStreamGetCaptureInfo_v3(stream, &status, &id, &captured, &tails, NULL, &count), cudaSuccess);
  assert_int_equal(count, 1);
  assert_int_equal(cudaGraphDestroyNode(tails[0]), cudaErrorStreamCaptureUnsupported);
  assert_int_equal(cudaGraphDestroy(captured), cudaErrorStreamCaptureUnsupported);
  assert_int_equal(cudaStreamDestroy(joined), cudaSuccess);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_ptr_equal(graph, captured);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  // The event is of a capture that has ended: its nodes are gone.
  assert_int_equal(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  assert_int_equal(cudaStreamBeginCapture(stream, 0), cudaSuccess);
  assert_int_equal(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  assert_int_equal(cudaStreamBeginCaptureToGraph(stream, (Graph *)0x41, NULL, NULL, 0, 0), cudaErrorInvalidValue);
  assert_int_equal(cudaEventDestroy(event), cudaSuccess);
  assert_int_equal(cudaStreamDestroy(stream), cudaSuccess);
  assert_int_equal(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
}

typedef struct Own {
  GraphExec *exec;
  int calls;
  CudaError error;
} Own;
static void destroy_own(void *data) {
  Own *own = data;
  own->calls++;
  own->error = cudaGraphExecDestroy(own->exec);
}
static void launch_own(void *data) {
  Own *own = data;
  own->calls++;
  own->error = cudaGraphLaunch(own->exec, NULL);
}

// What a host function does to the graph that it is part of.
static void a_running_graph_may_be_destroyed_or_launched(void **state) {
  (void)state;
  Own own = {0};
  Graph *graph = new_graph();
  GraphNode *first = NULL, *second = NULL;
  HostNodeParams host = {destroy_own, &own};
  assert_int_equal(cudaGraphAddHostNode(&first, graph, NULL, 0, &host), cudaSuccess);
  assert_int_equal(cudaGraphAddHostNode(&second, graph, &first, 1, &host), cudaSuccess);
  assert_int_equal(cudaGraphInstantiateWithFlags(&own.exec, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(own.exec, NULL), cudaSuccess);
  assert_int_equal(own.calls, 2);                     // it ran to its end
  assert_int_equal(own.error, cudaErrorInvalidValue); // the second time it was gone
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
  graph = new_graph();
  own = (Own){0};
  host.function = launch_own;
  assert_int_equal(cudaGraphAddHostNode(&first, graph, NULL, 0, &host), cudaSuccess);
  assert_int_equal(cudaGraphInstantiateWithFlags(&own.exec, graph, 0), cudaSuccess);
  assert_int_equal(cudaGraphLaunch(own.exec, NULL), cudaSuccess);
  assert_true(own.calls > 1 && own.calls < 1000);
  assert_int_equal(cudaGraphExecDestroy(own.exec), cudaSuccess);
  assert_int_equal(cudaGraphDestroy(graph), cudaSuccess);
}

// ---- Null pointers --------------------------------------------------------------------------------------------------------

static void answers_need_a_place(void **state) {
  (void)state;
  assert_int_equal(cuDeviceGet(NULL, 0), cudaErrorInvalidValue);
  assert_int_equal(cuDeviceComputeCapability(NULL, NULL, 0), cudaErrorInvalidValue);
  assert_int_equal(cuDeviceCanAccessPeer(NULL, 0, 0), cudaErrorInvalidValue);
  assert_int_equal(cuGetErrorName(cudaSuccess, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuGetErrorString(cudaSuccess, NULL), cudaErrorInvalidValue);
  assert_int_equal(cuMemAlloc_v2(NULL, 4), cudaErrorInvalidValue);
  assert_int_equal(cuMemAllocManaged(NULL, 4, 1), cudaErrorInvalidValue);
  assert_int_equal(cuModuleLoad(NULL, "nowhere"), cudaErrorInvalidValue);
  assert_int_equal(cuModuleLoadData(NULL, ptx), cudaErrorInvalidValue);
  assert_int_equal(cuCtxGetCurrent(NULL), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpyBatchAsync(NULL, NULL, NULL, 1, NULL, NULL, 0, NULL), cudaErrorInvalidValue);
  assert_int_equal(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
  assert_int_equal(cudaMallocPitch(NULL, NULL, 4, 4), cudaErrorInvalidValue);
  assert_int_equal(cudaMallocArray(NULL, NULL, 4, 4, 0), cudaErrorInvalidValue);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_driver_knows_its_handles),
      cmocka_unit_test(the_runtime_knows_its_handles),
      cmocka_unit_test(an_unloaded_module_is_gone_with_its_kernels),
      cmocka_unit_test(arguments_must_be_there),
      cmocka_unit_test(links_and_contexts_end_once),
      cmocka_unit_test(nodes_take_only_what_is_there),
      cmocka_unit_test(a_child_graph_belongs_to_its_node),
      cmocka_unit_test(graphs_in_graphs_have_an_end),
      cmocka_unit_test(captures_outlive_what_they_need),
      cmocka_unit_test(a_running_graph_may_be_destroyed_or_launched),
      cmocka_unit_test(answers_need_a_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
