// redoubt run -- APPLICATION: a CUDA program as its own process, with Redoubt's CUDA runtime library before it.
//
// The child inherits the standard streams. Options go to it in environment variables (src/cudart/environment.c), launch
// records come back in a file. No greeting in that file means that the program never loaded the library.
// With faults (--fault, campaigns) src/campaign starts the program, in an environment that is made here.
#include "cli/app.h"

#include "app/app.h"
#include "app/image.h"
#include "base/process.h"
#include "cli/fault.h"
#include "cli/interrupt.h"
#include "device/record.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The folder of the libraries: beside the redoubt command, or where an installation puts it.
const char *app_library_folder(Arena *arena) {
  static const char *const places[] = {"cudart", "../lib/redoubt/cudart"};
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return NULL;
  self[length] = '\0';
  const char *folder = dirname(self);
  for (size_t i = 0; i < COUNT_OF(places); i++) {
    const char *path = arena_format(arena, "%s/%s", folder, places[i]);
    if (access(arena_format(arena, "%s/libcudart.so.13", path), R_OK) == 0) return path;
  }
  return NULL;
}

// CUDA programs are compiled for compute capability 7.5, which promises blocks of 1,024 threads. An older machine whose SMs have room for
// such a block takes it, unless the user says otherwise.
static void allow_blocks(const RunOptions *options, Spec *spec) {
  enum { PROMISED_THREADS = 1024 };
  if (!options->block_given) spec->block_threads = max_u64(spec->block_threads, min_u64(spec->sm_threads, PROMISED_THREADS));
}

// "key=value", a line for each parameter of the machine.
static void add_settings(const RunOptions *options, Text *settings) {
  Spec spec = options->spec;
  allow_blocks(options, &spec);
  for (uint32_t i = 0; i < param_count; i++) {
    uint64_t value = spec_get(&spec, i);
    const char *key = param_info[i].key;
    const char *choice = param_info[i].choices;
    if (choice == NULL) {
      text_add(settings, "%s=%" PRIu64 "\n", key, value);
    } else {
      for (; value > 0; value--) choice += strcspn(choice, "|") + 1;
      text_add(settings, "%s=%.*s\n", key, (int)strcspn(choice, "|"), choice);
    }
  }
}

static void set_or_unset(const char *name, const char *value) {
  if (value != NULL) {
    setenv(name, value, 1);
  } else {
    unsetenv(name);
  }
}

// Before whatever else a list of paths has.
static void prepend(const char *name, const char *path, Arena *arena) {
  const char *others = getenv(name);
  bool alone = others == NULL || others[0] == '\0';
  setenv(name, alone ? path : arena_format(arena, "%s:%s", path, others), 1);
}

static const char *const check_names[] = {"", "memory", "races", "memory,races"}; // by CHECK_MEMORY and CHECK_RACES

void app_environment(const RunOptions *options, Arena *arena, const char *folder, const char *records) {
  const Spec *spec = &options->spec;
  const AttachmentWishes *wishes = &options->wishes;
  Text settings = {0};
  add_settings(options, &settings);
  prepend("LD_LIBRARY_PATH", folder, arena);
  prepend("LD_AUDIT", arena_format(arena, "%s/libredoubt-static.so", folder), arena); // for programs with the static runtime
  setenv("REDOUBT_MACHINE", spec->machine, 1);
  setenv("REDOUBT_SET", settings.at == NULL ? "" : settings.at, 1);
  set_or_unset("REDOUBT_RECORDS", records);
  set_or_unset("REDOUBT_PROTECT", wishes->protections);
  set_or_unset("REDOUBT_TRACE", wishes->trace);
  set_or_unset("REDOUBT_CHECK", options->check == 0 ? NULL : check_names[options->check & (CHECK_MEMORY | CHECK_RACES)]);
  set_or_unset("REDOUBT_OBSERVE", wishes->observe);
  set_or_unset("REDOUBT_ACE_FILE", wishes->ace_file);
  set_or_unset("REDOUBT_ACE_ASK", wishes->ace_ask);
  set_or_unset("REDOUBT_ACE_WINDOW", wishes->ace_window == 0 ? NULL : arena_format(arena, "%u", wishes->ace_window));
  bool cycles = wishes->trace_from != 0 || wishes->trace_to != 0;
  set_or_unset("REDOUBT_TRACE_CYCLES", cycles ? arena_format(arena, "%" PRIu64 ":%" PRIu64, wishes->trace_from, wishes->trace_to) : NULL);
  set_or_unset("REDOUBT_TRACE_EVERY", wishes->trace_every == 0 ? NULL : arena_format(arena, "%" PRIu64, wishes->trace_every));
  text_free(&settings);
}

