// redoubt run FILE.fp: a fragment program over a domain, with textures and values for its parameters, without any host code.
#include "cli/png_file.h"
#include "cli/shader_twice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool is_shader_file(const char *target) {
  const char *dot = strrchr(target, '.');
  return dot != NULL && strcmp(dot, ".fp") == 0;
}

bool shader_text(const char *target, Arena *arena, SourceText *source, Diags *diags) {
  for (uint32_t i = 0; i < builtin_shader_count && access(target, F_OK) != 0; i++) { // a file of that name comes first
    if (strcmp(builtin_shaders[i].name, target) != 0) continue;
    *source = (SourceText){builtin_shaders[i].text, strlen(builtin_shaders[i].text)};
    return true;
  }
  return source_read(target, arena, source, diags);
}

// ---- What the options say ---------------------------------------------------------------------------------------------

// "x,y,z,w", or fewer: what is not said is 0, and 1 in w.
static bool parse_vector(const char *text, float value[4]) {
  value[0] = value[1] = value[2] = 0.0f;
  value[3] = 1.0f;
  for (uint32_t i = 0; i < 4; i++) {
    char *rest;
    value[i] = strtof(text, &rest);
    if (rest == text || (*rest != ',' && *rest != '\0')) return false;
    if (*rest == '\0') return true;
    text = rest + 1;
  }
  return false;
}

static bool set_values(const RunOptions *options, ShaderProgram *shader, Diags *diags) {
  for (uint32_t i = 0; i < options->shader.values.count; i++) {
    const char *text = options->shader.values.items[i], *equals = strrchr(text, '=');
    float value[4];
    char name[80];
    snprintf(name, sizeof name, "%.*s", equals != NULL ? (int)(equals - text) : 0, text);
    if (equals == NULL || !parse_vector(equals + 1, value)) return diags_add(diags, NULL, 0, 0, "--value %s: write NAME=X,Y,Z,W", text);
    if (!shader_set(shader, name, value)) return diags_add(diags, NULL, 0, 0, "--value %s: the program declares no '%s'", text, name);
  }
  return true;
}

Program *shader_call_compile(const RunOptions *options, const SourceText *source, Diags *diags) {
  ShaderProgram *shader = shader_parse(options->target, source->text, source->length, diags);
  if (shader != NULL && set_values(options, shader, diags)) return fragment_program(options->target, shader);
  shader_free(shader);
  return NULL;
}

static void fill_random(float *texels, uint64_t count, uint64_t seed) {
  for (uint64_t i = 0; i < count; i++) texels[i] = random_unit_f32(random_draw(seed, i, 0));
}

// "0=random:64x64", "1=zeros:8x8", "2=picture.png"
static bool parse_texture(ShaderCall *call, const RunOptions *options, const char *text, Arena *arena, Diags *diags) {
  char *rest;
  unsigned long long number = strtoull(text, &rest, 10); // too large a number stays too large
  if (text[0] < '0' || text[0] > '9' || *rest != '=' || number >= SHADER_TEXTURES)
    return diags_add(diags, NULL, 0, 0,
                     "--texture %s: write NUMBER=random:WxH, NUMBER=zeros:WxH or NUMBER=FILE.png; NUMBER is from 0 to %d", text,
                     SHADER_TEXTURES - 1);
  rest++;
  ShaderTexels *texture = &call->texture[number];
  bool is_random = strncmp(rest, "random:", 7) == 0, is_zero = strncmp(rest, "zeros:", 6) == 0;
  if (!is_random && !is_zero) return png_read(rest, arena, FRAGMENT_MOST_EDGE, &texture->pixels, &texture->width, &texture->height, diags);
  uint32_t edges[2];
  bool good = pair_parse(strchr(rest, ':') + 1, 'x', edges);
  if (!good || edges[0] == 0 || edges[1] == 0 || edges[0] > FRAGMENT_MOST_EDGE || edges[1] > FRAGMENT_MOST_EDGE)
    return diags_add(diags, NULL, 0, 0, "--texture %s: edges are written WxH, each from 1 to %d texels", text, FRAGMENT_MOST_EDGE);
  texture->width = edges[0];
  texture->height = edges[1];
  uint64_t texels = (uint64_t)edges[0] * edges[1];
  texture->pixels = ARENA_ARRAY(arena, float, texels * 4);
  if (is_random) fill_random(texture->pixels, texels * 4, options->seed + number);
  return true;
}

