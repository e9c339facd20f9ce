// What `redoubt run -- APPLICATION` passes on, in environment variables:
//   REDOUBT_MACHINE  the machine's name    REDOUBT_SET  key=value, one per line: its parameters
//   REDOUBT_RECORDS  the file that launch records are appended to
//   REDOUBT_PROTECT  protections, spaces between them    REDOUBT_TRACE  file of a time line
//   REDOUBT_TRACE_CYCLES  FROM:TO, the cycles it shows    REDOUBT_TRACE_EVERY  cycles between samples of its curves
//   REDOUBT_CHECK  memory: watch what kernels do to memory; findings are appended to the records
//   REDOUBT_OBSERVE  an observer    REDOUBT_ACE_FILE  where what it found goes    REDOUBT_ACE_WINDOW  instructions    REDOUBT_ACE_ASK  a file of questions
//   REDOUBT_CAMPAIGN  the file that `redoubt campaign -- APPLICATION` shares with this process
// All may be absent: a program may also be started with the library in LD_LIBRARY_PATH alone.
#include "cudart/runtime.h"
#include "app/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void apply_settings(Spec *spec, const char *settings, Diags *diags) {
  Arena *arena = arena_new();
  while (*settings != '\0') {
    size_t length = strcspn(settings, "\n");
    char *key = arena_copy_text(arena, settings, length), *equals = strchr(key, '=');
    if (equals != NULL) {
      *equals = '\0';
      spec_set(spec, key, equals + 1, NULL, 0, diags);
    } else if (length > 0) {
      diags_add(diags, NULL, 0, 0, "REDOUBT_SET: '%s' is not NAME=VALUE", key);
    }
    settings += length + (settings[length] == '\n');
  }
  arena_free(arena);
}

static const char *given(const char *name) {
  const char *value = getenv(name);
  return value == NULL || value[0] == '\0' ? NULL : strdup(value); // the program may change its environment
}

// What ACE analysis is asked, as it lies in the other process's memory. Kept until the end.
static void read_questions(AttachmentWishes *wishes) {
  const char *path = getenv("REDOUBT_ACE_ASK");
  FILE *file = path == NULL ? NULL : fopen(path, "rbe");
  if (file == NULL) return;
  fseek(file, 0, SEEK_END);
  long bytes = ftell(file);
  rewind(file);
  size_t count = bytes > 0 ? (size_t)bytes / sizeof *wishes->ace_probes : 0;
  wishes->ace_probes = calloc(count + 1, sizeof *wishes->ace_probes);
  if (wishes->ace_probes != NULL) wishes->ace_probe_count = (uint32_t)fread(wishes->ace_probes, sizeof *wishes->ace_probes, count, file);
  fclose(file);
}

static void read_wishes(AttachmentWishes *wishes) {
  *wishes = (AttachmentWishes){.protections = given("REDOUBT_PROTECT"),
                               .trace = given("REDOUBT_TRACE"),
                               .observe = given("REDOUBT_OBSERVE"),
                               .ace_file = given("REDOUBT_ACE_FILE")};
  const char *window = getenv("REDOUBT_ACE_WINDOW");
  if (window != NULL) wishes->ace_window = (uint32_t)strtoul(window, NULL, 10);
  if (wishes->observe != NULL) read_questions(wishes);
  const char *every = getenv("REDOUBT_TRACE_EVERY");
  if (every != NULL) wishes->trace_every = strtoull(every, NULL, 10);
  const char *cycles = getenv("REDOUBT_TRACE_CYCLES");
  if (cycles == NULL) return;
  char *end;
  wishes->trace_from = strtoull(cycles, &end, 10);
  if (*end == ':') wishes->trace_to = strtoull(end + 1, NULL, 10);
}

// ---- Records ---------------------------------------------------------------------------------------

static bool is_open(const Records *records) {
  struct stat now;
  return records->file >= 0 && fstat(records->file, &now) == 0 && now.st_dev == records->device && now.st_ino == records->inode;
}

// Under a high number: programs that close all descriptors may count on the low ones that they are given next.
static bool open_records(Records *records) {
  enum { HIGH = 200 };
  struct stat now;
  int low = open(records->path, O_WRONLY | O_APPEND | O_CLOEXEC), high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, HIGH);
  if (high >= 0) close(low);
  records->file = high >= 0 ? high : low;
  if (records->file < 0 || fstat(records->file, &now) != 0) return false;
  records->device = now.st_dev;
  records->inode = now.st_ino;
  return true;
}

bool environment_record(Environment *environment, const Text *bytes) {
  Records *records = &environment->records;
  if (records->path == NULL || records->lost) return true;
  bool open = is_open(records) || open_records(records);
  ssize_t written = open ? write(records->file, bytes->at, bytes->length) : -1;
  records->lost = written < 0 || (size_t)written != bytes->length;
  return !records->lost;
}

// ---- Attachments -----------------------------------------------------------------------------------

// Only by the process that opened the file: a forked child has a copy of what is not yet written.
static void close_attachments(void *context) {
  Environment *environment = context;
  if (environment->attached_by != getpid()) return;
  environment->attached_by = 0;
  Diags diags = {0};
  if (!attachments_close(&environment->attachments, &diags)) runtime_say_diags(&diags);
}

const HookChain *environment_attach(Environment *environment, Diags *diags) {
  char marks[APP_MARKS];
  AttachmentWishes wishes = environment->wishes;
  app_process_trace(environment->exchange, &wishes, marks);
  if (!attachments_open(&environment->attachments, &wishes, diags)) return NULL;
  environment->attached_by = getpid();
  environment->campaign = app_process_new(environment->exchange, &environment->attachments.chain, &environment->spec, diags);
  app_process_before_stop(environment->campaign, close_attachments, environment);
  bool lost = environment->exchange != NULL && environment->campaign == NULL && machine_can(&environment->spec, MACHINE_HAS_TIME);
  if (lost && diags->count == 0) diags_add(diags, environment->exchange, 0, 0, "the campaign's file cannot be used");
  return diags->count > 0 ? NULL : &environment->attachments.chain;
}

void environment_detach(Environment *environment) {
  app_process_finish(environment->campaign);
  close_attachments(environment);
}

void environment_read(Environment *environment) {
  Diags diags = {0};
  Spec *spec = &environment->spec;
  spec_default(spec);
  const char *machine = getenv("REDOUBT_MACHINE"), *settings = getenv("REDOUBT_SET");
  spec->machine = machine != NULL && machine[0] != '\0' ? strdup(machine) : "functional";
  if (settings != NULL) apply_settings(spec, settings, &diags);
  app_spec(spec);
  spec_check(spec, NULL, &diags);
  environment->failed = diags.count > 0;
  if (environment->failed) runtime_say_diags(&diags);
  read_wishes(&environment->wishes);
  const char *check = getenv("REDOUBT_CHECK");
  environment->check =
      check == NULL ? 0U : (strstr(check, "memory") != NULL ? CHECK_MEMORY : 0U) | (strstr(check, "races") != NULL ? CHECK_RACES : 0U);
  environment->exchange = given(APP_EXCHANGE);
  environment->records = (Records){.path = given("REDOUBT_RECORDS"), .file = -1};
  if (environment->records.path != NULL) image_mark();
}
