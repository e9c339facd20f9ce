// redoubt avf TARGET: which bits matter in which cycles, by ACE analysis of one run without faults; alone, or held against a campaign.
#include "cli/avf.h"

#include "app/app.h"
#include "cli/app.h"
#include "cli/energy.h"
#include "cli/fault.h"
#include "report/avf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// ---- The run -----------------------------------------------------------------------------------------

typedef struct AvfRun {
  AvfWishes *wishes;
  Arena *arena;
  AvfAgainst against;
  JournalMeta meta;
  Attachments attachments;
  Ace *ace; // found; of a CUDA program's own process, or the attachments'
  bool is_own;
  AvfFacts facts;
  GoldenRow *launches;
  uint32_t launch_count;
  Stats sum; // of all launches
} AvfRun;

static void add_launches(AvfRun *at, const LaunchRecord *records, uint32_t count) {
  uint64_t cycle = 0;
  at->launches = ARENA_ARRAY(at->arena, GoldenRow, count + 1);
  at->launch_count = count;
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t *stats = records[i].stats.value;
    for (uint32_t k = 0; k < STAT_COUNT; k++) at->sum.value[k] += stats[k];
    at->launches[i] = (GoldenRow){.launch = i + 1,
                                  .kernel = records[i].kernel,
                                  .began_at = cycle,
                                  .cycles = stats[STAT_CYCLES],
                                  .thread_instructions = stats[STAT_THREAD_INSTRUCTIONS],
                                  .warp_instructions = stats[STAT_WARP_INSTRUCTIONS]};
    at->launches[i].registers = records[i].registers;
    at->launches[i].needs = records[i].needs;
    at->facts.held_rows += (double)stats[STAT_RESIDENT_WARPS] * records[i].registers;
    at->facts.needed_rows += (double)stats[STAT_RESIDENT_WARPS] * records[i].needs;
    cycle += stats[STAT_CYCLES];
  }
}

static void set_observer(AvfRun *at, AttachmentWishes *wishes) {
  const AvfWishes *wanted = at->wishes;
  wishes->observe = wanted->structures == NULL ? "ace" : arena_format(at->arena, "ace:%s", wanted->structures);
  wishes->ace_window = wanted->window;
  wishes->ace_probes = at->against.probes;
  wishes->ace_probe_count = at->against.count;
}

static int run_target(AvfRun *at, Target *target, Diags *diags) {
  AttachmentWishes wishes = at->wishes->run.wishes;
  set_observer(at, &wishes);
  if (!attachments_open(&at->attachments, &wishes, diags)) return EXIT_BAD_INPUT;
  at->ace = at->attachments.ace;
  if (!target->start(target, &at->attachments.chain, diags)) return EXIT_BAD_INPUT;
  bool good = target->run(target);
  TargetOutputs outputs = {0};
  if (good) target->outputs(target, &outputs, at->arena); // the host reads them
  ace_end(at->ace, !good);
  Device *device = target->device(target);
  int code = good ? EXIT_OK : EXIT_TRAPPED;
  if (!good) message_error("%s", device_error(device));
  uint32_t count = device_launch_count(device);
  LaunchRecord *records = ARENA_ARRAY(at->arena, LaunchRecord, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    records[i] = *device_launch_record(device, i);
    records[i].kernel = arena_copy_text(at->arena, records[i].kernel, strlen(records[i].kernel));
  }
  add_launches(at, records, count);
  target->finish(target);
  return code;
}

static int run_program(AvfRun *at) {
  Run run = {.options = &at->wishes->run, .arena = at->arena, .is_part = true};
  set_observer(at, &run.options->wishes);
  int code = run_application(&run);
  at->ace = run.ace;
  at->is_own = true;
  add_launches(at, run.result.launches.items, run.result.launches.count);
  if (code == EXIT_OK && at->ace == NULL) {
    message_error("the program left no result: it ended without exit(), or launched nothing");
    return EXIT_BAD_INPUT;
  }
  return code;
}

// ---- The journal -----------------------------------------------------------------------------------

static bool put_energy(const AvfRun *at, Journal *journal, Diags *diags) {
  const RunOptions *options = &at->wishes->run;
  RunPower power = run_power(&options->spec, options->wishes.protections, at->arena);
  if (!power.model.is_there) return true;
  Energy energy = energy_of(&power.model, &at->sum);
  const char *dynamic = arena_format(at->arena, "%.9g", energy_figure(&energy, ENERGY_DYNAMIC_NJ));
  const char *leakage = arena_format(at->arena, "%.9g", energy_figure(&energy, ENERGY_LEAKAGE_NJ));
  return journal_put_note(journal, NOTE_ENERGY_DYNAMIC, dynamic, diags) && journal_put_note(journal, NOTE_ENERGY_LEAKAGE, leakage, diags);
}

