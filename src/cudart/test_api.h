// The interface as programs call it, for tests and fuzz targets: no header of NVIDIA's is needed.
#ifndef REDOUBT_CUDART_TEST_API_H
#define REDOUBT_CUDART_TEST_API_H

#include "cudart/runtime.h"

CudaError cuCtxCreate_v2(Context **context, uint32_t flags, int device);
CudaError cuCtxDestroy_v2(Context *context);
CudaError cuCtxGetCurrent(Context **context);
CudaError cuCtxPopCurrent_v2(Context **context);
CudaError cuCtxPushCurrent_v2(Context *context);
CudaError cuCtxSetCurrent(Context *context);
CudaError cuDeviceCanAccessPeer(int *can, int device, int peer);
CudaError cuDeviceComputeCapability(int *major, int *minor, int device);
CudaError cuDeviceGet(int *device, int ordinal);
CudaError cuDevicePrimaryCtxRelease_v2(int device);
CudaError cuDevicePrimaryCtxRetain(Context **context, int device);
CudaError cuEventDestroy_v2(Event *event);
CudaError cuFuncSetAttribute(const void *function, int attribute, int value);
CudaError cuFuncSetCacheConfig(const void *function, int config);
CudaError cuGetErrorName(CudaError error, const char **name);
CudaError cuGetErrorString(CudaError error, const char **text);
CudaError cuLaunchKernel(const void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x, uint32_t block_y,
                         uint32_t block_z, uint32_t shared_bytes, Stream *stream, void **arguments, void **extra);
CudaError cuLinkAddData_v2(void *link, int type, const char *data, size_t bytes, const char *name, uint32_t count, int *options,
                           void **values);
CudaError cuLinkComplete(void *link, void **image, size_t *bytes);
CudaError cuLinkCreate_v2(uint32_t count, int *options, void **values, void **link);
CudaError cuLinkDestroy(void *link);
CudaError cuMemAddressFree(uint64_t address, size_t bytes);
CudaError cuMemAddressReserve(uint64_t *address, size_t bytes, size_t alignment, uint64_t wanted, uint64_t flags);
CudaError cuMemAllocManaged(uint64_t *address, size_t bytes, uint32_t flags);
CudaError cuMemAlloc_v2(uint64_t *address, size_t bytes);
CudaError cuMemCreate(void **piece, size_t bytes, const void *properties, uint64_t flags);
CudaError cuMemMap(uint64_t address, size_t bytes, size_t offset, void *piece, uint64_t flags);
CudaError cuMemRelease(void *piece);
CudaError cuMemUnmap(uint64_t address, size_t bytes);
CudaError cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes);
CudaError cuMemsetD16_v2(uint64_t to, uint16_t value, size_t count);
CudaError cuMemsetD32_v2(uint64_t to, uint32_t value, size_t count);
CudaError cuModuleGetFunction(Kernel **function, Binary *module, const char *name);
CudaError cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, Binary *module, const char *name);
CudaError cuModuleLoad(Binary **module, const char *path);
CudaError cuModuleLoadData(Binary **module, const void *image);
CudaError cuModuleUnload(Binary *module);
CudaError cuStreamDestroy_v2(Stream *stream);
CudaError cuStreamSynchronize(Stream *stream);
CudaError cudaArrayGetInfo(ChannelDesc *channels, Extent *extent, uint32_t *flags, Array *array);
CudaError cudaCreateSurfaceObject(uint64_t *object, const ResourceDesc *resource);
CudaError cudaCreateTextureObject(uint64_t *object, const ResourceDesc *resource, const TextureDesc *texture, const ResourceViewDesc *view);
CudaError cudaDestroyTextureObject(uint64_t object);
CudaError cudaDeviceReset(void);
CudaError cudaDeviceSetLimit(int limit, size_t value);
CudaError cudaDeviceSetMemPool(int device, MemPool *pool);
CudaError cudaEventCreate(Event **event);
CudaError cudaEventCreateWithFlags(Event **event, uint32_t flags);
CudaError cudaEventDestroy(Event *event);
CudaError cudaEventElapsedTime(float *milliseconds, Event *first, Event *last);
CudaError cudaEventRecord(Event *event, Stream *handle);
CudaError cudaEventRecordWithFlags(Event *event, Stream *handle, uint32_t flags);
CudaError cudaFree(void *pointer);
CudaError cudaFreeArray(Array *array);
CudaError cudaFreeAsync(void *pointer, Stream *stream);
CudaError cudaFreeHost(void *pointer);
CudaError cudaFreeMipmappedArray(Mipmap *mipmap);
CudaError cudaFuncGetAttributes(FuncAttributes *attributes, const void *host);
CudaError cudaFuncGetName(const char **name, const void *host);
CudaError cudaFuncGetParamInfo(const void *host, size_t index, size_t *offset, size_t *bytes);
CudaError cudaFuncSetAttribute(const void *host, int attribute, int value);
CudaError cudaGetChannelDesc(ChannelDesc *channels, const Array *array);
CudaError cudaGetMipmappedArrayLevel(Array **array, const Mipmap *mipmap, uint32_t level);
CudaError cudaGetTextureObjectResourceDesc(ResourceDesc *value, uint64_t object);
CudaError cudaGraphAddChildGraphNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, Graph *child);
CudaError cudaGraphAddDependencies_v2(Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges, size_t count);
CudaError cudaGraphAddEmptyNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count);
CudaError cudaGraphAddEventRecordNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, Event *event);
CudaError cudaGraphAddHostNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const HostNodeParams *params);
CudaError cudaGraphAddKernelNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count,
                                 const KernelNodeParams *params);
CudaError cudaGraphAddMemAllocNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count,
                                   MemAllocNodeParams *params);
CudaError cudaGraphAddMemsetNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const MemsetParams *params);
CudaError cudaGraphAddNode_v2(GraphNode **node, Graph *graph, GraphNode *const *dependencies, const EdgeData *edges, size_t count,
                              GraphNodeParams *params);
CudaError cudaGraphChildGraphNodeGetGraph(GraphNode *node, Graph **value);
CudaError cudaGraphClone(Graph **clone, Graph *graph);
CudaError cudaGraphCreate(Graph **graph, uint32_t flags);
CudaError cudaGraphDestroy(Graph *graph);
CudaError cudaGraphDestroyNode(GraphNode *node);
CudaError cudaGraphExecDestroy(GraphExec *exec);
CudaError cudaGraphExecNodeSetParams(GraphExec *exec, GraphNode *node, GraphNodeParams *params);
CudaError cudaGraphExecUpdate(GraphExec *exec, Graph *graph, GraphExecUpdateResult *result);
CudaError cudaGraphGetEdges_v2(Graph *graph, GraphNode **from, GraphNode **to, EdgeData *edges, size_t *count);
CudaError cudaGraphInstantiateWithFlags(GraphExec **exec, Graph *graph, uint64_t flags);
CudaError cudaGraphLaunch(GraphExec *exec, Stream *stream);
CudaError cudaGraphNodeFindInClone(GraphNode **node, GraphNode *origin, Graph *clone);
CudaError cudaGraphNodeGetEnabled(GraphExec *exec, GraphNode *node, uint32_t *enabled);
CudaError cudaGraphNodeSetParams(GraphNode *node, GraphNodeParams *params);
CudaError cudaGraphRemoveDependencies_v2(Graph *graph, GraphNode *const *from, GraphNode *const *to, const EdgeData *edges, size_t count);
CudaError cudaGraphicsUnregisterResource(GraphicsResource *resource);
CudaError cudaHostAlloc(void **pointer, size_t bytes, uint32_t flags);
CudaError cudaHostGetDevicePointer(void **device_pointer, void *pointer, uint32_t flags);
CudaError cudaHostGetFlags(uint32_t *flags, void *pointer);
CudaError cudaHostRegister(void *pointer, size_t bytes, uint32_t flags);
CudaError cudaHostUnregister(void *pointer);
CudaError cudaLaunchHostFunc(Stream *handle, HostFunction function, void *data);
CudaError cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared_bytes, Stream *stream);
CudaError cudaLaunchKernelExC(const LaunchConfig *config, const void *function, void **arguments);
CudaError cudaLibraryEnumerateKernels(Kernel **kernels, uint32_t room, Binary *library);
CudaError cudaLibraryGetKernelCount(uint32_t *count, Binary *library);
CudaError cudaLibraryUnload(Binary *library);
CudaError cudaMalloc(void **pointer, size_t bytes);
CudaError cudaMalloc3D(PitchedPointer *pitched, Extent extent);
CudaError cudaMalloc3DArray(Array **array, const ChannelDesc *channels, Extent extent, uint32_t flags);
CudaError cudaMallocArray(Array **array, const ChannelDesc *channels, size_t width, size_t height, uint32_t flags);
CudaError cudaMallocAsync(void **pointer, size_t bytes, Stream *stream);
CudaError cudaMallocFromPoolAsync(void **pointer, size_t bytes, MemPool *pool, Stream *stream);
CudaError cudaMallocManaged(void **pointer, size_t bytes, uint32_t flags);
CudaError cudaMallocMipmappedArray(Mipmap **mipmap, const ChannelDesc *channels, Extent extent, uint32_t levels, uint32_t flags);
CudaError cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
CudaError cudaMemAdvise(const void *pointer, size_t bytes, int advice, MemLocation location);
CudaError cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
CudaError cudaMemPoolCreate(MemPool **pool, const MemPoolProps *properties);
CudaError cudaMemPoolDestroy(MemPool *pool);
CudaError cudaMemPoolSetAttribute(MemPool *pool, int attribute, void *value);
CudaError cudaMemRangeGetAttribute(void *data, size_t data_bytes, int attribute, const void *pointer, size_t bytes);
CudaError cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
CudaError cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind);
CudaError cudaMemcpy2DArrayToArray(Array *to, size_t to_x, size_t to_y, const Array *from, size_t from_x, size_t from_y, size_t width,
                                   size_t height, int kind);
