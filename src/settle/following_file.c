// What following and trials give each other, as a file: of a CUDA program they are in processes of their own (src/app). A file is read by processes of the build that
// has written it. Memory that is kept stays in the file, which is mapped: it may be large, and several processes read it at the same time.
#include "settle/follow.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGNMENT = 8 };

typedef struct FileHead {
  uint32_t kept, unfinished, returned;
} FileHead;

// ---- Writing -----------------------------------------------------------------------------------------

static bool put(FILE *file, const void *bytes, size_t size, size_t count) {
  static const uint8_t nothing[ALIGNMENT] = {0};
  size_t total = size * count, rest = (size_t)align_up(total, ALIGNMENT) - total;
  return (count == 0 || fwrite(bytes, size, count, file) == count) && (rest == 0 || fwrite(nothing, rest, 1, file) == 1);
}

static bool put_words(FILE *file, const WordList *words) { return put(file, words->items, sizeof *words->items, words->count); }

bool following_save(const Following *following, const char *path) {
  FILE *file = fopen(path, "wbe");
  if (file == NULL) return false;
  FileHead head = {following->kept.count, following->unfinished.count, following->returned.count};
  bool good = put(file, &head, sizeof head, 1);
  for (uint32_t i = 0; i < head.kept && good; i++) {
    const LaunchMemory *kept = &following->kept.items[i];
    good = put(file, kept, sizeof *kept, 1) && put(file, kept->after, sizeof *kept->after, kept->words) &&
           put(file, kept->uses, sizeof *kept->uses, kept->words);
  }
  for (uint32_t i = 0; i < head.unfinished && good; i++) {
    const Unfinished *unfinished = &following->unfinished.items[i];
    good = put(file, unfinished, sizeof *unfinished, 1) && put_words(file, &unfinished->words) &&
           put(file, unfinished->open.items, sizeof *unfinished->open.items, unfinished->open.count);
  }
  for (uint32_t i = 0; i < head.returned && good; i++) {
    const Returned *returned = &following->returned.items[i];
    good = put(file, returned, sizeof *returned, 1) && put_words(file, &returned->words);
  }
  return fclose(file) == 0 && good;
}

// ---- Reading -----------------------------------------------------------------------------------------

typedef struct Reading {
  uint8_t *at;
  uint64_t left;
} Reading;

// NULL: the file is not so long.
static void *get(Reading *reading, uint64_t size, uint64_t count) {
  uint64_t bytes = count > reading->left ? UINT64_MAX : align_up(size * count, ALIGNMENT);
  if (bytes > reading->left) return NULL;
  void *got = reading->at;
  reading->at += bytes;
  reading->left -= bytes;
  return got;
}

static bool get_words(Reading *reading, WordList *words) {
  uint32_t count = words->count;
  const Word *items = get(reading, sizeof *items, count);
  *words = (WordList){0};
  for (uint32_t i = 0; items != NULL && i < count; i++) words_add(words, items[i].address, items[i].value);
  return items != NULL;
}

static bool get_kept(Reading *reading, Arena *arena, Following *following) {
  const LaunchMemory *head = get(reading, sizeof *head, 1);
  if (head == NULL) return false;
  LaunchMemory kept = *head;
  kept.after = get(reading, sizeof *kept.after, kept.words);
  kept.uses = get(reading, sizeof *kept.uses, kept.words);
  if (kept.after == NULL || kept.uses == NULL) return false;
  *VEC_PUSH(&following->kept, arena) = kept;
  return true;
}

static bool get_unfinished(Reading *reading, Arena *arena, Following *following) {
  const Unfinished *head = get(reading, sizeof *head, 1);
  if (head == NULL) return false;
  Unfinished *unfinished = VEC_PUSH(&following->unfinished, arena);
  *unfinished = *head;
  unfinished->open = (OpenWordVec){0};
  bool good = get_words(reading, &unfinished->words);
  const OpenWord *open = good ? get(reading, sizeof *open, head->open.count) : NULL;
  for (uint32_t i = 0; open != NULL && i < head->open.count; i++) *VEC_PUSH(&unfinished->open, arena) = open[i];
  return open != NULL;
}

static bool get_returned(Reading *reading, Arena *arena, Following *following) {
  const Returned *head = get(reading, sizeof *head, 1);
  if (head == NULL) return false;
  Returned *returned = VEC_PUSH(&following->returned, arena);
  *returned = *head;
  return get_words(reading, &returned->words);
}

static bool get_all(Reading *reading, Arena *arena, Following *following) {
  const FileHead *head = get(reading, sizeof *head, 1);
  bool good = head != NULL;
  for (uint32_t i = 0; good && i < head->kept; i++) good = get_kept(reading, arena, following);
  for (uint32_t i = 0; good && i < head->unfinished; i++) good = get_unfinished(reading, arena, following);
  for (uint32_t i = 0; good && i < head->returned; i++) good = get_returned(reading, arena, following);
  return good;
}

bool following_load(Following *following, Arena *arena, const char *path) {
  struct stat about;
  ASSERT(following->kept.count == 0 && following->file == NULL);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  void *bytes =
      fstat(file, &about) == 0 && about.st_size > 0 ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  close(file);
  if (bytes == MAP_FAILED) return false;
  following->file = bytes;
  following->file_bytes = (size_t)about.st_size;
  if (get_all(&(Reading){bytes, following->file_bytes}, arena, following)) return true;
  following_free(following);
  following->file = NULL;
  following->unfinished.count = following->returned.count = 0;
  return false;
}
