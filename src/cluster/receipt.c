// Results of tasks: copied whole, renamed, and signed for. The receipt comes last: who finds it finds the result, or knows that it was damaged.
#include "cluster/cluster.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Files that appear whole ----------------------------------------------------------------------------------------

static bool write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

// In the goal's folder, so that renaming is one step on any file system.
static bool publish(const char *path, const char *bytes, size_t count, Diags *diags) {
  Text part = {0};
  text_add(&part, "%s.XXXXXX", path);
  int file = mkstemp(part.at);
  bool good = file >= 0 && write_all(file, bytes, count) && fchmod(file, 0644) == 0 && fsync(file) == 0;
  if (file >= 0) good = close(file) == 0 && good;
  good = good && rename(part.at, path) == 0;
  if (!good) diags_add(diags, path, 0, 0, "cannot be written: %s", strerror(errno));
  if (!good && file >= 0) unlink(part.at);
  text_free(&part);
  return good;
}

bool text_publish(const char *path, const Text *text, Diags *diags) { return publish(path, text->at, text->length, diags); }

bool result_publish(const char *from, const char *to, Receipt *receipt, Diags *diags) {
  Arena *arena = arena_new();
  char *bytes;
  size_t count;
  bool good = file_read(arena, from, &bytes, &count, diags);
  if (good) receipt->bytes = count;
  if (good) receipt->hash = hash_bytes(bytes, count, 0);
  good = good && publish(to, bytes, count, diags);
  arena_free(arena);
  return good;
}

// ---- Receipts ---------------------------------------------------------------------------------------------------------

bool receipt_write(const char *path, const Receipt *receipt, Diags *diags) {
  char hash[24];
  json_t *root = json_object(), *structures = json_object();
  sprintf(hash, "%016" PRIx64, receipt->hash);
  json_object_set_new(root, "bytes", json_integer((json_int_t)receipt->bytes));
  json_object_set_new(root, "xxh3", json_string(hash));
  json_object_set_new(root, "faults", json_integer((json_int_t)receipt->faults));
  json_object_set_new(root, "seconds", json_real(receipt->seconds));
  json_object_set_new(root, "host", json_string(receipt->host));
  for (uint32_t i = 0; i < receipt->structures.count; i++) {
    json_t *counts = json_object();
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
      uint64_t count = receipt->structures.items[i].counts[k];
      if (count > 0) json_object_set_new(counts, outcome_info[k].name, json_integer((json_int_t)count));
    }
    json_object_set_new(structures, receipt->structures.items[i].name, counts);
  }
  json_object_set_new(root, "structures", structures);
  char *text = json_dumps(root, JSON_COMPACT);
  json_decref(root);
  bool good = text != NULL && publish(path, text, strlen(text), diags);
  free(text);
  return good;
}

static void read_structures(const json_t *object, Arena *arena, Receipt *receipt) {
  const char *name;
  json_t *counts;
  json_object_foreach((json_t *)(uintptr_t)object, name, counts) {
    ReceiptStructure *structure = VEC_PUSH(&receipt->structures, arena);
    structure->name = arena_copy_text(arena, name, strlen(name));
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++)
      structure->counts[k] = (uint64_t)json_integer_value(json_object_get(counts, outcome_info[k].name));
  }
}

bool receipt_read(const char *path, Arena *arena, Receipt *receipt) {
  *receipt = (Receipt){.host = ""};
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  const char *hash = json_string_value(json_object_get(root, "xxh3")), *host = json_string_value(json_object_get(root, "host"));
  bool good = hash != NULL && json_is_integer(json_object_get(root, "bytes"));
  if (good) {
    receipt->bytes = (uint64_t)json_integer_value(json_object_get(root, "bytes"));
    receipt->hash = strtoull(hash, NULL, 16);
    receipt->faults = (uint64_t)json_integer_value(json_object_get(root, "faults"));
    receipt->seconds = json_number_value(json_object_get(root, "seconds"));
    if (host != NULL) receipt->host = arena_copy_text(arena, host, strlen(host));
    read_structures(json_object_get(root, "structures"), arena, receipt);
  }
  json_decref(root);
  return good;
}

static uint32_t outcome_named(const char *name) {
  uint32_t outcome = 0;
  while (outcome + 1 < OUTCOME_COUNT && strcmp(outcome_info[outcome].name, name) != 0) outcome++;
  return outcome;
}

bool receipt_count(Receipt *receipt, const char *path, Arena *arena, Diags *diags) {
  Journal *journal = journal_read(path, diags);
  if (journal == NULL) return false;
  Query *query = journal_query(journal, "SELECT structure, outcome, count(*) FROM results GROUP BY structure, outcome ORDER BY 1");
  while (query_next(query)) {
    const char *name = query_cell(query, 0).text;
    uint32_t count = receipt->structures.count;
    ReceiptStructure *last = count > 0 ? &receipt->structures.items[count - 1] : NULL;
    if (last == NULL || strcmp(last->name, name) != 0) {
      last = VEC_PUSH(&receipt->structures, arena);
      last->name = arena_copy_text(arena, name, strlen(name));
    }
    uint64_t faults = (uint64_t)query_cell(query, 2).integer;
    last->counts[outcome_named(query_cell(query, 1).text)] += faults;
    receipt->faults += faults;
  }
  bool good = query_end(query) || journal_damaged(journal, diags);
  journal_close(journal);
  return good;
}

// ---- Looked at ----------------------------------------------------------------------------------------------------------

static bool is_whole(const char *path, const Receipt *receipt, bool thorough) {
  struct stat about;
  if (stat(path, &about) != 0 || (uint64_t)about.st_size != receipt->bytes) return false;
  if (!thorough) return true;
  Arena *arena = arena_new();
  Diags ignored = {0};
  char *bytes;
  size_t count;
  bool good = file_read(arena, path, &bytes, &count, &ignored) && hash_bytes(bytes, count, 0) == receipt->hash;
  diags_free(&ignored);
  arena_free(arena);
  return good;
}

ResultState result_state(const ClusterPlan *plan, uint32_t task, bool thorough, Arena *arena, Receipt *receipt) {
  const char *path = cluster_task_file(plan, task);
  if (!receipt_read(cluster_task_receipt(plan, task), arena, receipt)) return RESULT_MISSING;
  return is_whole(path, receipt, thorough) ? RESULT_GOOD : RESULT_DAMAGED;
}
