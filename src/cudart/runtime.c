// The process's state: lock, device, last errors, handles.
//
// The runtime's interface is process-wide, so this file holds the one piece of writable global data in Redoubt.
// Errors as CUDA defines them: each thread remembers its last error; a device trap is sticky.
#include "cudart/runtime.h"

#include "device/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_GRAPH_NODES = 1 << 22 };     // a graph that holds itself twice doubles with each call: an end before the host's memory ends
#define HOST_WINDOW (UINT64_C(32) << 30) // room beside device memory for host-mapped allocations

static Runtime process;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread CudaError last_error;

// ---- Start, fork, end ------------------------------------------------------------------------------------

static void lock_for_fork(void) { pthread_mutex_lock(&process.lock); }
static void unlock_after_fork(void) { pthread_mutex_unlock(&process.lock); }

static void initialise_lock(void) {
  pthread_mutexattr_t recursive; // host callbacks run inside API calls
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&process.lock, &recursive);
}

// The child's thread does not own the recursive lock that its parent's thread took: a fresh one.
static void renew_in_child(void) {
  initialise_lock();
  app_process_forked(process.environment.campaign);
}

enum { BAD_INPUT = 2, INTERNAL = 4 }; // exit codes

static int failure_code(const Runtime *runtime) { return runtime->device_failed ? INTERNAL : BAD_INPUT; }

// A program that does not look at its errors ends well although nothing of it ran. That must not pass for a result: the library
// ends the process with the codes that `redoubt` itself has for such things.
static void refuse_success(int status, void *context) {
  const Runtime *runtime = context;
  if (status == 0 && runtime->environment.records.lost) _exit(INTERNAL); // said already
  bool failed = (runtime->device_failed || runtime->kernels_missing) && runtime->failed_in == getpid();
  bool ran = runtime->device != NULL && device_launch_count(runtime->device) > 0;
  if (status != 0 || !failed || ran) return;
  runtime_say("nothing of %s ran on the simulated GPU, so that it does not end with exit code 0", program_invocation_short_name);
  fflush(NULL);
  _exit(failure_code(runtime));
}

// Told to `redoubt run` as well: the program may end in a way that leaves this library no say, as by _exit().
void runtime_failed(Runtime *runtime) {
  Text failure = {0};
  runtime->failed_in = getpid();
  record_pack_failure(failure_code(runtime), &failure);
  runtime_record(runtime, &failure);
  text_free(&failure);
}

static void start(void) {
  initialise_lock();
  environment_read(&process.environment);
  process.arena = arena_new();
  process.limits[0] = process.environment.spec.limit_stack;
  process.limits[1] = 1 << 20;
  process.limits[2] = process.environment.spec.limit_heap;
  process.limits[3] = 2;
  process.limits[4] = process.environment.spec.limit_pending_launches;
  process.limits[5] = 64;
  process.most_graph_nodes = MOST_GRAPH_NODES;
  pthread_atfork(lock_for_fork, unlock_after_fork, renew_in_child);
  on_exit(refuse_success, &process); // first noted, so that it comes last
}

void runtime_greet(void) {
  Text greeting = {0};
  record_pack_greeting(&greeting);
  runtime_record(&process, &greeting);
  text_free(&greeting);
}

// The greeting tells `redoubt run` that the program loaded this library, even if it never calls it.
__attribute__((constructor)) static void on_load(void) {
  pthread_once(&once, start);
  if (library_is_needed()) runtime_greet();
}

__attribute__((destructor)) static void on_unload(void) { environment_detach(&process.environment); }

Runtime *runtime_enter(void) {
  pthread_once(&once, start);
  pthread_mutex_lock(&process.lock);
  app_process_enter(process.environment.campaign);
  return &process;
}

CudaError runtime_leave(Runtime *runtime, CudaError error) {
  if (runtime->sticky != cudaSuccess) error = runtime->sticky;
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  app_process_leave(process.environment.campaign);
  pthread_mutex_unlock(&runtime->lock);
  return error;
}

void runtime_leave_quietly(Runtime *runtime) {
  app_process_leave(process.environment.campaign);
  pthread_mutex_unlock(&runtime->lock);
}

// An error that is sticky stays once it was reported, however often it is asked for.
CudaError runtime_last_error(bool clear) {
  CudaError error = last_error;
  if (clear && error != process.sticky) last_error = cudaSuccess;
  return error;
}

// ---- Messages and records ---------------------------------------------------------------------------

void runtime_say(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout);
  fputs("redoubt: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
}

void runtime_say_diags(Diags *diags) {
  enum { MOST_SHOWN = 20 };
  Text text = {0};
  for (uint32_t i = 0; i < diags->count && i < MOST_SHOWN; i++) diag_format(&diags->items[i], &text);
  if (diags->count > MOST_SHOWN) text_add(&text, "... and %u more\n", diags->count - MOST_SHOWN);
  fflush(stdout);
  if (text.at != NULL) fprintf(stderr, "redoubt: %s", text.at);
  text_free(&text);
  diags_free(diags);
}

void runtime_record(Runtime *runtime, const Text *bytes) {
  if (!environment_record(&runtime->environment, bytes))
    runtime_say("launch records cannot be written: the table of launches is not whole");
}

// ---- The device -------------------------------------------------------------------------------------

static void print_bytes(void *context, const char *bytes, size_t count) {
  const Runtime *runtime = context;
  app_process_saw(runtime->environment.campaign, bytes, count, false);
  fwrite(bytes, 1, count, stdout); // the program's own stdout: order with its printf is kept
}

// Time that this thread has worked: what a launch costs, whatever else the host does.
static double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Device *runtime_device(Runtime *runtime) {
  if (runtime->device != NULL || runtime->device_failed) return runtime->device;
  Diags diags = {0};
  Spec spec = runtime->environment.spec;
  spec.memory_bytes += HOST_WINDOW;
  DeviceOptions options = {.spec = &spec, .same_address = true, .print = print_bytes, .print_context = runtime, .clock = clock_seconds};
  options.check = runtime->environment.check;
  options.fits_registers = true;
  options.hooks = runtime->environment.failed ? NULL : environment_attach(&runtime->environment, &diags);
  options.launcher = app_process_launcher(runtime->environment.campaign);
  runtime->device = options.hooks == NULL ? NULL : device_new(&options, &diags);
  runtime->device_failed = runtime->device == NULL;
  if (runtime->device_failed) runtime_failed(runtime);
  app_process_host_ranges(runtime->environment.campaign, allocation_each_host);
  if (runtime->device_failed) runtime_say_diags(&diags);
  else app_process_device(runtime->environment.campaign, runtime->device, allocation_hash_host, runtime);
  return runtime->device;
}

// ---- Handles ----------------------------------------------------------------------------------------

// A program's handle is looked up here before anything behind it is read: it may be any number.

void handle_add(Runtime *runtime, HandleKind kind, void *handle) { pointer_map_put(&runtime->handles, handle, pointer_of(kind)); }
void handle_drop(Runtime *runtime, const void *handle) { pointer_map_take(&runtime->handles, handle); }

void *handle_new(Runtime *runtime, HandleKind kind, size_t bytes) {
  void *handle = calloc(1, bytes);
  ASSERT(handle != NULL);
  handle_add(runtime, kind, handle);
  return handle;
}

bool handle_is(const Runtime *runtime, const void *handle, HandleKind kind) {
  return handle != NULL && address_of(pointer_map_get(&runtime->handles, handle)) == kind;
}

void handle_free(Runtime *runtime, void *handle) {
  handle_drop(runtime, handle);
  free(handle);
}