CudaError cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
                            Stream *stream);
CudaError cudaMemcpy2DFromArray(void *to, size_t pitch, const Array *from, size_t x, size_t y, size_t width, size_t height, int kind);
CudaError cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const Array *from, size_t x, size_t y, size_t width, size_t height, int kind,
                                     Stream *stream);
CudaError cudaMemcpy2DToArray(Array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind);
CudaError cudaMemcpy2DToArrayAsync(Array *to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind,
                                   Stream *stream);
CudaError cudaMemcpy3D(const Copy3D *copy);
CudaError cudaMemcpy3DAsync(const Copy3D *copy, Stream *stream);
CudaError cudaMemcpyArrayToArray(Array *to, size_t to_x, size_t to_y, Array *from, size_t from_x, size_t from_y, size_t bytes, int kind);
CudaError cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, Stream *stream);
CudaError cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes, size_t count, void *attributes,
                               size_t *attribute_indices, size_t attribute_count, Stream *stream);
CudaError cudaMemcpyFromArrayAsync(void *to, Array *from, size_t x, size_t y, size_t bytes, int kind, Stream *stream);
CudaError cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes);
CudaError cudaMemcpyToArray(Array *to, size_t x, size_t y, const void *from, size_t bytes, int kind);
CudaError cudaMemcpyToArrayAsync(Array *to, size_t x, size_t y, const void *from, size_t bytes, int kind, Stream *stream);
CudaError cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
CudaError cudaMemset(void *pointer, int value, size_t bytes);
CudaError cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);
CudaError cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, Stream *stream);
CudaError cudaMemset3D(PitchedPointer pitched, int value, Extent extent);
CudaError cudaMemset3DAsync(PitchedPointer pitched, int value, Extent extent, Stream *stream);
CudaError cudaMemsetAsync(void *pointer, int value, size_t bytes, Stream *stream);
CudaError cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *host, int blocks, int threads);
CudaError cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host, int threads, size_t shared_bytes);
CudaError cudaPointerGetAttributes(PointerAttributes *attributes, const void *pointer);
CudaError cudaStreamAddCallback(Stream *handle, StreamCallback callback, void *data, uint32_t flags);
CudaError cudaStreamBeginCapture(Stream *handle, int mode);
CudaError cudaStreamBeginCaptureToGraph(Stream *handle, Graph *graph, GraphNode *const *dependencies, const EdgeData *edges, size_t count,
                                        int mode);
