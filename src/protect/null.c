// The protection that is told everything and passes everything: it proves that hooks alone change nothing, and
// measures what being asked costs. Also "none", which wants nothing and so costs nothing.
#include "protect/protect_internal.h"

static bool null_attach(Hook *hook, HookLayout *layout, Diags *diags) { return (void)hook, (void)layout, (void)diags, true; }
static void null_rebuild(Hook *hook, const HookMachine *machine) { (void)hook, (void)machine; }
static void null_cycle(Hook *hook, HookMachine *machine) { (void)hook, (void)machine; }
static void null_span(Hook *hook, HookMachine *machine, const SpanEvent *event) { (void)hook, (void)machine, (void)event; }

#define PASSES(name, Event)                                                    \
  static Verdict null_##name(Hook *hook, HookMachine *machine, Event *event) { \
    (void)hook, (void)machine, (void)event;                                    \
    return VERDICT_PASS;                                                       \
  }
PASSES(launch, const LaunchEvent)
PASSES(block, const BlockEvent)
PASSES(fetch, FetchEvent)
PASSES(issue, IssueEvent)
PASSES(cell, const CellEvent)
PASSES(result, ResultEvent)
PASSES(branch, const BranchEvent)
PASSES(memory, const MemoryEvent)
PASSES(commit, const CommitEvent)
PASSES(trap, const TrapEvent)
#undef PASSES

static Hook *new_hook(const ProtectArguments *arguments, const char *name, Arena *arena, Diags *diags) {
  if (arguments->count > 0) {
    protect_unknown(arguments, arguments->items[0].key, NULL, 0, diags);
    return NULL;
  }
  Hook *hook = ARENA_NEW(arena, Hook);
  *hook = (Hook){.name = name, .kind = HOOK_PROTECTION, .next_cycle = UINT64_MAX};
  return hook;
}

Hook *none_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) { return new_hook(arguments, "none", arena, diags); }

Hook *null_new(const ProtectArguments *arguments, Arena *arena, Diags *diags) {
  Hook *hook = new_hook(arguments, "null", arena, diags);
  if (hook == NULL) return NULL;
  hook->attach = null_attach;
  hook->rebuild = null_rebuild;
  hook->launch = null_launch;
  hook->block = null_block;
  hook->fetch = null_fetch;
  hook->issue = null_issue;
  hook->read = null_cell;
  hook->write = null_cell;
  hook->result = null_result;
  hook->branch = null_branch;
  hook->memory = null_memory;
  hook->commit = null_commit;
  hook->trap = null_trap;
  hook->cycle = null_cycle;
  hook->span = null_span;
  hook->finish = null_cycle;
  return hook;
}
