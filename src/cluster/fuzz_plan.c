// libFuzzer entry: any bytes as the files of a cluster's folder. The first byte says which: the plan, or a task's receipt.
#include "cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/redoubt-fuzz-plan-XXXXXX";

static void remove_folder(void) {
  static const char *const names[] = {"plan.json", "receipt"};
  char path[128];
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

static void leave(const char *name, const uint8_t *data, size_t size) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  ASSERT(file != NULL);
  fwrite(data, 1, size, file);
  ASSERT(fclose(file) == 0);
}

static void read_plan(Arena *arena) {
  Diags diags = {0};
  ClusterPlan *plan = cluster_plan_read(folder, arena, &diags);
  ASSERT((plan == NULL) == (diags.count > 0));
  for (uint32_t i = 0; plan != NULL && i < plan->tasks.count && i < 100; i++) {
    Receipt receipt;
    result_state(plan, i, true, arena, &receipt);
  }
  diags_free(&diags);
}

static void read_receipt(Arena *arena) {
  char path[128];
  snprintf(path, sizeof path, "%s/receipt", folder);
  Receipt receipt;
  if (!receipt_read(path, arena, &receipt)) return;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < receipt.structures.count; i++) sum += receipt.structures.items[i].counts[0];
  ASSERT(sum <= UINT64_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool is_there;
  if (!is_there) {
    is_there = mkdtemp(folder) != NULL;
    ASSERT(is_there);
    atexit(remove_folder);
  }
  if (size == 0) return 0;
  bool is_plan = data[0] % 2 == 0;
  leave(is_plan ? "plan.json" : "receipt", data + 1, size - 1);
  Arena *arena = arena_new();
  if (is_plan) read_plan(arena);
  else read_receipt(arena);
  arena_free(arena);
  return 0;
}
