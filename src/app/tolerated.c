// Results of CUDA programs that may be off by a tolerance: files that it writes, and copies from the device, which have no names but their numbers.
// The bytes of such a copy in the first run without faults go into a file; later runs are held against it, piece by piece.
#include "app/app_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// ---- The campaign's side ---------------------------------------------------------------------------

// "copy3": 3; 0: it is no copy.
static uint64_t copy_number(const char *name) {
  char *end;
  if (strncmp(name, "copy", 4) != 0 || name[4] < '1' || name[4] > '9') return 0;
  uint64_t number = strtoull(name + 4, &end, 10);
  return *end == '\0' ? number : 0;
}

static bool is_output_file(const AppTarget *own, const char *name) {
  bool is = false;
  for (uint32_t i = 0; i < own->choice.output_count; i++) is |= strcmp(own->choice.outputs[i], name) == 0;
  return is;
}

bool app_tolerates(AppTarget *own, Diags *diags) {
  const OutputTolerances *asked = own->choice.tolerances;
  own->tolerances.right = -1;
  for (uint32_t i = 0; asked != NULL && i < asked->count; i++) {
    const OutputTolerance *at = &asked->items[i];
    if (!at->has_type)
      return diags_add(diags, NULL, 0, 0, "--tolerance %s: results of CUDA programs have no type: write %s:f32:...", at->name, at->name);
    if (is_output_file(own, at->name)) continue;
    uint64_t copy = copy_number(at->name);
    if (copy == 0)
      return diags_add(diags, NULL, 0, 0,
                       "--tolerance %s: there is no --output of that name, and a copy from the device is copy1, copy2, ...", at->name);
    own->tolerances.items[own->tolerances.count++] = (AppTolerated){.copy = copy, .tolerance = *at};
  }
  if (own->tolerances.count == 0) return true;
  own->tolerances.right = app_temporary(own->choice.temporary);
  return own->tolerances.right >= 0 || diags_add(diags, NULL, 0, 0, "no temporary file for the results without faults");
}

bool app_tolerances_fit(const AppTarget *own, Diags *diags) {
  for (uint32_t i = 0; i < own->tolerances.count; i++) {
    const AppTolerated *at = &own->tolerances.items[i];
    const char *name = at->tolerance.name;
    if (at->copy > own->copies.count)
      return diags_add(diags, NULL, 0, 0, "--tolerance %s: the program copies from the device %" PRIu64 " times", name, own->copies.count);
    if (at->bytes % element_bytes(at->tolerance.type) != 0)
      return diags_add(diags, NULL, 0, 0, "--tolerance %s: its %" PRIu64 " bytes are no whole number of %s", name, at->bytes,
                       element_names[at->tolerance.type]);
  }
  return true;
}

enum { PIECE = 4096 }; // a multiple of every element

static bool accepts_files(const OutputTolerance *tolerance, FILE *right, FILE *now) {
  uint8_t a[PIECE], b[PIECE];
  bool good = true;
  for (size_t count = PIECE; good && count == PIECE;) {
    count = fread(a, 1, PIECE, right);
    good = fread(b, 1, PIECE, now) == count && tolerance_accepts(tolerance, a, b, count);
  }
  return good;
}

bool app_tolerates_file(const AppTarget *own, uint32_t file) {
  const OutputTolerance *tolerance =
      own->choice.tolerances == NULL ? NULL : tolerance_of(own->choice.tolerances, own->choice.outputs[file]);
  char path[APP_FILE_PATH];
  if (tolerance == NULL || !own->has_golden || own->golden_files[file] < 0) return false;
  FILE *right = fopen(app_file_path(getpid(), own->golden_files[file], path), "rb"), *now = fopen(own->outputs[file], "rb");
  bool good = right != NULL && now != NULL && accepts_files(tolerance, right, now);
  if (right != NULL) fclose(right);
  if (now != NULL) fclose(now);
  return good;
}

// ---- The library's side ----------------------------------------------------------------------------

static AppTolerated *tolerated_copy(AppTolerances *tolerances, uint64_t number) {
  for (uint32_t i = 0; i < tolerances->count; i++) {
    if (tolerances->items[i].copy == number) return &tolerances->items[i];
  }
  return NULL;
}

// Of the first run without faults: it says what is right.
static void keep_piece(AppTolerances *tolerances, AppTolerated *tolerated, const char *path, const void *bytes, uint64_t count) {
  FILE *file = fopen(path, "ab");
  if (file == NULL) return;
  if (tolerated->bytes == 0) {
    tolerated->at = 0;
    for (uint32_t i = 0; i < tolerances->count; i++) tolerated->at += &tolerances->items[i] == tolerated ? 0 : tolerances->items[i].bytes;
  }
  tolerated->bytes += fwrite(bytes, 1, count, file);
  fclose(file);
}

static uint8_t *right_piece(const AppTolerated *tolerated, const char *path, uint64_t at, uint64_t count) {
  uint8_t *right = at + count > tolerated->bytes ? NULL : malloc(count + 1);
  FILE *file = right == NULL ? NULL : fopen(path, "rb");
  bool good = file != NULL && fseeko(file, (off_t)(tolerated->at + at), SEEK_SET) == 0 && fread(right, 1, count, file) == count;
  if (file != NULL) fclose(file);
  if (!good) free(right);
  return good ? right : NULL;
}

uint64_t app_judged_piece(AppExchange *exchange, uint64_t number, uint64_t at, const void *bytes, uint64_t count, uint64_t hash) {
  AppTolerances *tolerances = &exchange->tolerances;
  AppTolerated *tolerated = tolerated_copy(tolerances, number);
  char path[APP_FILE_PATH];
  if (tolerated == NULL || tolerances->right < 0) return hash_bytes(bytes, count, hash);
  app_file_path(exchange->campaign, tolerances->right, path);
  if (exchange->mode == APP_GOLDEN && exchange->keeps_right) keep_piece(tolerances, tolerated, path, bytes, count);
  if (exchange->mode == APP_GOLDEN || exchange->mode == APP_TRACE) return hash_bytes(bytes, count, hash);
  uint8_t *right = right_piece(tolerated, path, at, count);
  bool is_good = right != NULL && tolerance_accepts(&tolerated->tolerance, right, bytes, count);
  hash = hash_bytes(is_good ? right : bytes, count, hash);
  free(right);
  return hash;
}
