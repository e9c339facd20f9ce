// Snapshots in files: a head that says what the state belongs to, then block and device memory as one zstd frame with a checksum.
#include "machine/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

enum { VERSION = 1, LEVEL = 1 };

typedef struct Head {
  char magic[8];
  uint64_t version;
  uint64_t layout, spec, program, launch; // hashes
  uint64_t block_bytes;
  uint64_t has_memory;
} Head;
static const char magic[8] = {'R', 'E', 'D', 'O', 'U', 'B', 'T', 'S'};

// ---- Identities ------------------------------------------------------------------------------------
static uint64_t hash_text(const char *text, uint64_t seed) { return hash_bytes(text, strlen(text) + 1, seed); }

static uint64_t hash_region(const Region *region, uint64_t seed) {
  uint64_t hash = hash_text(region->name, seed);
  for (uint32_t i = 0; i < region->dim_count; i++) {
    uint64_t count = region->dims[i].count;
    hash = hash_bytes(&count, sizeof count, hash_text(region->dims[i].name, hash));
  }
  const uint64_t numbers[] = {region->dim_count,  region->flags,      region->rows,       region->units,           region->bits,
                              region->base,       region->row_bytes,  region->unit_bytes, region->owned_by_scheme, region->life,
                              region->group_rows, region->group_bytes};
  return hash_bytes(numbers, sizeof numbers, hash);
}

uint64_t layout_hash(const StateLayout *layout) {
  const uint64_t sizes[] = {layout->regions->block_bytes, layout->regions->count, layout->hashed_count};
  uint64_t hash = hash_bytes(sizes, sizeof sizes, 0);
  for (uint32_t i = 0; i < layout->regions->count; i++) hash = hash_region(&layout->regions->items[i], hash);
  for (uint32_t i = 0; i < layout->hashed_count; i++) {
    const uint64_t range[] = {layout->hashed[i].offset, layout->hashed[i].bytes};
    hash = hash_bytes(range, sizeof range, hash);
  }
  return hash;
}

uint64_t spec_hash(const Spec *spec) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < param_count; i++) {
    uint64_t value = spec_get(spec, i);
    hash = hash_bytes(&value, sizeof value, hash_text(param_info[i].key, hash));
  }
  return hash;
}

uint64_t launch_hash(const Launch *launch) {
  const uint64_t numbers[] = {launch->grid[0],  launch->grid[1], launch->grid[2],     launch->block[0],       launch->block[1],
                              launch->block[2], launch->number,  launch->cooperative, launch->grid_workspace, launch->dynamic_shared_bytes};
  uint64_t hash = hash_bytes(numbers, sizeof numbers, hash_text(launch->kernel->name, 0));
  if (launch->cluster[0] != 0) hash = hash_bytes(launch->cluster, sizeof launch->cluster, hash);
  return launch->kernel->param_bytes == 0 ? hash : hash_bytes(launch->params, launch->kernel->param_bytes, hash);
}

static Head make_head(const Snapshot *snapshot) {
  Head head = {.version = VERSION,
               .layout = layout_hash(snapshot->layout),
               .spec = snapshot->spec,
               .program = snapshot->program,
               .launch = snapshot->launch,
               .block_bytes = snapshot->layout->regions->block_bytes,
               .has_memory = snapshot->memory != NULL};
  memcpy(head.magic, magic, sizeof magic);
  return head;
}

// ---- Streams ---------------------------------------------------------------------------------------
typedef struct Stream {
  FILE *file;
  ZSTD_CStream *compress; // one of the two
  ZSTD_DStream *expand;
  uint8_t *buffer; // compressed bytes
  size_t buffer_bytes;
  ZSTD_inBuffer input; // expand: what of the buffer is still to be expanded
  bool complete;       // expand: the frame's end has been reached and its checksum is right
} Stream;

static bool drain(Stream *stream, ZSTD_inBuffer *input, ZSTD_EndDirective mode) {
  for (;;) {
    ZSTD_outBuffer output = {stream->buffer, stream->buffer_bytes, 0};
    size_t left = ZSTD_compressStream2(stream->compress, &output, input, mode);
    if (ZSTD_isError(left) || fwrite(stream->buffer, 1, output.pos, stream->file) != output.pos) return false;
    bool done = mode == ZSTD_e_end ? left == 0 : input->pos == input->size;
    if (done) return true;
  }
}

static bool put(void *context, void *bytes, size_t count) {
  ZSTD_inBuffer input = {bytes, count, 0};
  return drain(context, &input, ZSTD_e_continue);
}

// Expands once into the output, reading more of the file when needed. False: the frame is damaged or cut short.
static bool expand(Stream *stream, ZSTD_outBuffer *output) {
  if (stream->input.pos == stream->input.size) {
    stream->input = (ZSTD_inBuffer){stream->buffer, fread(stream->buffer, 1, stream->buffer_bytes, stream->file), 0};
    if (stream->input.size == 0) return false;
  }
  size_t left = ZSTD_decompressStream(stream->expand, output, &stream->input);
  stream->complete = left == 0;
  return !ZSTD_isError(left);
}

