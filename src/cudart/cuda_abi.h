// The binary interface of the CUDA runtime: the types that cross it, with sizes and offsets as nvcc 13
// compiles them (checked against its headers), and the few enumerators that we look at. Field names are ours.
//
// Handles (streams, events, graphs, arrays) are opaque to programs: ours are pointers to our structs.
#ifndef REDOUBT_CUDART_CUDA_ABI_H
#define REDOUBT_CUDART_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef enum CudaError {
#define CUDA_ERROR(code, name, text) name = code,
#include "cudart/error.def"
#undef CUDA_ERROR
} CudaError;

typedef struct Dim3 {
  uint32_t x, y, z;
} Dim3;

typedef enum CopyKind { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, COPY_DEFAULT } CopyKind;

typedef struct ChannelDesc {
  int x, y, z, w; // bits
  int kind;       // ChannelKind
} ChannelDesc;
typedef enum ChannelKind {
  CHANNEL_SIGNED,
  CHANNEL_UNSIGNED,
  CHANNEL_FLOAT,
  CHANNEL_NONE,
  CHANNEL_UNORM_FIRST = 5, // 8x1 8x2 8x4 16x1 16x2 16x4
  CHANNEL_UNORM_LAST = 10,
  CHANNEL_SNORM_FIRST = 11,
  CHANNEL_SNORM_LAST = 16
} ChannelKind;

typedef struct Extent {
  size_t width, height, depth;
} Extent;
typedef struct Position {
  size_t x, y, z;
} Position;
typedef struct PitchedPointer {
  void *pointer;
  size_t pitch, width, height;
} PitchedPointer;

typedef struct Array Array;
typedef struct Mipmap Mipmap;
typedef struct Stream Stream;
typedef struct Event Event;
typedef struct Graph Graph;
typedef struct GraphicsResource GraphicsResource;
typedef struct GraphNode GraphNode;
typedef struct GraphExec GraphExec;
typedef struct MemPool MemPool;
typedef struct Context Context;

typedef struct Copy3D {
  Array *source_array;
  Position source_position;
  PitchedPointer source;
  Array *destination_array;
  Position destination_position;
  PitchedPointer destination;
  Extent extent;
  int kind;
} Copy3D;
_Static_assert(sizeof(Copy3D) == 160, "cudaMemcpy3DParms");

typedef struct Copy3DPeer {
  Array *source_array;
  Position source_position;
  PitchedPointer source;
  int source_device;
  Array *destination_array;
  Position destination_position;
  PitchedPointer destination;
  int destination_device;
  Extent extent;
} Copy3DPeer;

typedef enum ResourceType { RESOURCE_ARRAY, RESOURCE_MIPMAP, RESOURCE_LINEAR, RESOURCE_PITCH2D } ResourceType;
typedef struct ResourceDesc {
  int type;
  union {
    Array *array;
    Mipmap *mipmap;
    struct {
      void *pointer;
      ChannelDesc channels;
      size_t bytes;
    } linear;
    struct {
      void *pointer;
      ChannelDesc channels;
      size_t width, height, pitch;
    } pitch2d;
    int reserved[32];
  } of;
  uint32_t flags;
} ResourceDesc;
_Static_assert(sizeof(ResourceDesc) == 144, "cudaResourceDesc");

typedef struct TextureDesc {
  int address_mode[3], filter_mode, read_mode, srgb;
  float border[4];
  int normalized_coords;
  uint32_t max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_bias, mipmap_least, mipmap_most;
  int no_trilinear_optimization, seamless_cubemap;
} TextureDesc;
_Static_assert(sizeof(TextureDesc) == 72, "cudaTextureDesc");

typedef struct ResourceViewDesc {
  int format;
  size_t width, height, depth;
  uint32_t first_level, last_level, first_layer, last_layer, reserved[16];
} ResourceViewDesc;
_Static_assert(sizeof(ResourceViewDesc) == 112, "cudaResourceViewDesc");

typedef struct FuncAttributes {
  size_t shared_bytes, const_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout;
  int cluster[6], reserved[16];
} FuncAttributes;
_Static_assert(sizeof(FuncAttributes) == 144, "cudaFuncAttributes");
enum { FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED = 8, FUNC_ATTRIBUTE_CARVEOUT = 9, FUNC_ATTRIBUTE_COUNT = 16 };
enum { FUNC_ATTRIBUTE_CLUSTER = 11, FUNC_ATTRIBUTE_NON_PORTABLE = 14, FUNC_ATTRIBUTE_CLUSTER_POLICY = 15 }; // CLUSTER: width, height, depth