static int show_found(AvfRun *at, const char *path, Diags *diags) {
  Journal *journal = journal_open(path, &at->meta, diags);
  if (journal == NULL) return EXIT_BAD_INPUT;
  bool good = campaign_put_origin(journal, &at->wishes->origin, diags) && put_energy(at, journal, diags) &&
              journal_put_golden(journal, at->launches, at->launch_count, diags) &&
              journal_begin(journal, &(JournalPlan){.faults = 0}, diags) &&
              avf_journal_fill(journal, at->ace, &at->against, &at->facts, diags) && journal_reached(journal, 0, true, diags) &&
              journal_commit(journal, diags) && avf_show(&at->wishes->shown, journal, diags);
  uint64_t wrong = good && at->against.path != NULL ? avf_violations(journal) : 0;
  journal_close(journal);
  if (!good) return EXIT_BAD_INPUT;
  if (wrong == 0) return EXIT_OK;
  message_error("%llu faults did harm in bit-cycles that are un-ACE", (unsigned long long)wrong);
  return EXIT_INTERNAL;
}

// A journal that nobody wants to keep lies in the folder of temporary files.
static int keep_or_not(AvfRun *at, Diags *diags) {
  const char *folder = getenv("TMPDIR");
  if (at->wishes->journal != NULL) return show_found(at, at->wishes->journal, diags);
  char *path = arena_format(at->arena, "%s/redoubt-avf-XXXXXX", folder == NULL || folder[0] == '\0' ? P_tmpdir : folder);
  int file = mkstemp(path);
  if (file < 0) {
    message_error("cannot make a temporary file %s: %s", path, strerror(errno));
    return EXIT_INTERNAL;
  }
  close(file);
  int code = show_found(at, path, diags);
  unlink(path);
  unlink(arena_format(at->arena, "%s-wal", path));
  unlink(arena_format(at->arena, "%s-shm", path));
  return code;
}

// ---- The command ---------------------------------------------------------------------------------------

static void fill_meta(AvfRun *at, const Target *target) {
  const AvfWishes *wishes = at->wishes;
  at->meta = (JournalMeta){.target = target->name,
                           .arguments = target->arguments,
                           .machine = wishes->run.spec.machine,
                           .settings = settings_text(at->arena, target->spec),
                           .protection = wishes->run.wishes.protections == NULL ? "none" : wishes->run.wishes.protections,
                           .model = "ace",
                           .structures = wishes->structures == NULL ? "all" : wishes->structures,
                           .window = "all",
                           .standing = "",
                           .sampling = "",
                           .seed = wishes->run.seed,
                           .timeout = 1,
                           .shards = 1};
}

// Machines count the first cycle of a launch as 0 or as 1.
static bool check_cycles(const AvfRun *at, Diags *diags) {
  uint64_t theirs = at->against.cycles, ours = ace_cycles(at->ace);
  if (at->against.path == NULL || (theirs <= ours && ours - theirs <= at->launch_count)) return true;
  return diags_add(diags, at->against.path, 0, 0, "is of another run: it has %llu cycles, this one %llu", (unsigned long long)theirs,
                   (unsigned long long)ours);
}

static int analyse(AvfRun *at, Diags *diags) {
  AvfWishes *wishes = at->wishes;
  bool is_application = wishes->run.application != NULL;
  AppInterrupts interrupts = {0};
  HookChain none = {.count = 0};
  Target *target =
      is_application ? app_target(&wishes->run, &none, &interrupts, at->arena, diags) : run_as_target(&wishes->run, at->arena, diags);
  if (target == NULL) return EXIT_BAD_INPUT;
  fill_meta(at, target);
  if (is_application) target_app_free(target); // its process is another one
  if (wishes->against != NULL && !avf_against_read(&at->against, wishes->against, &at->meta, diags)) return EXIT_BAD_INPUT;
  int code = is_application ? run_program(at) : run_target(at, target, diags);
  if (code != EXIT_OK) return code;
  if (ace_kernel_count(at->ace) == 0) {
    message_error("nothing ran on the simulated GPU");
    return EXIT_BAD_INPUT;
  }
  at->facts.all_reads_count = ace_all_reads_count(at->ace);
  return check_cycles(at, diags) ? keep_or_not(at, diags) : EXIT_BAD_INPUT;
}

static bool check_files(AvfWishes *wishes, Diags *diags) {
  Files *files = &wishes->run.files;
  if (wishes->against != NULL) files_journal(files, wishes->against);
  wishes->shown = (AvfShown){.files = files,
                             .page = wishes->page,
                             .csv = wishes->run.csv_file,
                             .json = wishes->run.json_file,
                             .has_csv = wishes->run.csv,
                             .has_json = wishes->run.json};
  bool good = files_write(files, wishes->journal, diags) && files_write(files, wishes->page, diags);
  for (uint32_t i = 0; i < AVF_TABLES && good && avf_to_folder(&wishes->shown); i++)
    good = files_write(files, avf_table_path(&wishes->shown, i), diags);
  return good;
}

static int check_target(const AvfWishes *wishes) {
  const RunOptions *run = &wishes->run;
  if (!machine_can(&run->spec, MACHINE_HAS_TIME))
    return message_usage("avf", "ACE analysis needs a machine with time, such as --machine fermi-gtx480");
  if (run->application != NULL && run->application[0] != NULL) return EXIT_OK;
  if (run->target == NULL) return message_usage("avf", "analyse what? A workload's name, a PTX file, G80 code, or an application after --");
  return run_check_target(run, "avf");
}

