// Hooks from text; see attachments.h.
#include "device/attachments.h"

#include "observe/observe.h"
#include "protect/protect.h"

#include <errno.h>
#include <stdlib.h>

static void write_trace(void *context, const char *bytes, size_t count) {
  FILE *file = context;
  fwrite(bytes, 1, count, file); // errors stay with the file: attachments_close asks
}

static bool add_protections(Attachments *attachments, const char *text, Diags *diags) {
  static const char separators[] = " \t\n";
  bool ok = true;
  for (text += strspn(text, separators); *text != '\0' && ok; text += strspn(text, separators)) {
    size_t length = strcspn(text, separators);
    Hook *hook = protect_new(arena_copy_text(attachments->arena, text, length), attachments->arena, diags);
    ok = hook != NULL;
    if (ok && attachments->chain.count == MAX_PROTECTIONS)
      ok = diags_add(diags, NULL, 0, 0, "too many protections: a machine takes %d", MAX_PROTECTIONS);
    if (ok) hook_chain_add(&attachments->chain, hook);
    text += length;
  }
  return ok;
}

static bool add_trace(Attachments *attachments, const AttachmentWishes *wishes, Diags *diags) {
  const char *name = wishes->trace_as == NULL ? wishes->trace : wishes->trace_as;
  attachments->path = arena_copy_text(attachments->arena, name, strlen(name));
  attachments->file = fopen(wishes->trace, "w");
  if (attachments->file == NULL) return diags_add(diags, attachments->path, 0, 0, "cannot be written: %s", strerror(errno));
  TraceOptions options = {write_trace, attachments->file, wishes->trace_from, wishes->trace_to, wishes->trace_every};
  if (options.every == 0) options.every = TRACE_EVERY;
  else if (options.every == UINT64_MAX) options.every = 0;
  attachments->trace = trace_new(&options, attachments->arena);
  for (const char *at = wishes->trace_marks; at != NULL && *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
    char *text;
    uint64_t cycle = strtoull(at, &text, 10);
    text += *text == ' ';
    trace_mark(attachments->trace, cycle, arena_copy_text(attachments->arena, text, strcspn(text, "\n")));
  }
  return hook_chain_add(&attachments->chain, attachments->trace);
}

// A protection that may act on a value because of its bits alone, whoever needs it: every read counts then.
static bool all_reads_count(const HookChain *chain) {
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
    if (hook->kind == HOOK_PROTECTION && !hook->passes_values && (hook->read != NULL || hook->result != NULL)) return true;
  }
  return false;
}

static bool add_observer(Attachments *attachments, const AttachmentWishes *wishes, Diags *diags) {
  const char *text = wishes->observe, *colon = strchr(text, ':');
  size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
  if (length != 3 || memcmp(text, "ace", 3) != 0)
    return diags_add(diags, NULL, 0, 0, "no observer '%.*s'; there is 'ace', or 'ace:LIST' for some structures", (int)length, text);
  AceOptions options = {.structures = colon == NULL ? NULL : colon + 1, .window = wishes->ace_window};
  options.all_reads_count = all_reads_count(&attachments->chain);
  options.memory_is_output = hook_chain_actions(&attachments->chain) != 0;
  attachments->ace = ace_new(&options);
  ace_ask(attachments->ace, wishes->ace_probes, wishes->ace_probe_count);
  if (wishes->ace_file != NULL) attachments->ace_file = arena_copy_text(attachments->arena, wishes->ace_file, strlen(wishes->ace_file));
  return hook_chain_add(&attachments->chain, ace_hook(attachments->ace));
}

bool attachments_open(Attachments *attachments, const AttachmentWishes *wishes, Diags *diags) {
  *attachments = (Attachments){.arena = arena_new()};
  bool ok = wishes->protections == NULL || add_protections(attachments, wishes->protections, diags);
  ok = ok && (wishes->trace == NULL || add_trace(attachments, wishes, diags));
  ok = ok && (wishes->observe == NULL || add_observer(attachments, wishes, diags));
  if (ok) return true;
  if (attachments->file != NULL) fclose(attachments->file);
  ace_free(attachments->ace);
  arena_free(attachments->arena);
  *attachments = (Attachments){0};
  return false;
}

static bool write_ace(const Attachments *attachments, Diags *diags) {
  Text text = {0};
  ace_end(attachments->ace, true);
  ace_pack(attachments->ace, &text);
  FILE *file = fopen(attachments->ace_file, "w");
  bool good = file != NULL && fwrite(text.at, 1, text.length, file) == text.length;
  good = (file == NULL || fclose(file) == 0) && good;
  text_free(&text);
  return good || diags_add(diags, attachments->ace_file, 0, 0, "cannot be written: %s", strerror(errno));
}

bool attachments_close(Attachments *attachments, Diags *diags) {
  bool ok = attachments->ace == NULL || attachments->ace_file == NULL || write_ace(attachments, diags);
  if (attachments->trace != NULL) {
    trace_close(attachments->trace);
    bool written = ferror(attachments->file) == 0;
    written = fclose(attachments->file) == 0 && written;
    if (!written) ok = diags_add(diags, attachments->path, 0, 0, "cannot be written to its end");
  }
  ace_free(attachments->ace);
  arena_free(attachments->arena);
  *attachments = (Attachments){0};
  return ok;
}

// ---- Protections that do nothing ---------------------------------------------------------------------

static uint64_t counted(const Stats *total, const char *name, size_t length) {
  int i = 0;
  while (i < STAT_COUNT && !(strlen(stat_info[i].name) == length && memcmp(stat_info[i].name, name, length) == 0)) i++;
  ASSERT(i < STAT_COUNT); // tested: schemes name statistics
  return total->value[i];
}

static bool has_acted(const Hook *hook, const Stats *total) {
  uint64_t sum = 0;
  for (const char *at = hook->signs; *at != '\0'; at += *at == ' ') {
    size_t length = strcspn(at, " ");
    sum += counted(total, at, length);
    at += length;
  }
  return sum > 0;
}

void protections_idle(const HookChain *chain, const Stats *total, Text *out) {
  for (uint32_t i = 0; i < chain->count; i++) {
    const Hook *hook = chain->hooks[i];
    if (hook->kind != HOOK_PROTECTION || hook->signs == NULL || hook->signs[0] == '\0' || has_acted(hook, total)) continue;
    text_add(out, "%s%s (%s", out->length == 0 ? "" : "; ", hook->name, strchr(hook->signs, ' ') != NULL ? "none of " : "no ");
    for (const char *at = hook->signs; *at != '\0'; at++) text_add(out, *at == ' ' ? ", " : "%c", *at);
    text_add(out, ")");
  }
}
