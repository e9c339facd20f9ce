// --twice: the whole computation of a fragment program issued twice from the host, and its results compared. This is what Sheaffer, Luebke and Skadron (Graphics
// Hardware 2007, section 3.1.1) set their hardware against: no hardware is added.
//
//   host    on one GPU, one after the other; the host reads both frames and compares them
//   gpu     likewise, but a program compares on the GPU (compare.fp), and the host reads one frame of marks
//   boards  on two GPUs, each with textures of its own; the host compares. The two are simulated one after the other; their times are not to be added
//
// Two frames that differ, or a run that ends early, let the host issue all of it a third time, with fresh textures: two equal frames of three win. Without any it
// gives up.
// Comparison on the GPU is one of floats: it does not tell 0 from -0, and finds what is no number different from itself.
#include "cli/shader_twice.h"

#include <stdlib.h>

static const char *const ways[] = {[TWICE_HOST] = "host", [TWICE_GPU] = "gpu", [TWICE_BOARDS] = "boards"};

bool shader_twice_of(const char *text, ShaderTwice *twice) {
  for (uint32_t i = TWICE_HOST; i < COUNT_OF(ways); i++) {
    if (strcmp(text, ways[i]) == 0) return *twice = (ShaderTwice)i, true;
  }
  return false;
}

const char *shader_twice_name(ShaderTwice twice) { return ways[twice]; }

// ---- Memory --------------------------------------------------------------------------------------------------------------

static uint32_t power_of_two(uint32_t at_least) {
  uint32_t power = 1;
  while (power < at_least) power *= 2;
  return power;
}

uint64_t shader_frame_bytes(const ShaderCall *call) {
  if (call->twice != TWICE_GPU) return (uint64_t)call->width * call->height * FRAGMENT_TEXEL_BYTES;
  return fragment_texture_bytes(call->width, call->height); // it is a texture of the comparison, which looks at all of its bytes
}

static bool place_frame(const ShaderCall *call, Device *device, DeviceAddress *frame) {
  *frame = device_alloc(device, shader_frame_bytes(call));
  return *frame != 0 && device_set(device, *frame, 0, shader_frame_bytes(call));
}

static uint32_t offset_of(Device *device, DeviceAddress address) { return (uint32_t)(address - memory_base(device_memory(device))); }

static bool place_comparison(ShaderCall *call, Device *device, Diags *diags) {
  SourceText source;
  Arena *scratch = arena_new();
  bool good = shader_text("compare.fp", scratch, &source, diags);
  ShaderProgram *shader = good ? shader_parse("compare.fp", source.text, source.length, diags) : NULL;
  arena_free(scratch);
  if (shader == NULL || !place_frame(call, device, &call->marks)) return false;
  ShaderComparison *comparison = call->comparison;
  uint32_t width = power_of_two(call->width), height = power_of_two(call->height);
  comparison->params = (FragmentParams){.frame = offset_of(device, call->marks)};
  for (uint32_t i = 0; i < 2; i++) comparison->params.texture[i] = (FragmentTexture){offset_of(device, call->frames[i]), width, height};
  comparison->pointers[0] = &comparison->params;
  comparison->request = call->request;
  comparison->request.arguments = comparison->pointers;
  comparison->request.grid[0] = width;
  comparison->request.grid[1] = height;
  comparison->request.module = device_load_program(device, fragment_program("compare.fp", shader), diags);
  return comparison->request.module != NULL;
}

bool shader_twice_place(ShaderCall *call, Device *device) {
  call->frames[0] = call->frame;
  if (call->twice == TWICE_NOT) return true;
  if (!place_frame(call, device, &call->frames[1]) || !place_frame(call, device, &call->frames[2])) return false;
  *call->second = *call->params;
  if (call->twice == TWICE_BOARDS && !shader_textures_place(call, call->second, device)) return false;
  Diags diags = {0};
  bool good = call->twice != TWICE_GPU || place_comparison(call, device, &diags);
  diags_free(&diags);
  return good;
}

// ---- The host ------------------------------------------------------------------------------------------------------------

typedef enum Ended { ENDED_WELL, ENDED_EARLY, ENDED_ALL } Ended; // ALL: somebody has stopped the run

static Ended launch(Device *device, const LaunchRequest *request) {
  if (device_launch(device, request)) return ENDED_WELL;
  TrapKind kind = device_trap(device)->kind;
  return kind == TRAP_NONE || kind == TRAP_STOPPED || kind == TRAP_LIMIT || kind == TRAP_REFUSED ? ENDED_ALL : ENDED_EARLY;
}

static Ended compute(ShaderCall *call, Device *device, uint32_t which) {
  FragmentParams params = which == 1 ? *call->second : *call->params;
  params.frame = offset_of(device, call->frames[which]);
  const void *pointers[1] = {&params};
  LaunchRequest request = call->request;
  request.arguments = pointers;
  return launch(device, &request);
}

static bool host_finds_same(const ShaderCall *call, Device *device, uint32_t a, uint32_t b) {
  uint64_t bytes = (uint64_t)call->width * call->height * FRAGMENT_TEXEL_BYTES;
  uint8_t *frames = malloc(2 * bytes);
  ASSERT(frames != NULL);
  bool same = device_read(device, frames, call->frames[a], bytes) && device_read(device, frames + bytes, call->frames[b], bytes) &&
              memcmp(frames, frames + bytes, bytes) == 0;
  free(frames);
  return same;
}

// Where the frames differ compare.fp leaves a mark.
static Ended gpu_compares(ShaderCall *call, Device *device, bool *same) {
  uint64_t bytes = shader_frame_bytes(call);
  uint8_t *marks = malloc(bytes);
  ASSERT(marks != NULL);
  Ended ended = launch(device, &call->comparison->request);
  *same = ended == ENDED_WELL && device_read(device, marks, call->marks, bytes);
  for (uint64_t i = 0; i < bytes && *same; i++) *same = marks[i] == 0;
  free(marks);
  return ended;
}

bool shader_call_run(ShaderCall *call, Device *device) {
  if (call->twice == TWICE_NOT) return device_launch(device, &call->request);
  Ended ended[3] = {ENDED_EARLY, ENDED_EARLY, ENDED_EARLY}, compared = ENDED_WELL;
  bool same = false;
  call->differed = call->gave_up = false;
  for (uint32_t i = 0; i < 2; i++) {
    ended[i] = compute(call, device, i);
    if (ended[i] == ENDED_ALL) return false;
  }
  bool both = ended[0] == ENDED_WELL && ended[1] == ENDED_WELL;
  if (both && call->twice == TWICE_GPU) compared = gpu_compares(call, device, &same);
  else if (both) same = host_finds_same(call, device, 0, 1);
  if (compared == ENDED_ALL) return false;
  if (same) return true;
  call->differed = true;
  if (!shader_textures_write(call, device)) return false;
  ended[2] = compute(call, device, 2);
  if (ended[2] == ENDED_ALL) return false;
  for (uint32_t i = 0; i < 2 && ended[2] == ENDED_WELL; i++) {
    if (ended[i] != ENDED_WELL || !host_finds_same(call, device, i, 2)) continue;
    return i == 0 || device_copy(device, call->frames[0], call->frames[2], shader_frame_bytes(call));
  }
  if (call->unanswered) return ended[0] == ENDED_WELL;
  call->gave_up = true;
  return false;
}