// Of files that are there only while the program runs.
static const char *temporary_folder(void) {
  const char *folder = getenv("TMPDIR");
  return folder == NULL || folder[0] == '\0' ? P_tmpdir : folder;
}

// ---- With faults -----------------------------------------------------------------------------------

typedef struct AppStart {
  RunOptions options;
  Arena *arena;
  const char *library;
  AppInterrupts *interrupts;
} AppStart;

// In the program's process. Ctrl-C is for the campaign, which lets it end.
static void prepare(void *context, const char *exchange) {
  const AppStart *start = context;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGINT, SIG_IGN);
  signal(SIGXFSZ, SIG_DFL);
  app_environment(&start->options, start->arena, start->library, NULL);
  setenv(APP_EXCHANGE, exchange, 1);
}

static void say(void *context, const char *text) {
  (void)context;
  message_error("%s", text);
}

static bool goes_on(void *context) {
  AppInterrupts *interrupts = ((const AppStart *)context)->interrupts;
  bool is_first = interrupts->first != NULL && *interrupts->first == 0;
  if (!is_first && interrupts->taken == 0) interrupts->taken = interrupt_take();
  return interrupts->taken == 0;
}

Target *app_target(const RunOptions *options, const HookChain *protections, AppInterrupts *interrupts, Arena *arena, Diags *diags) {
  AppStart *start = ARENA_NEW(arena, AppStart);
  *start = (AppStart){*options, arena, app_library_folder(arena), interrupts};
  if (start->library == NULL) {
    diags_add(diags, NULL, 0, 0, "Redoubt's CUDA runtime library (cudart/libcudart.so.13) is not beside the redoubt command");
    return NULL;
  }
  if (options->outputs.count > APP_MOST_OUTPUTS) {
    diags_add(diags, NULL, 0, 0, "%u output files: at most %d", options->outputs.count, APP_MOST_OUTPUTS);
    return NULL;
  }
  app_spec(&start->options.spec); // journals say what was so
  allow_blocks(options, &start->options.spec);
  AppChoice choice = {.arguments = options->application,
                      .outputs = options->outputs.items,
                      .output_count = options->outputs.count,
                      .ignored = options->ignored.items,
                      .ignored_count = options->ignored.count,
                      .tolerances = &options->tolerances,
                      .ignores_output = options->ignores_output,
                      .temporary = temporary_folder(),
                      .say = say,
                      .goes_on = goes_on,
                      .protections = protections,
                      .prepare = prepare,
                      .context = start};
  return target_app(arena, &choice, &start->options.spec, diags);
}

// ---- Without ---------------------------------------------------------------------------------------

typedef struct ProgramEnd {
  int status;   // as waitpid gives it
  bool is_ours; // our library was in the program that has ended
} ProgramEnd;

enum { GRACE_SECONDS = 5 }; // from the signal that asks a program to end to the one that ends it

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static sigset_t held_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (size_t i = 0; i < COUNT_OF(passed_on); i++) {
    if (interrupt_is_heard(passed_on[i])) sigaddset(&set, passed_on[i]);
  }
  return set;
}

// In the new process; `mask` is the one that redoubt was started with.
static _Noreturn void become_program(const Run *run, const char *folder, const char *records, const sigset_t *mask) {
  app_mark(getppid(), APP_SLOT_RUN);
  app_environment(run->options, run->arena, folder, records);
  signal(SIGXFSZ, SIG_DFL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(run->options->application[0], run->options->application);
  message_error("cannot run '%s': %s", run->options->application[0], strerror(errno));
  _exit(127);
}

// As waitpid. What its process runs at its end is looked at before it is no more.
static pid_t end_program(pid_t child, ProgramEnd *end) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return -1;
  if (info.si_pid != child) return 0;
  end->is_ours = image_is_marked(child);
  return waitpid(child, &end->status, 0);
}

