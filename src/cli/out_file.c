// See out_file.h.
#include "cli/out_file.h"

#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_TRIES = 1000, NAME_SHOWN = 100 };

static const char *folder_of(Arena *arena, const char *path) { return dirname(arena_copy_text(arena, path, strlen(path))); }
static const char *base_of(Arena *arena, const char *path) { return basename(arena_copy_text(arena, path, strlen(path))); }

// Follows links as far as they go; what they lead to need not be there. `*descriptor`: where the way leads to an open file of this
// process (/dev/stdout, /dev/fd/3), its number; else -1.
static const char *follow(Arena *arena, const char *path, int *descriptor) {
  const char *own = arena_format(arena, "/proc/%ld/fd", (long)getpid());
  *descriptor = -1;
  for (int i = 0; i < MOST_LINKS; i++) {
    char folder[PATH_MAX], target[PATH_MAX];
    const char *name = base_of(arena, path), *parent = folder_of(arena, path);
    bool is_own = realpath(parent, folder) != NULL && strcmp(folder, own) == 0;
    if (is_own && isdigit((unsigned char)name[0])) *descriptor = atoi(name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (*descriptor >= 0 || length <= 0) return path;
    target[length] = '\0';
    path = arena_format(arena, "%s%s%s", target[0] == '/' ? "" : parent, target[0] == '/' ? "" : "/", target);
  }
  return path;
}

// ---- What is read and written ------------------------------------------------------------------------

// False: neither the file nor its folder is there.
static bool identify(Files *files, const char *path, FileId *id, bool *regular) {
  struct stat about;
  *regular = true;
  if (stat(path, &about) == 0) {
    *id = (FileId){about.st_dev, about.st_ino, NULL};
    *regular = S_ISREG(about.st_mode);
    return true;
  }
  int descriptor;
  const char *goal = follow(files->arena, path, &descriptor);
  if (stat(folder_of(files->arena, goal), &about) != 0) return false;
  *id = (FileId){about.st_dev, about.st_ino, base_of(files->arena, goal)};
  return true;
}

static bool is_same(const FileId *a, const FileId *b) {
  if (a->device != b->device || a->number != b->number || (a->name == NULL) != (b->name == NULL)) return false;
  return a->name == NULL || strcmp(a->name, b->name) == 0;
}

static bool holds(const FileId *items, uint32_t count, const FileId *id) {
  uint32_t i = 0;
  while (i < count && !is_same(&items[i], id)) i++;
  return i < count;
}

void files_read(Files *files, const char *path) {
  FileId id;
  bool regular;
  bool is_file = path != NULL && identify(files, path, &id, &regular) && regular && id.name == NULL;
  if (is_file) *VEC_PUSH(&files->inputs, files->arena) = id;
}

void files_journal(Files *files, const char *path) {
  static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
  for (size_t i = 0; i < COUNT_OF(beside); i++) files_read(files, arena_format(files->arena, "%s%s", path, beside[i]));
}

bool out_possible(const char *path, Diags *diags) {
  struct stat about;
  if (path == NULL || strcmp(path, "-") == 0) return true;
  bool exists = stat(path, &about) == 0;
  int error = exists && S_ISDIR(about.st_mode) ? EISDIR : exists && access(path, W_OK) != 0 ? errno : 0;
  if (!exists) {
    Arena *arena = arena_new();
    int descriptor;
    const char *folder = folder_of(arena, follow(arena, path, &descriptor));
    if (stat(folder, &about) != 0) error = errno;
    else if (!S_ISDIR(about.st_mode)) error = ENOTDIR;
    else if (access(folder, W_OK) != 0) error = errno;
    arena_free(arena);
  }
  return error == 0 || diags_add(diags, path, 0, 0, "cannot be written: %s", strerror(error));
}

bool files_write(Files *files, const char *path, Diags *diags) {
  FileId id;
  bool regular;
  if (path == NULL || !identify(files, path, &id, &regular) || !regular) return true;
  if (holds(files->inputs.items, files->inputs.count, &id))
    return diags_add(diags, path, 0, 0, "is read by this command: write to another file");
  if (holds(files->outputs.items, files->outputs.count, &id))
    return diags_add(diags, path, 0, 0, "is written twice by this command: write to two files");
  *VEC_PUSH(&files->outputs, files->arena) = id;
  return true;
}

// ---- Parts -------------------------------------------------------------------------------------------
// A part's name begins with ".redoubt-PID-". Its descriptor stays open till it is renamed, so the open files of the process say which
// parts there are: nothing needs to be remembered for the signal handler.

// ".redoubt-PID-", without functions that a signal handler may not call.
static size_t part_prefix(char out[48]) {
  static const char head[] = ".redoubt-";
  char digits[24];
  size_t count = 0, length = sizeof head - 1;
  memcpy(out, head, length);
  for (unsigned long rest = (unsigned long)getpid(); count == 0 || rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  while (count > 0) out[length++] = digits[--count];
  out[length++] = '-';
  return length;
}

static size_t descriptor_path(char out[48], int descriptor) {
  static const char head[] = "/proc/self/fd/";
  char digits[16];
  size_t count = 0, length = sizeof head - 1;
  memcpy(out, head, length);
  for (int rest = descriptor; count == 0 || rest > 0; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  while (count > 0) out[length++] = digits[--count];
  out[length] = '\0';
  return length;
}

void out_abandon(void) {
  enum { MOST_DESCRIPTORS = 1024 };
  int error = errno;
  char prefix[48], place[48], path[PATH_MAX];
  size_t length = part_prefix(prefix);
  for (int descriptor = 3; descriptor < MOST_DESCRIPTORS; descriptor++) {
    descriptor_path(place, descriptor);
    ssize_t found = readlink(place, path, sizeof path - 1);
    if (found <= 0) continue;
    path[found] = '\0';
    const char *slash = strrchr(path, '/');
    if (slash != NULL && strncmp(slash + 1, prefix, length) == 0) unlink(path);
  }
  errno = error;
}

static void on_end(int number) {
  out_abandon();
  signal(number, SIG_DFL);
  raise(number);
}

// Signals that would end the process remove the parts first; those that are ignored or taken by others stay so.
static void catch_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU};
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    struct sigaction now;
    if (sigaction(numbers[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    signal(numbers[i], on_end);
  }
}

// ---- Writing -----------------------------------------------------------------------------------------

static bool fail(OutFile *out, int error, Diags *diags) {
  if (out->file != NULL && out->file != stdout) fclose(out->file);
  if (out->kept >= 0) close(out->kept);
  if (out->part != NULL) unlink(out->part);
  *out = (OutFile){.path = out->path, .kept = -1, .files = out->files};
  return diags_add(diags, out->path == NULL ? "the output" : out->path, 0, 0, "cannot be written: %s", strerror(error));
}

// A new file beside the goal, with its permissions if there is one.
static int open_part(OutFile *out, Arena *arena, const struct stat *old) {
  const char *folder = folder_of(arena, out->goal), *name = base_of(arena, out->goal);
  char prefix[48];
  size_t length = part_prefix(prefix);
  for (int i = 0; i < MOST_TRIES; i++) {
    out->part = arena_format(arena, "%s/%.*s%d-%.*s", folder, (int)length, prefix, i, NAME_SHOWN, name);
    int descriptor = open(out->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 && old != NULL) (void)!fchmod(descriptor, old->st_mode & 07777);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

static bool open_aside(OutFile *out, Diags *diags, Arena *arena, const struct stat *old) {
  catch_signals();
  if (old != NULL && access(out->goal, W_OK) != 0) return fail(out, errno, diags);
  out->kept = open_part(out, arena, old);
  if (out->kept < 0) {
    out->part = NULL; // nothing to remove
    return fail(out, errno, diags);
  }
  out->file = fopen(out->part, "wbe");
  return out->file != NULL || fail(out, errno, diags);
}

static bool open_in_place(OutFile *out, Diags *diags, int descriptor) {
  int copy = descriptor < 0 ? -1 : dup(descriptor);
  if (descriptor >= 0 && copy < 0) return fail(out, errno, diags);
  if (descriptor == STDOUT_FILENO) fflush(stdout);
  out->file = copy >= 0 ? fdopen(copy, "wb") : fopen(out->path, "wbe");
  return out->file != NULL || fail(out, errno, diags);
}

bool out_open(OutFile *out, const Files *files, const char *path, Diags *diags) {
  if (path != NULL && strcmp(path, "-") == 0) path = NULL;
  *out = (OutFile){.path = path, .kept = -1, .files = files, .file = path == NULL ? stdout : NULL};
  out->is_screen = path == NULL && isatty(STDOUT_FILENO) != 0;
  if (path == NULL) return true;
  int descriptor;
  out->goal = follow(files->arena, path, &descriptor);
  if (descriptor >= 0) return open_in_place(out, diags, descriptor);
  struct stat about;
  bool exists = stat(path, &about) == 0;
  if (exists && S_ISDIR(about.st_mode)) return fail(out, EISDIR, diags);
  if (exists && !S_ISREG(about.st_mode)) return open_in_place(out, diags, -1);
  return open_aside(out, diags, files->arena, exists ? &about : NULL);
}

const char *out_name(const OutFile *out) { return out->part != NULL ? out->part : out->path; }

bool out_write(void *context, const char *bytes, size_t count) {
  OutFile *out = context;
  Text visible = {0};
  if (out->is_screen) text_add_visible(&visible, bytes, count, "\n\t");
  if (out->is_screen) bytes = visible.at, count = visible.length;
  if (out->error == 0 && count > 0 && fwrite(bytes, 1, count, out->file) != count) out->error = errno == 0 ? EIO : errno;
  text_free(&visible);
  return out->error == 0;
}

bool out_close(OutFile *out, bool whole, Diags *diags) {
  if (out->error == 0 && ferror(out->file)) out->error = EIO;
  if (out->error == 0 && fflush(out->file) != 0) out->error = errno;
  if (out->path == NULL) return out->error == 0 || fail(out, out->error, diags);
  bool closed = fclose(out->file) == 0;
  if (!closed && out->error == 0) out->error = errno;
  out->file = NULL;
  if (out->error != 0) return fail(out, out->error, diags);
  if (out->part != NULL && !whole) unlink(out->part);
  if (out->part != NULL && whole && rename(out->part, out->goal) != 0) return fail(out, errno, diags);
  if (out->kept >= 0) close(out->kept);
  if (out->part != NULL && whole) message_note(out->files->quiet, "wrote %s", out->path);
  return true;
}

bool out_text(const Files *files, const char *path, const Text *text, Diags *diags) {
  OutFile out;
  if (!out_open(&out, files, path, diags)) return false;
  if (text->length > 0) out_write(&out, text->at, text->length);
  return out_close(&out, true, diags);
}