static int avf(AvfWishes *wishes, Arena *arena) {
  Diags diags = {0};
  if (!check_files(wishes, &diags)) return message_diags(&diags);
  AvfRun at = {.wishes = wishes, .arena = arena};
  int code = analyse(&at, &diags);
  if (diags.count > 0) message_diags(&diags);
  if (at.is_own) ace_free(at.ace);
  if (at.attachments.arena != NULL) attachments_close(&at.attachments, &diags);
  avf_against_free(&at.against);
  return code;
}

static int run_avf(int argc, char **argv) {
  AvfWishes *wishes = calloc(1, sizeof *wishes);
  ASSERT(wishes != NULL);
  Arena *arena = arena_new();
  Operands operands;
  int code = EXIT_BAD_INPUT;
  run_options_default(&wishes->run);
  wishes->run.machine.machine = NULL;
  wishes->origin = origin_of(arena, argc, argv);
  if (!options_parse(&command_avf, wishes, arena, argc, argv, &operands)) {
    code = operands.exit_code;
  } else {
    bool machine_chosen = wishes->run.machine.machine == NULL;
    if (machine_chosen) wishes->run.machine.machine = "fermi-gtx480";
    bool good = run_options_complete(&wishes->run, &operands, arena);
    if (good) code = check_target(wishes);
    if (good && code == EXIT_OK) {
      if (machine_chosen) message_note(wishes->run.files.quiet, "machine %s, as no --machine was given", wishes->run.spec.machine);
      code = avf(wishes, arena);
    }
  }
  arena_free(arena);
  free(wishes);
  return code;
}

static const Option analysis_options[] = {
    {"structure", 0, "LIST",
     "structures, such as rf,shared,unit.sp ('redoubt list structures'; default: all that the machine tells of); several: repeat it, or "
     "commas",
     .take = option_list, .offset = offsetof(AvfWishes, structures)},
    {"window", 0, "N", "warp instructions within which it must be known whether a result is needed; else it counts as ACE (default 65536)",
     .take = option_u32, .offset = offsetof(AvfWishes, window), .least = ACE_LEAST_WINDOW, .most = ACE_MOST_WINDOW},
    {"against", 0, "DB", "journal of a campaign of single flips on the same run: what ACE analysis says of each fault beside what it did",
     .take = option_text, .offset = offsetof(AvfWishes, against)},
};
static const OptionGroup analysis_group = OPTION_GROUP("The analysis", analysis_options);

static const Option file_options[] = {
    {"journal", 'o', "DB", "keep it as a journal, for 'redoubt report' and 'redoubt compare'", .take = option_text,
     .offset = offsetof(AvfWishes, journal)},
    {"page", 0, "FILE", "one page, which needs no network", .take = option_text, .offset = offsetof(AvfWishes, page)},
    {"json", 0, "FILE", "all of it as JSON, to the terminal or FILE", .take = option_json, .offset = offsetof(RunOptions, json_file),
     .may_lack = true},
    {"csv", 0, "FILE", "a row for each structure; into an existing folder: all tables", .take = option_csv,
     .offset = offsetof(RunOptions, csv_file), .may_lack = true},
};
static const OptionGroup file_group = OPTION_GROUP("Files", file_options);

const Command command_avf = {
    .name = "avf",
    .usage = "TARGET",
    .summary = "which bits matter in which cycles, by ACE analysis of one run; alone or beside a campaign",
    .synopsis = "redoubt avf WORKLOAD [options]               a built-in workload\n"
                "redoubt avf FILE.ptx [options]               a kernel from a PTX file\n"
                "redoubt avf FILE.sass|FILE.hex [options]     G80 machine code, with --machine flexgrip\n"
                "redoubt avf FILE.fp [options]                a fragment program, with --machine sheaffer-2007\n"
                "redoubt avf [options] -- ./app ARGUMENTS     a CUDA program\n",
    .about = "From one run without faults: the share of bit-cycles of each structure in which a flip may change the result (ACE),\n"
             "and why the others do not matter. docs/avf.md says what counts and why it is sound. What is not known counts as ACE,\n"
             "so that the AVF by injection is never above it.\n",
    .groups = {&analysis_group, &file_group, &run_machine_group, &run_workload_group, &run_ptx_group, &run_g80_group, &run_shader_group},
    .ending = "Examples:\n"
              "  redoubt avf matmul --machine fermi-gtx480\n"
              "  redoubt avf bfs --size small --machine gt200-rise --structure unit.sp --protect dmr\n"
              "  redoubt campaign scan --size tiny --machine fermi-gtx480 --structure rf,shared,unit.sp --faults 5000 -o scan.db\n"
              "  redoubt avf scan --size tiny --machine fermi-gtx480 --against scan.db --page scan.html\n"
              "\n"
              "Exit codes: 0 shown, 2 bad usage or input, 3 the program trapped, 4 a fault of the campaign did harm where nothing\n"
              "            should: a defect of the analysis or of the injection.\n",
    .operand = "target",
    .most_operands = 1,
    .takes_application = true,
    .run = run_avf,
};