// Waits for the program and passes signals on to it. It hears those of the terminal itself. A program that is told to end, by SIGTERM or
// SIGHUP, ends: what is left of it after a while, or when it is told again, is killed.
static bool wait_for_program(pid_t child, ProgramEnd *end) {
  sigset_t set = held_signals();
  double kill_at = 0;
  for (;;) {
    siginfo_t info;
    int number = sigtimedwait(&set, &info, &(struct timespec){.tv_nsec = 100000000});
    pid_t ended = end_program(child, end);
    if (ended < 0 && errno != EINTR) return false;
    if (ended == child) break;
    bool ends = number == SIGTERM || number == SIGHUP, is_told = number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL;
    if (kill_at > 0 && (ends || host_seconds() > kill_at)) app_end_left(getpid(), APP_SLOT_RUN);
    else if (is_told || ends) kill(child, number);
    if (ends && kill_at == 0) kill_at = host_seconds() + GRACE_SECONDS;
  }
  if (kill_at > 0) app_end_left(getpid(), APP_SLOT_RUN); // and what it has in the background
  return true;
}

// Runs the program; false when it could not be started.
static bool run_child(Run *run, const char *folder, const char *records, ProgramEnd *end) {
  sigset_t set = held_signals(), mask;
  sigprocmask(SIG_BLOCK, &set, &mask);
  pid_t child = process_fork(SIGKILL);
  if (child == 0) become_program(run, folder, records, &mask);
  bool good = child > 0 && wait_for_program(child, end);
  if (child < 0) message_error("cannot start a process: %s", strerror(errno));
  sigprocmask(SIG_SETMASK, &mask, NULL);
  return good;
}

static bool read_records(Run *run, const char *records, RecordReading *reading) {
  Diags diags = {0};
  char *bytes;
  size_t count;
  if (!file_read(run->arena, records, &bytes, &count, &diags)) {
    message_diags(&diags);
    return false;
  }
  if (record_unpack(bytes, count, run->arena, reading)) return true;
  message_error("the launch records are not of this build of Redoubt, or cut off: some statistics are missing");
  return true;
}

static int exit_code_of(const char *name, int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  message_error("%s was ended by signal %d (%s)", name, WTERMSIG(status), strsignal(WTERMSIG(status)));
  return 128 + WTERMSIG(status);
}

// ---- What an observer in the program's process found ------------------------------------------------------

// A file without a name, by which the program gives or gets it. -1, after a message: none.
static int exchange_file(Run *run, const char **path) {
  int file = app_temporary(temporary_folder());
  char name[APP_FILE_PATH];
  if (file < 0) message_error("cannot make a temporary file in %s: %s", temporary_folder(), strerror(errno));
  else *path = arena_format(run->arena, "%s", app_file_path(getpid(), file, name));
  return file;
}

static bool ask_observer(const AttachmentWishes *wishes, int file) {
  size_t bytes = wishes->ace_probe_count * sizeof *wishes->ace_probes;
  if (bytes == 0 || write(file, wishes->ace_probes, bytes) == (ssize_t)bytes) return true;
  message_error("cannot write a temporary file in %s: %s", temporary_folder(), strerror(errno));
  return false;
}

static void take_observed(Run *run) {
  const AttachmentWishes *wishes = &run->options->wishes;
  Diags diags = {0};
  char *bytes;
  size_t count;
  if (wishes->ace_file == NULL) return;
  bool good = file_read(run->arena, wishes->ace_file, &bytes, &count, &diags);
  if (good && count > 0) run->ace = ace_unpack(bytes, count, wishes->ace_probes, wishes->ace_probe_count);
  if (run->ace != NULL) ace_figures_take(run, run->ace);
  diags_free(&diags);
}

static int finish(Run *run, const char *records, const ProgramEnd *end) {
  const char *name = run->options->application[0];
  RecordReading reading = {0};
  int code = exit_code_of(name, end->status);
  if (WIFEXITED(end->status) && code == 127 && access(records, R_OK) != 0) return EXIT_BAD_INPUT;
  if (!read_records(run, records, &reading)) return EXIT_INTERNAL;
  if (reading.greetings == 0) {
    if (code == 127 || reading.refusals > 0) return EXIT_BAD_INPUT; // not run: said already
    message_error("'%s' did not use Redoubt's CUDA runtime, so nothing was simulated: it is no CUDA program, or no dynamic executable",
                  name);
    return EXIT_BAD_INPUT;
  }
  for (uint32_t i = 0; i < reading.launches.count; i++) *VEC_PUSH(&run->result.launches, run->arena) = reading.launches.items[i];
  for (uint32_t i = 0; i < reading.findings.count; i++) memory_report_take(run, &reading.findings.items[i]);
  Diags diags = {0};
  fflush(stdout);
  take_observed(run);
  if (!run->is_part && !result_print(run, &diags)) return message_diags(&diags);
  if (!end->is_ours) {
    message_error(
        "%s has started a program in its own place (exec) that Redoubt's libraries are not in: what that one did was not simulated; "
        "it needs the environment that 'redoubt run' gives (LD_LIBRARY_PATH, LD_AUDIT, REDOUBT_*)",
        name);
    return code == EXIT_OK ? EXIT_BAD_INPUT : code;
  }
  // Nothing ran, and the program ended in a way that left the library no say.
  if (code == EXIT_OK && reading.failure != 0 && reading.launches.count == 0) {
    message_error("nothing of %s ran on the simulated GPU, so that it does not end with exit code 0", name);
    return reading.failure;
  }
  return memory_report_exit(run, code);
}

