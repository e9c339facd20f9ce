// What the files of the CUDA runtime library share: the state of the process, and how an API call
// enters and leaves it.
//
// One lock around the API: launches serialise, as on one device. Everything runs eagerly: a stream's work is
// done when the call that queued it returns, unless the stream is being captured into a graph.
#ifndef REDOUBT_CUDART_RUNTIME_H
#define REDOUBT_CUDART_RUNTIME_H

#include "cudart/cuda_abi.h"
#include "cudart/fatbin.h"
#include "app/app.h"
#include "device/attachments.h"
#include "device/device.h"

#include <pthread.h>

// An exported function, with the prototype that no public header of ours has.
#define EXPORT __attribute__((visibility("default")))
#define CUDART(name, ...)             \
  EXPORT CudaError name(__VA_ARGS__); \
  CudaError name(__VA_ARGS__)
// Per-thread-default-stream variants: the same function, since work is done eagerly.
#define CUDART_ALIAS(alias_name, name) EXPORT extern __typeof__(name) alias_name __attribute__((alias(#name)));

typedef struct Runtime Runtime;

// ---- Pointer maps (pointer_map.c) ---------------------------------------------------------------
typedef struct PointerMap {
  const void **keys;
  void **values;
  uint32_t count, capacity; // capacity: power of two
} PointerMap;
void *pointer_map_get(const PointerMap *map, const void *key); // NULL: not there
void pointer_map_put(PointerMap *map, const void *key, void *value);
void *pointer_map_take(PointerMap *map, const void *key); // removes; NULL: was not there

// ---- Options from `redoubt run` (environment.c) ---------------------------------------------------
// The file that launch records are appended to. The program may close its descriptor, and open a file of its own under the same number.
typedef struct Records {
  const char *path; // NULL: nobody wants them
  int file;
  uint64_t device, inode; // what the descriptor must be
  bool lost;              // some could not be written
} Records;
typedef struct Environment {
  Spec spec;
  bool failed; // it was not understood: there will be no device
  Records records;
  AttachmentWishes wishes; // protections and trace
  Attachments attachments; // of the device, once it is there
  int attached_by;         // process that made them; 0: nobody
  unsigned check;          // REDOUBT_CHECK=memory,races: CHECK_MEMORY, CHECK_RACES
  const char *exchange;    // file of a campaign that runs the program; NULL: none
  AppProcess *campaign;    // its hooks, once the device is there
} Environment;
void environment_read(Environment *environment);
bool environment_record(Environment *environment, const Text *bytes);        // appends them; false: they cannot be written
const HookChain *environment_attach(Environment *environment, Diags *diags); // for the device; NULL: not understood
void environment_detach(Environment *environment);                           // the process ends: completes the trace

// ---- Modules, kernels, variables (registration.c) -------------------------------------------------
typedef struct Variable {
  const void *host;
  const char *name;
  void **managed; // where the host program keeps its pointer to a managed variable; NULL otherwise
  struct Binary *binary;
  struct Variable *next; // of the same binary
} Variable;

enum { MOST_PORTABLE = 8 }; // blocks of a cluster that every GPU runs
typedef struct Kernel {
  const void *host; // also its cudaKernel_t and cudaFunction_t
  const char *name;
  struct Binary *binary;
  const Function *function; // once loaded
  int max_dynamic_shared;   // -1: not set by the program
  int carveout;
  uint32_t cluster[3]; // set by the host; zeros: what the kernel says
  bool non_portable;   // clusters of more than MOST_PORTABLE blocks are allowed
  bool said_registers; // the program was told that it has fewer than it asks for
  bool said_shared;    // that the machine has too little shared memory for it
  struct Kernel *next; // of the same binary, if the program loaded that itself
} Kernel;

// One fat binary or PTX text. A registered one is loaded at first use. Lives as long as the process.
typedef struct Binary {
  const void *wrapper;          // in the program's memory; NULL: own_wrapper
  FatBinaryWrapper own_wrapper; // of an image without one
  size_t limit;                 // bytes of the image, if it was a file; 0: as far as memory is mapped
  Module *module;
  uint32_t arch;     // of the PTX taken
  CudaError failure; // why it cannot be loaded
  bool loaded;       // or failed
  bool registered;   // by nvcc's start-up code
  Variable *variables;
  Kernel *kernels; // that the program asked for by name
} Binary;