typedef enum MemoryType { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MANAGED } MemoryType;
typedef struct PointerAttributes {
  int type, device;
  void *device_pointer, *host_pointer;
  long reserved[8];
} PointerAttributes;
_Static_assert(sizeof(PointerAttributes) == 88, "cudaPointerAttributes");

typedef struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int number;
    Dim3 cluster;
  } value;
} LaunchAttribute;
_Static_assert(sizeof(LaunchAttribute) == 72, "cudaLaunchAttribute");
enum { LAUNCH_ATTRIBUTE_COOPERATIVE = 2, LAUNCH_ATTRIBUTE_CLUSTER = 4 };
typedef struct LaunchConfig {
  Dim3 grid, block;
  size_t dynamic_shared_bytes;
  Stream *stream;
  LaunchAttribute *attributes;
  uint32_t attribute_count;
} LaunchConfig;
_Static_assert(sizeof(LaunchConfig) == 56, "cudaLaunchConfig_t");

typedef void (*HostFunction)(void *data);
typedef void (*StreamCallback)(Stream *stream, CudaError status, void *data);

typedef struct KernelNodeParams {
  void *function;
  Dim3 grid, block;
  uint32_t shared_bytes;
  void **arguments, **extra;
} KernelNodeParams;
_Static_assert(sizeof(KernelNodeParams) == 56, "cudaKernelNodeParams");
typedef struct MemsetParams {
  void *destination;
  size_t pitch;
  uint32_t value, element_bytes;
  size_t width, height;
} MemsetParams;
_Static_assert(sizeof(MemsetParams) == 40, "cudaMemsetParams");
typedef struct HostNodeParams {
  HostFunction function;
  void *data;
} HostNodeParams;
typedef struct MemLocation {
  int type, id;
} MemLocation;
enum { LOCATION_DEVICE = 1, LOCATION_HOST = 2 };
typedef struct MemPoolProps {
  int allocation_type, handle_types;
  MemLocation location;
  void *security;
  size_t most_bytes;
  uint16_t usage;
  uint8_t reserved[54];
} MemPoolProps;
_Static_assert(sizeof(MemPoolProps) == 88, "cudaMemPoolProps");
typedef struct MemAccessDesc {
  MemLocation location;
  int flags;
} MemAccessDesc;
typedef struct MemAllocNodeParams {
  MemPoolProps pool;
  const MemAccessDesc *access;
  size_t access_count, bytes;
  void *pointer;
} MemAllocNodeParams;
_Static_assert(sizeof(MemAllocNodeParams) == 120, "cudaMemAllocNodeParams");

typedef enum NodeType {
  NODE_KERNEL,
  NODE_MEMCPY,
  NODE_MEMSET,
  NODE_HOST,
  NODE_GRAPH,
  NODE_EMPTY,
  NODE_WAIT_EVENT,
  NODE_EVENT_RECORD,
  NODE_MEM_ALLOC = 10,
  NODE_MEM_FREE = 11,
  NODE_CONDITIONAL = 13
} NodeType;
typedef struct MemcpyNodeParams {
  int flags, reserved[3];
  Copy3D copy;
} MemcpyNodeParams;
typedef struct ConditionalNodeParams {
  uint64_t handle;
  int type; // 0 if, 1 while, 2 switch
  uint32_t size;
  Graph **graphs;
} ConditionalNodeParams;
typedef struct GraphNodeParams {
  int type, reserved0[3];
  union {
    int64_t reserved1[29];
    KernelNodeParams kernel;
    MemcpyNodeParams copy;
    MemsetParams set;
    HostNodeParams host;
    Graph *graph;
    Event *event;
    MemAllocNodeParams alloc;
    void *free;
    ConditionalNodeParams conditional;
  } of;
  int64_t reserved2;
} GraphNodeParams;
_Static_assert(sizeof(GraphNodeParams) == 256, "cudaGraphNodeParams");
typedef struct EdgeData {
  uint8_t from_port, to_port, type, reserved[5];
} EdgeData;
typedef struct GraphInstantiateParams {
  uint64_t flags;
  Stream *upload_stream;
  GraphNode *error_node;
  int result;
} GraphInstantiateParams;
typedef struct GraphExecUpdateResult {
  int result; // 0 success, 2 topology changed, 3 node type changed, 5 parameters changed, 6 not supported
  GraphNode *error_node, *error_from_node;
} GraphExecUpdateResult;

typedef struct IpcHandle {
  char bytes[64];
} IpcHandle;

// What nvcc's host code hands to __cudaRegisterFatBinary.
typedef struct FatBinaryWrapper {
  int32_t magic, version;
  const void *data;
  void *fat_binaries; // version 2: NULL-terminated array of pointers to relocatable fat binaries
} FatBinaryWrapper;
enum { WRAPPER_MAGIC = 0x466243B1 };

#endif
