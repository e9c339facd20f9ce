// The PTX of a CUDA program, as its process finds it in fat binaries: written to a file of the campaign's when it is loaded, read from
// there after the first run.
#include "app/app_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct SourceHead { // before the name, the kernels' names and the text
  uint64_t program;
  uint64_t index, file_bytes, kernel_bytes, text_bytes;
} SourceHead;

// ---- The library's side: without malloc, as the program's addresses should be what they are ------------------------

static bool put_bytes(int file, const void *bytes, size_t count) { return write(file, bytes, count) == (ssize_t)count; }

static bool is_kernel_of(const Function *function, uint32_t source) { return function->is_kernel && function->source == source; }

static bool put_source(int file, const Program *program, const PtxSource *source, uint32_t index) {
  SourceHead head = {.program = program->hash, .index = index, .file_bytes = strlen(source->file), .text_bytes = source->length};
  for (uint32_t i = 0; i < program->function_count; i++)
    head.kernel_bytes += is_kernel_of(&program->functions[i], index) ? strlen(program->functions[i].name) + 1 : 0;
  bool good = put_bytes(file, &head, sizeof head) && put_bytes(file, source->file, head.file_bytes);
  for (uint32_t i = 0; i < program->function_count && good; i++) {
    const Function *function = &program->functions[i];
    if (is_kernel_of(function, index)) good = put_bytes(file, function->name, strlen(function->name)) && put_bytes(file, "\n", 1);
  }
  return good && put_bytes(file, source->text, source->length);
}

void app_sources_write(const AppExchange *exchange, const Program *program, const PtxSource *sources, uint32_t count) {
  char path[APP_FILE_PATH];
  int file = open(app_file_path(exchange->campaign, exchange->sources, path), O_WRONLY | O_APPEND | O_CLOEXEC);
  for (uint32_t i = 0; i < count && file >= 0; i++) {
    struct stat before;
    bool good = fstat(file, &before) == 0 && put_source(file, program, &sources[i], i);
    if (!good && ftruncate(file, before.st_size) != 0) break; // no room: explanations do without
  }
  if (file >= 0) close(file);
}

// ---- The campaign's ------------------------------------------------------------------------------------

static char *take_text(Arena *arena, FILE *file, uint64_t bytes) {
  char *text = arena_alloc(arena, bytes + 1);
  return fread(text, 1, bytes, file) == bytes ? text : NULL;
}

void app_sources_read(Target *target, Arena *arena, int number) {
  char path[APP_FILE_PATH];
  FILE *file = fopen(app_file_path(getpid(), number, path), "rb");
  SourceHead head;
  while (file != NULL && fread(&head, sizeof head, 1, file) == 1) {
    TargetSource source = {.program = head.program, .index = (uint32_t)head.index, .length = head.text_bytes};
    source.file = take_text(arena, file, head.file_bytes);
    source.kernels = take_text(arena, file, head.kernel_bytes);
    source.text = take_text(arena, file, head.text_bytes);
    if (source.file == NULL || source.kernels == NULL || source.text == NULL) break;
    target_add_source(target, arena, &source);
  }
  if (file != NULL) fclose(file);
}
