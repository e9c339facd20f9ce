// Fat binaries: a 16-byte header, then entries (64-byte header or longer, payload). Little endian.
// Payload sizes and offsets come from the file, so each is checked before use.
#include "cudart/fatbin.h"

#include <inttypes.h>
#include <limits.h>
#include <lz4.h>
#include <zstd.h>

enum { FAT_MAGIC = 0xBA55ED50, FAT_HEADER = 16, ENTRY_HEADER = 64, KIND_PTX = 1, KIND_ELF = 2 };
#define FLAG_LZ4 UINT64_C(0x2000)
#define FLAG_ZSTD UINT64_C(0x8000)
#define MOST_TEXT (UINT64_C(1) << 28) // of PTX: a hundred times what real programs have
#define MOST_LZ4_RATIO UINT64_C(255)  // what the format can express

static uint64_t read_field(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  memcpy(&value, at, bytes);
  return value;
}

static bool parse_entry(const uint8_t *at, uint64_t room, Arena *arena, FatBinary *fat, uint64_t *used, Diags *diags) {
  if (room < ENTRY_HEADER) return diags_add(diags, NULL, 0, 0, "an entry is cut off");
  uint64_t kind = read_field(at, 2), header = read_field(at + 4, 4), size = read_field(at + 8, 8);
  if (header < ENTRY_HEADER || header > room || size > room - header) {
    return diags_add(diags, NULL, 0, 0, "an entry of %" PRIu64 " + %" PRIu64 " bytes, %" PRIu64 " are left", header, size, room);
  }
  *used = header + size;
  if (kind != KIND_PTX && kind != KIND_ELF) return true;
  FatEntry *entry = VEC_PUSH(fat, arena);
  entry->is_ptx = kind == KIND_PTX;
  entry->compressed_bytes = read_field(at + 16, 4);
  entry->arch = (uint32_t)read_field(at + 28, 4);
  entry->flags = read_field(at + 40, 8);
  entry->text_bytes = read_field(at + 56, 8);
  entry->bytes = at + header;
  entry->stored_bytes = size;
  return true;
}

bool fatbin_parse(const void *data, size_t limit, Arena *arena, FatBinary *fat, Diags *diags) {
  const uint8_t *at = data;
  if (limit < FAT_HEADER || read_field(at, 4) != FAT_MAGIC) return diags_add(diags, NULL, 0, 0, "it does not begin as fat binaries do");
  uint64_t header = read_field(at + 6, 2), size = read_field(at + 8, 8);
  if (header < FAT_HEADER || header > limit || size > limit - header)
    return diags_add(diags, NULL, 0, 0, "it says that it has %" PRIu64 " + %" PRIu64 " bytes, %zu can be read", header, size, limit);
  at += header;
  while (size >= ENTRY_HEADER) {
    uint64_t used = 0;
    if (!parse_entry(at, size, arena, fat, &used, diags)) return false;
    at += used;
    size -= used;
  }
  return true;
}

static bool decompress_zstd(const FatEntry *entry, char *text, uint64_t bytes, Diags *diags) {
  size_t got = ZSTD_decompress(text, bytes, entry->bytes, entry->compressed_bytes);
  if (!ZSTD_isError(got) && got == bytes) return true;
  return diags_add(diags, NULL, 0, 0, "PTX does not decompress (zstd: %s)", ZSTD_isError(got) ? ZSTD_getErrorName(got) : "wrong size");
}

static bool decompress_lz4(const FatEntry *entry, char *text, uint64_t bytes, Diags *diags) {
  int got = LZ4_decompress_safe((const char *)entry->bytes, text, (int)entry->compressed_bytes, (int)bytes);
  return (got >= 0 && (uint64_t)got == bytes) || diags_add(diags, NULL, 0, 0, "PTX does not decompress (LZ4)");
}

// The sizes that an entry states, before memory is taken for them.
static bool check_sizes(const FatEntry *entry, uint64_t bytes, Diags *diags) {
  if (bytes > MOST_TEXT) return diags_add(diags, NULL, 0, 0, "PTX of %" PRIu64 " bytes: at most %" PRIu64, bytes, MOST_TEXT);
  if (entry->compressed_bytes == 0) return true;
  if (entry->compressed_bytes > entry->stored_bytes || entry->compressed_bytes > INT_MAX)
    return diags_add(diags, NULL, 0, 0, "compressed PTX of %" PRIu64 " bytes in an entry of %" PRIu64, entry->compressed_bytes,
                     entry->stored_bytes);
  bool zstd = (entry->flags & FLAG_ZSTD) != 0;
  uint64_t said = zstd ? ZSTD_getFrameContentSize(entry->bytes, entry->compressed_bytes) : bytes;
  bool known = said != ZSTD_CONTENTSIZE_UNKNOWN; // an error is a number too, larger than any text
  bool good = zstd ? !known || said == bytes : bytes / MOST_LZ4_RATIO <= entry->compressed_bytes;
  return good || diags_add(diags, NULL, 0, 0, "%" PRIu64 " bytes cannot be PTX of %" PRIu64, entry->compressed_bytes, bytes);
}

uint8_t *fatbin_bytes(const FatEntry *entry, Arena *arena, size_t *length, Diags *diags) {
  bool compressed = entry->compressed_bytes != 0;
  uint64_t bytes = compressed ? entry->text_bytes : entry->stored_bytes;
  if (!check_sizes(entry, bytes, diags)) return NULL;
  char *text = arena_alloc(arena, bytes + 1);
  if (!compressed) {
    memcpy(text, entry->bytes, bytes);
  } else if (!(entry->flags & FLAG_ZSTD ? decompress_zstd : decompress_lz4)(entry, text, bytes, diags)) {
    return NULL;
  }
  *length = bytes;
  return (uint8_t *)text;
}

char *fatbin_text(const FatEntry *entry, Arena *arena, size_t *length, Diags *diags) {
  char *text = (char *)fatbin_bytes(entry, arena, length, diags);
  if (text != NULL) *length = strnlen(text, *length);
  return text;
}