void shader_domain(const RunOptions *options, uint32_t *width, uint32_t *height) {
  *width = options->shader.domain[0];
  *height = options->shader.domain[1];
  if (*width == 0) *width = *height = 64;
}

bool shader_call_parse(ShaderCall *call, const RunOptions *options, Arena *arena, Diags *diags) {
  *call = (ShaderCall){0};
  shader_domain(options, &call->width, &call->height);
  for (uint32_t i = 0; i < options->shader.textures.count; i++) {
    if (!parse_texture(call, options, options->shader.textures.items[i], arena, diags)) return false;
  }
  call->twice = options->shader.twice;
  call->params = ARENA_NEW(arena, FragmentParams);
  call->second = ARENA_NEW(arena, FragmentParams);
  call->comparison = ARENA_NEW(arena, ShaderComparison);
  call->pointers[0] = call->params;
  return true;
}

// ---- Memory ----------------------------------------------------------------------------------------------------------------

static bool write_texture(const ShaderTexels *texels, const FragmentTexture *texture, Device *device) {
  uint64_t bytes = fragment_texture_bytes(texels->width, texels->height);
  uint8_t *swizzled = calloc(1, bytes);
  ASSERT(swizzled != NULL);
  for (uint32_t y = 0; y < texels->height; y++) {
    for (uint32_t x = 0; x < texels->width; x++)
      memcpy(swizzled + (size_t)fragment_morton(x, y, texels->width, texels->height) * FRAGMENT_TEXEL_BYTES,
             &texels->pixels[((size_t)y * texels->width + x) * 4], FRAGMENT_TEXEL_BYTES);
  }
  bool good = device_write(device, memory_base(device_memory(device)) + texture->address, swizzled, bytes);
  free(swizzled);
  return good;
}

static bool place_texture(const ShaderTexels *texels, FragmentTexture *texture, Device *device) {
  uint64_t address = device_alloc(device, fragment_texture_bytes(texels->width, texels->height));
  *texture = (FragmentTexture){(uint32_t)(address - memory_base(device_memory(device))), texels->width, texels->height};
  return address != 0 && write_texture(texels, texture, device);
}

bool shader_textures_write(const ShaderCall *call, Device *device) {
  bool good = true;
  for (uint32_t i = 0; i < SHADER_TEXTURES && good; i++)
    good = call->texture[i].width == 0 || write_texture(&call->texture[i], &call->params->texture[i], device);
  return good;
}

bool shader_textures_place(const ShaderCall *call, FragmentParams *params, Device *device) {
  for (uint32_t i = 0; i < SHADER_TEXTURES; i++) {
    if (call->texture[i].width != 0 && !place_texture(&call->texture[i], &params->texture[i], device)) return false;
  }
  return true;
}

bool shader_call_place(ShaderCall *call, Device *device) {
  uint64_t base = memory_base(device_memory(device));
  FragmentParams *params = call->params;
  call->frame = device_alloc(device, shader_frame_bytes(call));
  if (call->frame == 0) return false;
  params->frame = (uint32_t)(call->frame - base);
  if (!shader_textures_place(call, params, device)) return false;
  call->request.kernel = "fragment program";
  call->request.arguments = call->pointers;
  call->request.argument_count = 1;
  call->request.grid[0] = call->width;
  call->request.grid[1] = call->height;
  call->request.grid[2] = call->request.block[0] = call->request.block[1] = call->request.block[2] = 1;
  return shader_twice_place(call, device);
}