// ---- Allocations (allocation.c) ---------------------------------------------------------------------
typedef struct Allocation {
  uint64_t start, bytes;
  MemoryType type;
  uint32_t flags;  // cudaHostAlloc's or cudaHostRegister's
  bool registered; // by cudaHostRegister: the program's own memory
  bool of_array;   // storage of a CUDA array, whose handle outlives a device reset
  bool of_graph;   // by a graph's allocation node: stays until the process ends
} Allocation;

// ---- Streams, events, graphs (stream.c, event.c, graph.c) ------------------------------------------------
typedef enum HandleKind {
  HANDLE_STREAM = 1,
  HANDLE_EVENT,
  HANDLE_GRAPH,
  HANDLE_NODE,
  HANDLE_EXEC,
  HANDLE_ARRAY,
  HANDLE_MIPMAP,
  HANDLE_POOL,
  HANDLE_PIECE,
  HANDLE_GRAPHICS,
  HANDLE_REGISTERED, // a Binary of nvcc's start-up code
  HANDLE_BINARY,     // one that the program loaded: cudaLibrary_t, CUmodule
  HANDLE_LINK,
  HANDLE_CONTEXT
} HandleKind;

// Graph nodes that later work waits for.
typedef struct NodeSet {
  GraphNode **items; // malloc
  uint32_t count;
} NodeSet;
void node_set_add(NodeSet *set, GraphNode *node); // once
void node_set_add_all(NodeSet *set, const NodeSet *more);
void node_set_clear(NodeSet *set);

struct Stream {
  uint64_t id;
  uint32_t flags;
  int priority;
  Graph *capture; // being captured into this graph; NULL: not
  uint64_t capture_id;
  bool capture_origin; // cudaStreamBeginCapture was called on this stream
  NodeSet tails;       // what the next captured node depends on
  Stream *next_capturing;
  LaunchAttribute attributes[16]; // as set, by id; only handed back
};

struct Event {
  uint32_t flags;
  bool recorded;
  uint64_t time_ns;
  Graph *capture; // recorded while this graph was captured
  uint64_t capture_id;
  NodeSet tails;
};

// One piece of work for a stream: done at once, or kept as a node of a graph.
typedef struct Operation {
  GraphNodeParams params;
  bool cooperative;     // kernels
  Dim3 cluster;         // kernels; see LaunchWish
  void *argument_bytes; // kernels in graphs: owns params.of.kernel.arguments; malloc
} Operation;
CudaError operation_run(Runtime *runtime, const Operation *operation);
CudaError operation_queue(Runtime *runtime, const Operation *operation, Stream *stream); // run or capture
CudaError graph_capture(Runtime *runtime, Stream *stream, const Operation *operation);
CudaError graph_run(Runtime *runtime, Graph *graph); // all nodes in order

// ---- The process ------------------------------------------------------------------------------------
struct Runtime {
  pthread_mutex_t lock;
  bool started;
  Environment environment;
  Arena *arena; // lives as long as the process
  Device *device;
  bool device_failed;
  bool kernels_missing;          // a fat binary or module could not be loaded
  int failed_in;                 // the process in which either happened; 0: none
  CudaError sticky;              // after a device trap, until the process ends
  uint64_t clock_ns;             // simulated time
  uint64_t ids;                  // of streams and captures
  PointerMap kernels, variables; // by host address
  PointerMap handles;            // every live handle -> its HandleKind
  PointerMap allocations;        // by start
  PointerMap textures;           // by object: what it was made from
  Allocation **ranges;           // registered host memory, few
  uint32_t range_count;
  uint64_t device_in_use; // bytes of cudaMalloc and the like
  uint32_t device_flags;
  uint64_t limits[8];
  Stream default_stream;
  Stream *capturing;            // all streams being captured
  MemPool *default_pool, *pool; // pool: set by the program
  Context *primary_context;     // of the driver's interface; NULL: nobody asked
  uint64_t primary_retained;
  uint64_t graph_in_use; // bytes of graphs' allocation nodes
  uint64_t graph_nodes, most_graph_nodes;
};

Runtime *runtime_enter(void);                               // locks; starts the library if need be
CudaError runtime_leave(Runtime *runtime, CudaError error); // notes the error, unlocks
void runtime_leave_quietly(Runtime *runtime);
Device *runtime_device(Runtime *runtime);                                        // made at first use; NULL: cannot be made (said on stderr)
void runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2))); // "redoubt: ..." on stderr
void runtime_say_diags(Diags *diags);                                            // and frees them
void runtime_record(Runtime *runtime, const Text *bytes);
void runtime_failed(Runtime *runtime); // nothing can run: the process will not end with exit code 0, if nothing did before
void runtime_greet(void);              // tells `redoubt run` that the program is simulated
bool library_is_needed(void);          // a loaded object names this library among those it needs
CudaError runtime_last_error(bool clear);

