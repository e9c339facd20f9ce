// Machines of the library: what is described by a machine file, and errors.
#include "lib/lib_internal.h"

#include "protect/protect.h"

#include <stdio.h>

// ---- Errors ----------------------------------------------------------------------------------------

void lib_begin(RedoubtError *error) {
  if (error != NULL) error->text[0] = '\0';
}

bool lib_fail_text(RedoubtError *error, const char *format, ...) {
  if (error == NULL) return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  return false;
}

bool lib_given(const void *pointer, const char *name, RedoubtError *error) {
  return pointer != NULL || lib_fail_text(error, "%s is NULL", name);
}

// The first diagnostic: the others often follow from it.
bool lib_fail(RedoubtError *error, Diags *diags) {
  Text text = {0};
  if (diags->count > 0) diag_format(&diags->items[0], &text);
  if (text.length > 0 && text.at[text.length - 1] == '\n') text.at[text.length - 1] = '\0';
  lib_fail_text(error, "%s", text.length > 0 ? text.at : "failed");
  text_free(&text);
  diags_free(diags);
  return false;
}

// ---- Machines --------------------------------------------------------------------------------------

const char *redoubt_version(void) { return REDOUBT_VERSION; }

RedoubtMachine *redoubt_machine_open(const char *name_or_file, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(name_or_file, "name_or_file", error)) return NULL;
  Arena *arena = arena_new();
  Diags diags = {0};
  RedoubtMachine *machine = ARENA_NEW(arena, RedoubtMachine);
  machine->arena = arena;
  if (!spec_load(&machine->spec, arena, name_or_file, &diags)) {
    lib_fail(error, &diags);
    arena_free(arena);
    return NULL;
  }
  diags_free(&diags);
  return machine;
}

void redoubt_machine_close(RedoubtMachine *machine) {
  if (machine != NULL) arena_free(machine->arena);
}

bool redoubt_machine_set(RedoubtMachine *machine, const char *key, const char *value, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(machine, "machine", error) || !lib_given(key, "key", error) || !lib_given(value, "value", error)) return false;
  Diags diags = {0};
  Spec changed = machine->spec;
  if (!spec_set(&changed, key, value, NULL, 0, &diags)) return lib_fail(error, &diags);
  machine->spec = changed;
  machine->structures = NULL;
  return true;
}

bool redoubt_machine_protect(RedoubtMachine *machine, const char *scheme, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(machine, "machine", error) || !lib_given(scheme, "scheme", error)) return false;
  Diags diags = {0};
  Arena *scratch = arena_new();
  Hook *hook = protect_new(scheme, scratch, &diags);
  arena_free(scratch);
  if (hook == NULL) return lib_fail(error, &diags);
  const char *before = machine->protections;
  machine->protections =
      before == NULL ? arena_copy_text(machine->arena, scheme, strlen(scheme)) : arena_format(machine->arena, "%s %s", before, scheme);
  machine->structures = NULL;
  return true;
}

static void copy_structures(RedoubtMachine *machine, const RegionTable *regions) {
  machine->structures = ARENA_ARRAY(machine->arena, RedoubtStructure, regions->count + 1);
  machine->structure_count = 0;
  for (uint32_t i = 0; i < regions->count; i++) {
    const Region *region = &regions->items[i];
    if ((region->flags & REGION_INJECTABLE) == 0) continue;
    machine->structures[machine->structure_count++] = (RedoubtStructure){
        .name = arena_copy_text(machine->arena, region->name, strlen(region->name)),
        .title = arena_copy_text(machine->arena, region->title, strlen(region->title)),
        .meaning = arena_copy_text(machine->arena, region->meaning, strlen(region->meaning)),
        .bits = region_bits(region),
        .can_be_protected = region_can_carry_ecc(region),
    };
  }
}

const RedoubtStructure *redoubt_machine_structures(RedoubtMachine *machine, uint32_t *count, RedoubtError *error) {
  lib_begin(error);
  if (!lib_given(machine, "machine", error) || !lib_given(count, "count", error)) return NULL;
  *count = 0;
  if (machine->structures == NULL) {
    Diags diags = {0};
    Attachments attachments;
    AttachmentWishes wishes = {.protections = machine->protections};
    if (!machine_can(&machine->spec, MACHINE_HAS_TIME))
      return lib_fail_text(error, "machine '%s' has no time, and so no structures", machine->spec.machine), NULL;
    if (!attachments_open(&attachments, &wishes, &diags)) return lib_fail(error, &diags), NULL;
    Machine *made = machine_new(&machine->spec, &attachments.chain, &diags);
    if (made != NULL) copy_structures(machine, machine_regions(made));
    if (made != NULL) machine_free(made);
    else lib_fail(error, &diags);
    attachments_close(&attachments, &diags);
    diags_free(&diags);
  }
  *count = machine->structures == NULL ? 0 : machine->structure_count;
  return machine->structures;
}

const char *redoubt_builtin_machine(uint32_t index) { return index < builtin_machine_count ? builtin_machines[index].name : NULL; }
const char *redoubt_builtin_workload(uint32_t index) { return index < workload_count ? workloads[index]->name : NULL; }