static bool get(void *context, void *bytes, size_t count) {
  ZSTD_outBuffer output = {bytes, count, 0};
  while (output.pos < count) {
    if (!expand(context, &output)) return false;
  }
  return true;
}

// The frame's end, where its checksum is: nothing more comes out of it, and nothing follows it.
static bool get_end(Stream *stream) {
  uint8_t surplus;
  ZSTD_outBuffer output = {&surplus, 1, 0};
  while (!stream->complete) {
    if (!expand(stream, &output) || output.pos > 0) return false;
  }
  return stream->input.pos == stream->input.size && fgetc(stream->file) == EOF;
}

static void stream_close(Stream *stream) {
  ZSTD_freeCStream(stream->compress);
  ZSTD_freeDStream(stream->expand);
  free(stream->buffer);
  if (stream->file != NULL) fclose(stream->file);
}

// ---- Saving ----------------------------------------------------------------------------------------
static bool write_all(Stream *stream, const Snapshot *snapshot) {
  Head head = make_head(snapshot);
  if (fwrite(&head, sizeof head, 1, stream->file) != 1) return false;
  ZSTD_CCtx_setParameter(stream->compress, ZSTD_c_compressionLevel, LEVEL);
  ZSTD_CCtx_setParameter(stream->compress, ZSTD_c_checksumFlag, 1);
  if (!put(stream, snapshot->block, snapshot->layout->regions->block_bytes)) return false;
  if (snapshot->rest != NULL && !snapshot->rest(snapshot->context, put, stream)) return false;
  if (snapshot->memory != NULL && !memory_save(snapshot->memory, put, stream)) return false;
  ZSTD_inBuffer nothing = {NULL, 0, 0};
  return drain(stream, &nothing, ZSTD_e_end) && fflush(stream->file) == 0;
}

bool snapshot_save(const char *path, const Snapshot *snapshot, Diags *diags) {
  Text partial = {0};
  text_add(&partial, "%s.partial", path);
  Stream stream = {.compress = ZSTD_createCStream(), .buffer_bytes = ZSTD_CStreamOutSize()};
  stream.buffer = malloc(stream.buffer_bytes);
  ASSERT(stream.compress != NULL && stream.buffer != NULL);
  errno = 0;
  stream.file = fopen(partial.at, "wb");
  bool opened = stream.file != NULL, good = opened && write_all(&stream, snapshot);
  int error = errno; // 0: nothing is wrong with the file: it is the memory, which refuses registered host memory
  stream_close(&stream);
  if (good && rename(partial.at, path) != 0) {
    good = false;
    error = errno;
  }
  if (!good) {
    const char *why = error == 0 ? "host memory is registered with the device" : strerror(error);
    diags_add(diags, path, 0, 0, "snapshot cannot be written: %s", why);
    if (opened) unlink(partial.at);
  }
  text_free(&partial);
  return good;
}

// ---- Loading ---------------------------------------------------------------------------------------
static bool check_head(const char *path, const Head *head, const Snapshot *snapshot, Diags *diags) {
  Head own = make_head(snapshot);
  if (memcmp(head->magic, own.magic, sizeof own.magic) != 0) return diags_add(diags, path, 0, 0, "is not a snapshot");
  const struct {
    bool same;
    const char *what;
  } checks[] = {
      {head->version == own.version, "version of Redoubt"},
      {head->program == own.program, "program"},
      {head->spec == own.spec, "machine: its parameters differ"},
      {head->layout == own.layout && head->block_bytes == own.block_bytes && head->has_memory == own.has_memory,
       "layout of the machine's state: structures or protections differ"},
      {head->launch == own.launch, "launch: kernel, sizes, parameters or number differ"},
  };
  for (size_t i = 0; i < COUNT_OF(checks); i++) {
    if (!checks[i].same) return diags_add(diags, path, 0, 0, "the snapshot was made with another %s", checks[i].what);
  }
  return true;
}

static bool read_all(Stream *stream, const char *path, const Snapshot *snapshot, Diags *diags) {
  Head head;
  if (fread(&head, sizeof head, 1, stream->file) != 1) return diags_add(diags, path, 0, 0, "is not a snapshot");
  if (!check_head(path, &head, snapshot, diags)) return false;
  bool good = get(stream, snapshot->block, snapshot->layout->regions->block_bytes);
  good = good && (snapshot->rest == NULL || snapshot->rest(snapshot->context, get, stream));
  good = good && (snapshot->memory == NULL || memory_load(snapshot->memory, get, stream)) && get_end(stream);
  return good ? true : diags_add(diags, path, 0, 0, "the snapshot is damaged, or its device memory has another size");
}

bool snapshot_load(const char *path, const Snapshot *snapshot, Diags *diags) {
  Stream stream = {.file = fopen(path, "rb"), .expand = ZSTD_createDStream(), .buffer_bytes = ZSTD_DStreamInSize()};
  if (stream.file == NULL) diags_add(diags, path, 0, 0, "cannot be opened: %s", strerror(errno));
  stream.buffer = malloc(stream.buffer_bytes);
  ASSERT(stream.expand != NULL && stream.buffer != NULL);
  bool good = stream.file != NULL && read_all(&stream, path, snapshot, diags);
  stream_close(&stream);
  return good;
}