// ---- Results -----------------------------------------------------------------------------------------------------------------

static void take_channels(const uint8_t *frame, size_t count, uint32_t channels, float *values) {
  for (size_t i = 0; i < count; i++)
    memcpy(&values[i * channels], frame + i * FRAGMENT_TEXEL_BYTES + (channels == 1 ? 12 : 0), channels * sizeof(float));
}

// 1 where any bit of the point differs.
static void take_difference(const uint8_t *frame, const uint8_t *other, size_t count, float *values) {
  for (size_t i = 0; i < count; i++)
    values[i] = memcmp(frame + i * FRAGMENT_TEXEL_BYTES, other + i * FRAGMENT_TEXEL_BYTES, FRAGMENT_TEXEL_BYTES) == 0 ? 0.0f : 1.0f;
}

// "color": three floats of a fragment; "depth" and "difference": one.
bool shader_dump(const DumpWish *wish, const RunOptions *options, const uint8_t *frame, const uint8_t *other, Diags *diags) {
  uint32_t width, height, channels = strcmp(wish->name, "color") == 0 ? 3 : 1;
  shader_domain(options, &width, &height);
  size_t count = (size_t)width * height;
  float *values = malloc(count * channels * sizeof(float));
  ASSERT(values != NULL);
  if (strcmp(wish->name, "difference") == 0) take_difference(frame, other, count, values);
  else take_channels(frame, count, channels, values);
  Text out = {0};
  bool is_picture = wish->file != NULL && strlen(wish->file) > 4 && strcmp(wish->file + strlen(wish->file) - 4, ".png") == 0;
  bool good = true;
  if (is_picture) good = png_write(values, channels, width, height, &out, diags);
  else if (wish->file != NULL) text_add_bytes(&out, (const char *)values, count * channels * sizeof(float));
  for (size_t i = 0; wish->file == NULL && i < count * channels; i++) text_add(&out, "%s[%zu] = %.9g\n", wish->name, i, (double)values[i]);
  free(values);
  good = good && out_text(&options->files, wish->file, &out, diags);
  text_free(&out);
  return good;
}

bool shader_dumps_known(const RunOptions *options, Diags *diags) {
  for (uint32_t i = 0; i < options->dumps.count; i++) {
    const char *name = options->dumps.items[i].name;
    if (strcmp(name, "difference") == 0) {
      if (options->faults.count > 0) continue;
      return diags_add(diags, NULL, 0, 0, "--dump difference needs --fault: it shows where the frame is wrong");
    }
    if (strcmp(name, "color") != 0 && strcmp(name, "depth") != 0)
      return diags_add(diags, NULL, 0, 0, "--dump %s: a fragment program has color and depth, and with --fault difference", name);
  }
  return true;
}

// ---- The launch --------------------------------------------------------------------------------------------------------------

bool shader_check_target(const RunOptions *options, const char *command) {
  const char *wrong = NULL;
  if (machine_form(&options->spec) != FORM_SHADER) wrong = "fragment programs need --machine sheaffer-2007";
  else if (options->dump_program) wrong = "--dump program is for PTX files";
  else if (options->size_given) wrong = "--size and --param are for workloads; parameters of a fragment program are given by --value";
  else if (options->ptx_given) wrong = "--kernel, --grid, --block, --shared, --cooperative and --arg are for PTX files";
  else if (options->outputs.count > 0) wrong = "--output is for CUDA programs";
  if (wrong != NULL) message_usage(command, "%s", wrong);
  return wrong == NULL;
}

