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

// What is being written: in the goal's folder, so that renaming is one step on any file system.
typedef struct Part {
  const char *goal;
  Text path;
  int file;
} Part;

static bool part_open(Part *part, const char *goal) {
  *part = (Part){.goal = goal};
  text_add(&part->path, "%s.XXXXXX", goal);
  part->file = mkstemp(part->path.at);
  return part->file >= 0;
}

// On disk before it has its name. `good` false: throws it away.
static bool part_close(Part *part, bool good, Diags *diags) {
  good = good && fchmod(part->file, 0644) == 0 && fsync(part->file) == 0;
  if (part->file >= 0) good = close(part->file) == 0 && good;
  good = good && rename(part->path.at, part->goal) == 0;
  if (!good) diags_add(diags, part->goal, 0, 0, "cannot be written: %s", strerror(errno));
  if (!good && part->file >= 0) unlink(part->path.at);
  text_free(&part->path);
  return good;
}

static bool publish(const char *path, const char *bytes, size_t count, Diags *diags) {
  Part part;
  bool good = part_open(&part, path) && write_all(part.file, bytes, count);
  return part_close(&part, good, diags);
}

bool text_publish(const char *path, const Text *text, Diags *diags) { return publish(path, text->at, text->length, diags); }

// A piece at a time, since a merged journal may be larger than memory. Each piece is hashed with the hash of those before it; `into` below 0: only that.
static bool walk(const char *path, int into, Receipt *receipt) {
  enum { PIECE = 1 << 20 };
  char *bytes = malloc(PIECE);
  ASSERT(bytes != NULL);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool good = file >= 0;
  ssize_t count = 0;
  receipt->bytes = receipt->hash = 0;
  while (good && (count = pread(file, bytes, PIECE, (off_t)receipt->bytes)) > 0) {
    // A short read would cut pieces elsewhere.
    for (ssize_t more = 1; count < PIECE && more > 0; count += more) {
      more = pread(file, bytes + count, (size_t)(PIECE - count), (off_t)receipt->bytes + count);
      if (more < 0) good = false, more = 0;
    }
    receipt->hash = hash_bytes(bytes, (size_t)count, receipt->hash);
    receipt->bytes += (uint64_t)count;
    good = good && (into < 0 || write_all(into, bytes, (size_t)count));
  }
  if (file >= 0) close(file);
  free(bytes);
  return good && count == 0;
}

bool result_publish(const char *from, const char *to, Receipt *receipt, Diags *diags) {
  Part part;
  bool good = part_open(&part, to) && walk(from, part.file, receipt);
  return part_close(&part, good, diags);
}

// ---- Receipts ---------------------------------------------------------------------------------------------------------

void receipt_name(Receipt *receipt, const ClusterPlan *plan, uint32_t task) {
  receipt->is_named = true;
  receipt->plan = plan->identity;
  receipt->task = task;
  receipt->first = plan->tasks.items[task].first;
  receipt->end = plan->tasks.items[task].end;
}

static void add_name(json_t *root, const Receipt *receipt) {
  char plan[24];
  sprintf(plan, "%016" PRIx64, receipt->plan);
  json_object_set_new(root, "plan", json_string(plan));
  json_object_set_new(root, "task", json_integer((json_int_t)receipt->task));
  json_object_set_new(root, "first", json_integer((json_int_t)receipt->first));
  json_object_set_new(root, "end", json_integer((json_int_t)receipt->end));
}

bool receipt_write(const char *path, const Receipt *receipt, Diags *diags) {
  char hash[24];
  json_t *root = json_object(), *structures = json_object();
  sprintf(hash, "%016" PRIx64, receipt->hash);
  if (receipt->is_named) add_name(root, receipt);
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
    double undrawn = receipt->structures.items[i].undrawn;
    if (undrawn > 0) json_object_set_new(counts, "undrawn", json_real(undrawn));
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
    structure->undrawn = json_number_value(json_object_get(counts, "undrawn"));
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++)
      structure->counts[k] = (uint64_t)json_integer_value(json_object_get(counts, outcome_info[k].name));
  }
}

static void read_name(const json_t *root, Receipt *receipt) {
  const char *plan = json_string_value(json_object_get(root, "plan"));
  receipt->is_named = plan != NULL;
  if (plan == NULL) return;
  receipt->plan = strtoull(plan, NULL, 16);
  receipt->task = (uint64_t)json_integer_value(json_object_get(root, "task"));
  receipt->first = (uint64_t)json_integer_value(json_object_get(root, "first"));
  receipt->end = (uint64_t)json_integer_value(json_object_get(root, "end"));
}

bool receipt_read(const char *path, Arena *arena, Receipt *receipt) {
  *receipt = (Receipt){.host = ""};
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  const char *hash = json_string_value(json_object_get(root, "xxh3")), *host = json_string_value(json_object_get(root, "host"));
  bool good = hash != NULL && json_is_integer(json_object_get(root, "bytes"));
  if (good) {
    read_name(root, receipt);
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
  Query *query =
      journal_query(journal, "SELECT structure, outcome, count(*), max(drawn) FROM results GROUP BY structure, outcome ORDER BY 1");
  while (query_next(query)) {
    const char *name = query_cell(query, 0).text;
    uint32_t count = receipt->structures.count;
    ReceiptStructure *last = count > 0 ? &receipt->structures.items[count - 1] : NULL;
    if (last == NULL || strcmp(last->name, name) != 0) {
      last = VEC_PUSH(&receipt->structures, arena);
      last->name = arena_copy_text(arena, name, strlen(name));
    }
    uint64_t faults = (uint64_t)query_cell(query, 2).integer;
    last->undrawn = 1 - query_cell(query, 3).real;
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
  Receipt found;
  if (stat(path, &about) != 0 || (uint64_t)about.st_size != receipt->bytes) return false;
  return !thorough || (walk(path, -1, &found) && found.bytes == receipt->bytes && found.hash == receipt->hash);
}

static bool is_of_task(const Receipt *receipt, const ClusterPlan *plan, uint32_t task) {
  Receipt wanted = {0};
  receipt_name(&wanted, plan, task);
  return !receipt->is_named ||
         (receipt->plan == wanted.plan && receipt->task == wanted.task && receipt->first == wanted.first && receipt->end == wanted.end);
}

ResultState result_state(const ClusterPlan *plan, uint32_t task, bool thorough, Arena *arena, Receipt *receipt) {
  const char *path = cluster_task_file(plan, task);
  if (!receipt_read(cluster_task_receipt(plan, task), arena, receipt)) return RESULT_MISSING;
  if (!is_of_task(receipt, plan, task)) return RESULT_OTHER;
  return is_whole(path, receipt, thorough) ? RESULT_GOOD : RESULT_DAMAGED;
}