void *handle_new(Runtime *runtime, HandleKind kind, size_t bytes); // zeroed
bool handle_is(const Runtime *runtime, const void *handle, HandleKind kind);
void handle_free(Runtime *runtime, void *handle);
void handle_add(Runtime *runtime, HandleKind kind, void *handle); // of something that handle_new did not make
void handle_drop(Runtime *runtime, const void *handle);           // no handle any more

// registration.c
Kernel *kernel_find(Runtime *runtime, const void *host);
CudaError kernel_load(Runtime *runtime, const void *host, Kernel **kernel);
CudaError variable_find(Runtime *runtime, const void *host, uint64_t *address, uint64_t *bytes);
void variable_each_managed(const Runtime *runtime, AppHostRange each, void *context); // those that the host reads too

// binary.c
CudaError binary_load(Runtime *runtime, Binary *binary);
// Loads what the program brings itself: a fat binary, or PTX text. `limit`: bytes of a file that was read; 0: memory of the program.
CudaError binary_from_image(Runtime *runtime, const void *image, size_t limit, Binary **binary);
// PTX text of a library of ours, under a name of its own.
CudaError binary_from_text(Runtime *runtime, const char *file, const char *text, Binary **binary);
CudaError binary_from_file(Runtime *runtime, const char *path, Binary **binary);
CudaError binary_unload(Runtime *runtime, Binary *binary);                 // any handle
Kernel *binary_kernel(Runtime *runtime, Binary *binary, const char *name); // NULL: none; its host address is the Kernel itself
bool binary_symbol(Runtime *runtime, const Binary *binary, const char *name, uint64_t *address, uint64_t *bytes); // any handle

// mapping.c
size_t mapped_bytes(const void *pointer); // that can be read from there on; 0: none

// allocation.c
uint64_t allocation_new(Runtime *runtime, uint64_t bytes, MemoryType type, uint32_t flags); // 0: none left
CudaError allocation_free(Runtime *runtime, uint64_t start, bool host);
void allocation_free_all(Runtime *runtime);                                                // device and managed memory, but arrays'
CudaError graph_memory_new(Runtime *runtime, void **pointer, size_t bytes);                // stays until the process ends
CudaError stream_allocate(Runtime *runtime, void **pointer, size_t bytes, Stream *stream); // or a node, in a capture
const Allocation *allocation_find(Runtime *runtime, uint64_t address);                     // NULL: none of the program's
void allocation_each_host(const void *runtime, AppHostRange each, void *context);          // what the host reads too
uint64_t allocation_hash_host(const void *runtime, uint64_t seed);                         // contents of what the host reads too
static inline uint64_t address_of(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }
static inline void *pointer_of(uint64_t address) { return (void *)(uintptr_t)address; }

// stream.c
Stream *stream_of(Runtime *runtime, Stream *handle); // NULL: no such stream
void stream_join_capture(Runtime *runtime, Stream *stream, Graph *graph, uint64_t id);
bool capture_is_active(const Runtime *runtime, uint64_t id); // some stream is still in it
void stream_end_capture(Runtime *runtime, Stream *stream);
void event_record_now(Runtime *runtime, Event *event);

// launch.c
typedef struct LaunchWish {
  const void *function;
  Dim3 grid, block;
  size_t shared_bytes;
  void **arguments;
  bool cooperative;
  void **extra; // arguments in one buffer instead: {1, buffer, 2, &size, NULL}
  Dim3 cluster; // zeros: what the kernel says, or none
} LaunchWish;
CudaError launch_run(Runtime *runtime, const LaunchWish *wish);
bool kernel_extra_arguments(const Function *function, void **extra, void **arguments); // pointers into the buffer; false: too small
bool kernel_arguments_are_there(const Function *function, void *const *arguments);

// copy.c: all checked; times are simulated
CudaError copy_3d(Runtime *runtime, const Copy3D *copy);
CudaError set_bytes(Runtime *runtime, const MemsetParams *set);
bool set_is_known(const MemsetParams *set);                                          // elements of 1, 2 or 4 bytes
bool device_range_is_good(const Runtime *runtime, uint64_t address, uint64_t bytes); // needs the device; one allocation holds it all

#endif