CudaError cudaStreamCopyAttributes(Stream *to_handle, Stream *from_handle);
CudaError cudaStreamCreate(Stream **stream);
CudaError cudaStreamCreateWithPriority(Stream **stream, uint32_t flags, int priority);
CudaError cudaStreamDestroy(Stream *stream);
CudaError cudaStreamEndCapture(Stream *handle, Graph **graph);
CudaError cudaStreamGetCaptureInfo_v3(Stream *handle, int *status, uint64_t *id, Graph **graph, GraphNode *const **dependencies,
                                      const EdgeData **edges, size_t *count);
CudaError cudaStreamSetAttribute(Stream *handle, int id, const void *value);
CudaError cudaStreamSynchronize(Stream *handle);
CudaError cudaStreamUpdateCaptureDependencies_v2(Stream *handle, GraphNode **dependencies, const EdgeData *edges, size_t count,
                                                 uint32_t flags);
CudaError cudaStreamWaitEvent(Stream *handle, Event *event, uint32_t flags);

// Descriptions of the driver's interface: the library's own names for them are in driver_*.c.
typedef struct TestSide2D { // of CUDA_MEMCPY2D
  size_t x_bytes, y;
  int type;
  void *host;
  uint64_t device;
  Array *array;
  size_t pitch;
} TestSide2D;
typedef struct TestCopy2D {
  TestSide2D source, destination;
  size_t width_bytes, height;
} TestCopy2D;
_Static_assert(sizeof(TestCopy2D) == 128, "CUDA_MEMCPY2D");
typedef struct TestSide3D { // of CUDA_MEMCPY3D
  size_t x_bytes, y, z, level;
  int type;
  void *host;
  uint64_t device;
  Array *array;
  void *reserved;
  size_t pitch, height;
} TestSide3D;
typedef struct TestCopy3D {
  TestSide3D source, destination;
  size_t width_bytes, height, depth;
} TestCopy3D;
_Static_assert(sizeof(TestCopy3D) == 200, "CUDA_MEMCPY3D");
typedef struct TestArray { // CUDA_ARRAY3D_DESCRIPTOR
  size_t width, height, depth;
  int format;
  uint32_t channels, flags;
} TestArray;
typedef struct TestResource { // CUDA_RESOURCE_DESC: of an array, a chain of them, or memory
  int type;
  union {
    void *handle;
    struct {
      uint64_t address;
      int format;
      uint32_t channels;
      size_t bytes_or_width, height, pitch;
    } memory;
    int reserved[32];
  } of;
  uint32_t flags;
} TestResource;
_Static_assert(sizeof(TestResource) == 144, "CUDA_RESOURCE_DESC");
typedef struct TestTexture { // CUDA_TEXTURE_DESC
  int address_mode[3], filter_mode;
  uint32_t flags, more[21];
} TestTexture;
_Static_assert(sizeof(TestTexture) == 104, "CUDA_TEXTURE_DESC");
typedef struct TestLaunch { // CUlaunchConfig
  Dim3 grid, block;
  uint32_t shared_bytes;
  Stream *stream;
  LaunchAttribute *attributes;
  uint32_t attribute_count;
} TestLaunch;
_Static_assert(sizeof(TestLaunch) == 56, "CUlaunchConfig");