// Wrong protections are told here, before the program starts.
static bool check_protections(const RunOptions *options) {
  Attachments attachments;
  AttachmentWishes wishes = {.protections = options->wishes.protections};
  Diags diags = {0};
  if (attachments_open(&attachments, &wishes, &diags)) return attachments_close(&attachments, &diags);
  message_diags(&diags);
  return false;
}

// The program writes its trace aside, where its environment says; none is kept if it wrote nothing.
static int run_traced(Run *run, const char *folder, const char *records) {
  AttachmentWishes named = run->options->wishes, aside;
  Diags diags = {0};
  if (!trace_file_open(&run->trace, run->options, &aside, &diags)) return message_diags(&diags);
  run->options->wishes = aside;
  ProgramEnd end = {0};
  int code = run_child(run, folder, records, &end) ? finish(run, records, &end) : EXIT_INTERNAL;
  struct stat about;
  bool whole = aside.trace != NULL && stat(aside.trace, &about) == 0 && about.st_size > 0;
  if (!trace_file_close(&run->trace, whole, &diags)) code = message_diags(&diags);
  run->options->wishes = named;
  return code;
}

// The same with an observer, if one is wanted: what it is asked and what it finds go through files.
static int run_observed(Run *run, const char *folder, const char *records) {
  AttachmentWishes *wishes = &run->options->wishes;
  if (wishes->observe == NULL) return run_traced(run, folder, records);
  int found = exchange_file(run, &wishes->ace_file), asked = exchange_file(run, &wishes->ace_ask);
  bool good = found >= 0 && asked >= 0 && ask_observer(wishes, asked);
  int code = good ? run_traced(run, folder, records) : EXIT_INTERNAL;
  if (found >= 0) close(found);
  if (asked >= 0) close(asked);
  if (!run->is_part) {
    ace_free(run->ace);
    run->ace = NULL;
  }
  return code;
}

int run_application(Run *run) {
  const RunOptions *options = run->options;
  if (options->target != NULL) return message_usage("run", "one target at a time, not '%s' and an application", options->target);
  if (options->size_given || options->ptx_given || options->dump_program || options->dumps.count > 0 || options->repeat > 1) {
    return message_usage(
        "run", "an application takes --json, --csv, --stats, --machine, --set, --protect, --trace, --observe, --check, --fault, --explain, "
               "--timeout, --output, --ignore, --ignore-output, --max-registers and --max-instructions only");
  }
  if (options->application[0] == NULL) return message_usage("run", "run which application? redoubt run -- ./app ARGUMENTS");
  if (options->outputs.count > 0 && options->faults.count == 0)
    return message_usage("run", "--output names what --fault may change: which fault?");
  if ((options->ignored.count > 0 || options->ignores_output) && options->faults.count == 0)
    return message_usage("run", "--ignore and --ignore-output say what --fault may change: which fault?");
  if (!run_takes_ptx(options) || !check_protections(options)) return EXIT_BAD_INPUT;
  if (options->faults.count > 0) return run_with_faults(options, run->arena);
  const char *folder = app_library_folder(run->arena);
  if (folder == NULL) {
    message_error("Redoubt's CUDA runtime library (cudart/libcudart.so.13) is not beside the redoubt command: the build is incomplete");
    return EXIT_INTERNAL;
  }
  int file = app_temporary(temporary_folder());
  if (file < 0) {
    message_error("cannot make a temporary file in %s: %s", temporary_folder(), strerror(errno));
    return EXIT_INTERNAL;
  }
  char records[APP_FILE_PATH];
  app_file_path(getpid(), file, records);
  int code = run_observed(run, folder, records);
  close(file);
  return code;
}