// With --upsets: is the frame that of a run without? It has no protection either.
static bool is_right(Run *run, const ShaderCall *got, const uint8_t *frame, Diags *diags) {
  SourceText source;
  ShaderCall call;
  const RunOptions *options = run->options;
  if (!shader_text(options->target, run->arena, &source, diags) || !shader_call_parse(&call, options, run->arena, diags)) return false;
  Program *program = shader_call_compile(options, &source, diags);
  DeviceOptions plain = {.spec = &options->spec, .address_bits = program == NULL ? 0 : program->address_bits};
  Device *device = program == NULL ? NULL : device_new(&plain, diags);
  if (device == NULL) return false;
  call.twice = TWICE_NOT;
  call.request.module = device_load_program(device, program, diags);
  uint64_t bytes = (uint64_t)call.width * call.height * FRAGMENT_TEXEL_BYTES;
  const uint8_t *right = NULL;
  if (call.request.module != NULL && shader_call_place(&call, device) && shader_call_run(&call, device))
    right = memory_at(device_memory(device), call.frame, bytes);
  bool same = right != NULL && got->width == call.width && memcmp(frame, right, bytes) == 0;
  device_free(device);
  return same;
}

// What --twice found, and how long two boards take, which the table adds up.
static void say_twice(const Run *run, const ShaderCall *call, Device *device) {
  bool quiet = run->options->files.quiet;
  uint64_t longest = 0;
  if (call->twice == TWICE_NOT) return;
  if (!call->differed) message_note(quiet, "--twice: both frames are equal");
  else
    message_note(quiet, call->gave_up ? "--twice: the frames differ, and no two of three are equal"
                                      : "--twice: the frames differ; two of three are equal, and are taken");
  for (uint32_t i = 0; i < 2 && i < device_launch_count(device); i++)
    longest = max_u64(longest, device_launch_record(device, i)->stats.value[STAT_CYCLES]);
  if (call->twice == TWICE_BOARDS)
    message_note(quiet,
                 "--twice boards: two boards work at the same time, so the two runs take %" PRIu64
                 " cycles together; the total adds them up, and energies too",
                 longest);
}

static int launch(Run *run, ShaderCall *call, Device *device, Diags *diags) {
  const RunOptions *options = run->options;
  bool done = shader_call_place(call, device) && shader_call_run(call, device);
  run_clear_progress(run);
  if (!done && device_trap(device)->kind == TRAP_NONE) return run_device_failed(run, device);
  say_twice(run, call, device);
  const uint8_t *frame = memory_at(device_memory(device), call->frame, (uint64_t)call->width * call->height * FRAGMENT_TEXEL_BYTES);
  ASSERT(frame != NULL); // it was allocated here
  for (uint32_t i = 0; i < options->dumps.count; i++) {
    if (!shader_dump(&options->dumps.items[i], options, frame, NULL, diags)) return message_diags(diags);
  }
  if (!done) return run_device_failed(run, device);
  if (options->upsets == NULL) return EXIT_OK;
  run->result.check = is_right(run, call, frame, diags) ? CHECK_PASSED : CHECK_FAILED;
  return run->result.check == CHECK_PASSED ? EXIT_OK : EXIT_CHECK_FAILED;
}

int run_shader(Run *run) {
  Diags diags = {0};
  ShaderCall call;
  SourceText source;
  Program *program =
      shader_text(run->options->target, run->arena, &source, &diags) ? shader_call_compile(run->options, &source, &diags) : NULL;
  bool good = program != NULL && shader_dumps_known(run->options, &diags) && shader_call_parse(&call, run->options, run->arena, &diags);
  if (!good) {
    if (program != NULL) program_free(program);
    return message_diags(&diags);
  }
  Device *device = run_device(run, program->address_bits);
  if (device == NULL) return program_free(program), EXIT_BAD_INPUT;
  call.request.module = device_load_program(device, program, &diags);
  int code = call.request.module == NULL ? message_diags(&diags) : launch(run, &call, device, &diags);
  return run_finish(run, device) || code != EXIT_OK ? code : EXIT_BAD_INPUT;
}