CudaError cuArray3DCreate_v2(Array **array, const TestArray *wish);
CudaError cuArray3DGetDescriptor_v2(TestArray *description, Array *array);
CudaError cuFuncGetAttribute(int *value, int attribute, const void *function);
CudaError cuFuncGetModule(Binary **module, const void *function);
CudaError cuFuncLoad(const void *function);
CudaError cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);
CudaError cuLaunchKernelEx(const TestLaunch *config, const void *function, void **arguments, void **extra);
CudaError cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height, uint32_t element_bytes);
CudaError cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t address);
CudaError cuMemSetAccess(uint64_t address, size_t bytes, const void *access, size_t count);
CudaError cuMemcpy2DAsync_v2(const TestCopy2D *copy, Stream *stream);
CudaError cuMemcpy3DAsync_v2(const TestCopy3D *copy, Stream *stream);
CudaError cuMemcpyAtoA_v2(Array *to, size_t to_offset, Array *from, size_t from_offset, size_t bytes);
CudaError cuMemcpyAtoD_v2(uint64_t to, Array *from, size_t offset, size_t bytes);
CudaError cuMemcpyAtoHAsync_v2(void *to, Array *from, size_t offset, size_t bytes, Stream *stream);
CudaError cuMemcpyDtoA_v2(Array *to, size_t offset, uint64_t from, size_t bytes);
CudaError cuMemcpyHtoAAsync_v2(Array *to, size_t offset, const void *from, size_t bytes, Stream *stream);
CudaError cuMemsetD2D16Async(uint64_t to, size_t pitch, uint16_t value, size_t width, size_t height, Stream *stream);
CudaError cuMemsetD2D32_v2(uint64_t to, size_t pitch, uint32_t value, size_t width, size_t height);
CudaError cuMemsetD8Async(uint64_t to, uint8_t value, size_t count, Stream *stream);
CudaError cuMipmappedArrayCreate(Mipmap **mipmap, const TestArray *wish, uint32_t levels);
CudaError cuOccupancyMaxActiveClusters(int *clusters, const void *function, const TestLaunch *config);
CudaError cuOccupancyMaxPotentialClusterSize(int *size, const void *function, const TestLaunch *config);
CudaError cuPointerGetAttribute(void *data, int attribute, uint64_t address);
CudaError cuPointerGetAttributes(uint32_t count, const int *attributes, void **data, uint64_t address);
CudaError cuStreamGetCtx(Stream *handle, Context **context);
CudaError cuSurfObjectCreate(uint64_t *object, const TestResource *resource);
CudaError cuTexObjectCreate(uint64_t *object, const TestResource *resource, const TestTexture *texture, const ResourceViewDesc *view);
CudaError cudaGraphAddEventWaitNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, Event *event);
CudaError cudaGraphAddMemFreeNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, void *pointer);
CudaError cudaGraphAddMemcpyNode(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const Copy3D *params);
CudaError cudaGraphAddMemcpyNode1D(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, void *to, const void *from,
                                   size_t bytes, int kind);
CudaError cudaGraphAddMemcpyNodeToSymbol(GraphNode **node, Graph *graph, GraphNode *const *dependencies, size_t count, const void *symbol,
                                         const void *from, size_t bytes, size_t offset, int kind);
CudaError cudaGraphEventRecordNodeGetEvent(GraphNode *node, Event **value);
CudaError cudaGraphExecChildGraphNodeSetParams(GraphExec *exec, GraphNode *node, Graph *child);
CudaError cudaGraphExecEventRecordNodeSetEvent(GraphExec *exec, GraphNode *node, Event *event);
CudaError cudaGraphExecGetFlags(GraphExec *exec, uint64_t *flags);
CudaError cudaGraphExecKernelNodeSetParams(GraphExec *exec, GraphNode *node, const KernelNodeParams *params);
CudaError cudaGraphExecMemcpyNodeSetParams(GraphExec *exec, GraphNode *node, const Copy3D *params);
CudaError cudaGraphGetNodes(Graph *graph, GraphNode **nodes, size_t *count);
CudaError cudaGraphGetRootNodes(Graph *graph, GraphNode **nodes, size_t *count);
CudaError cudaGraphInstantiateWithParams(GraphExec **exec, Graph *graph, GraphInstantiateParams *params);
CudaError cudaGraphKernelNodeGetParams(GraphNode *node, KernelNodeParams *value);
CudaError cudaGraphKernelNodeSetAttribute(GraphNode *node, int attribute, const LaunchAttribute *value);
CudaError cudaGraphKernelNodeSetParams(GraphNode *node, const KernelNodeParams *params);
CudaError cudaGraphMemAllocNodeGetParams(GraphNode *node, MemAllocNodeParams *value);
CudaError cudaGraphMemcpyNodeGetParams(GraphNode *node, Copy3D *value);
CudaError cudaGraphNodeGetDependencies_v2(GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count);
CudaError cudaGraphNodeGetDependentNodes_v2(GraphNode *node, GraphNode **nodes, EdgeData *edges, size_t *count);
CudaError cudaGraphNodeGetType(GraphNode *node, int *value);
CudaError cudaGraphNodeSetEnabled(GraphExec *exec, GraphNode *node, uint32_t enabled);
CudaError cudaGraphUpload(GraphExec *exec, Stream *stream);
CudaError cudaThreadExchangeStreamCaptureMode(int *mode);

#endif
