// OpenGL buffers in kernels. A registered buffer has device memory beside it: mapping copies the buffer's contents there,
// unmapping copies them back. OpenGL's functions are the program's own, found in the process by name, so that any
// implementation will do, and none is needed by programs that never draw. Images (textures) are not supported.
#include "cudart/runtime.h"

#include <dlfcn.h>

enum { GL_ARRAY_BUFFER = 0x8892, GL_ARRAY_BUFFER_BINDING = 0x8894, GL_BUFFER_SIZE = 0x8764 };
enum { MAP_READ_ONLY = 1, MAP_WRITE_DISCARD = 2 };

typedef struct OpenGl {
  void (*bind)(uint32_t target, uint32_t buffer);
  void (*get_integer)(uint32_t name, int32_t *value);
  void (*get_parameter)(uint32_t target, uint32_t name, int32_t *value);
  void (*read)(uint32_t target, intptr_t offset, intptr_t bytes, void *to);
  void (*write)(uint32_t target, intptr_t offset, intptr_t bytes, const void *from);
} OpenGl;

struct GraphicsResource {
  uint32_t buffer, flags;
  bool mapped;
  uint64_t memory, bytes;
};

// A function of the program's OpenGL: linked, or through the library's own look-up.
static void *gl_function(const char *name) {
  void *function = dlsym(RTLD_DEFAULT, name);
  if (function != NULL) return function;
  void *(*look_up)(const char *) = NULL;
  *(void **)&look_up = dlsym(RTLD_DEFAULT, "glXGetProcAddressARB");
  return look_up == NULL ? NULL : look_up(name);
}

static bool gl_open(OpenGl *gl) {
  *(void **)&gl->bind = gl_function("glBindBuffer");
  *(void **)&gl->get_integer = gl_function("glGetIntegerv");
  *(void **)&gl->get_parameter = gl_function("glGetBufferParameteriv");
  *(void **)&gl->read = gl_function("glGetBufferSubData");
  *(void **)&gl->write = gl_function("glBufferSubData");
  return gl->bind != NULL && gl->get_integer != NULL && gl->get_parameter != NULL && gl->read != NULL && gl->write != NULL;
}

typedef enum Transfer { ASK_SIZE, TO_DEVICE, TO_BUFFER } Transfer;

// Works on the buffer and leaves the program's binding as it was.
static bool gl_transfer(GraphicsResource *resource, Transfer transfer) {
  OpenGl gl;
  if (!gl_open(&gl)) return false;
  int32_t bound = 0, size = 0;
  gl.get_integer(GL_ARRAY_BUFFER_BINDING, &bound);
  gl.bind(GL_ARRAY_BUFFER, resource->buffer);
  void *memory = pointer_of(resource->memory);
  if (transfer == ASK_SIZE) gl.get_parameter(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &size);
  if (transfer == TO_DEVICE) gl.read(GL_ARRAY_BUFFER, 0, (intptr_t)resource->bytes, memory);
  if (transfer == TO_BUFFER) gl.write(GL_ARRAY_BUFFER, 0, (intptr_t)resource->bytes, memory);
  gl.bind(GL_ARRAY_BUFFER, (uint32_t)bound);
  if (transfer == ASK_SIZE) resource->bytes = size > 0 ? (uint64_t)size : 0;
  return transfer != ASK_SIZE || size > 0;
}

CUDART(cudaGraphicsGLRegisterBuffer, GraphicsResource **resource, uint32_t buffer, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  if (resource == NULL) return runtime_leave(runtime, cudaErrorInvalidValue);
  GraphicsResource made = {.buffer = buffer, .flags = flags};
  if (!gl_transfer(&made, ASK_SIZE)) return runtime_leave(runtime, cudaErrorInvalidGraphicsContext);
  made.memory = allocation_new(runtime, made.bytes, MEMORY_DEVICE, 0);
  if (made.memory == 0) return runtime_leave(runtime, cudaErrorMemoryAllocation);
  *resource = handle_new(runtime, HANDLE_GRAPHICS, sizeof **resource);
  **resource = made;
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphicsUnregisterResource, GraphicsResource *resource) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, resource, HANDLE_GRAPHICS)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  allocation_free(runtime, resource->memory, false);
  handle_free(runtime, resource);
  return runtime_leave(runtime, cudaSuccess);
}

CUDART(cudaGraphicsResourceSetMapFlags, GraphicsResource *resource, uint32_t flags) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, resource, HANDLE_GRAPHICS)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (resource->mapped) return runtime_leave(runtime, cudaErrorAlreadyMapped);
  resource->flags = flags;
  return runtime_leave(runtime, cudaSuccess);
}

static CudaError set_mapped(Runtime *runtime, GraphicsResource *resource, bool mapped) {
  if (!handle_is(runtime, resource, HANDLE_GRAPHICS)) return cudaErrorInvalidResourceHandle;
  if (resource->mapped == mapped) return mapped ? cudaErrorAlreadyMapped : cudaErrorNotMapped;
  bool copies = (resource->flags & (mapped ? MAP_WRITE_DISCARD : MAP_READ_ONLY)) == 0;
  if (copies && !gl_transfer(resource, mapped ? TO_DEVICE : TO_BUFFER)) return cudaErrorInvalidGraphicsContext;
  resource->mapped = mapped;
  return cudaSuccess;
}

static CudaError set_all_mapped(int count, GraphicsResource **resources, bool mapped) {
  Runtime *runtime = runtime_enter();
  CudaError error = count < 0 || (count > 0 && resources == NULL) ? cudaErrorInvalidValue : cudaSuccess;
  for (int i = 0; i < count && error == cudaSuccess; i++) error = set_mapped(runtime, resources[i], mapped);
  return runtime_leave(runtime, error);
}

CUDART(cudaGraphicsMapResources, int count, GraphicsResource **resources, Stream *stream) {
  (void)stream; // work is done when the call returns
  return set_all_mapped(count, resources, true);
}
CUDART(cudaGraphicsUnmapResources, int count, GraphicsResource **resources, Stream *stream) {
  (void)stream;
  return set_all_mapped(count, resources, false);
}

CUDART(cudaGraphicsResourceGetMappedPointer, void **pointer, size_t *bytes, GraphicsResource *resource) {
  Runtime *runtime = runtime_enter();
  if (!handle_is(runtime, resource, HANDLE_GRAPHICS)) return runtime_leave(runtime, cudaErrorInvalidResourceHandle);
  if (!resource->mapped) return runtime_leave(runtime, cudaErrorNotMapped);
  if (pointer != NULL) *pointer = pointer_of(resource->memory);
  if (bytes != NULL) *bytes = resource->bytes;
  return runtime_leave(runtime, cudaSuccess);
}
