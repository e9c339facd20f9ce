// See app_originals.h. Every step is one rename, so that a campaign can be killed between any two of them and nothing is lost.
#include "app/originals.h"
#include "app/app_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 16, MOST_TRIES = 8, MOST_LEFT = 1000 };

static const char *const own_names[] = {"lock", "original", "absent", "aside"};

// A file of the folder beside it.
static const char *beside(const Original *item, const char *name, char path[APP_PATH]) {
  snprintf(path, APP_PATH, "%s" APP_FOLDER "/%s", item->path, name);
  return path;
}

static bool is_there(const char *path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

static void say(const Originals *all, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const Originals *all, const char *format, ...) {
  char text[3 * APP_PATH];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (all->say != NULL) all->say(all->context, text);
}

// ---- The folder beside a file ----------------------------------------------------------------------

static bool is_own_name(const char *name) {
  bool is_own = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
  for (size_t i = 0; i < COUNT_OF(own_names); i++) is_own |= strcmp(name, own_names[i]) == 0;
  return is_own;
}

// A folder of Redoubt's, not something that the user happens to have under this name.
static bool is_own_folder(const char *folder) {
  struct stat info;
  DIR *entries = lstat(folder, &info) == 0 && S_ISDIR(info.st_mode) ? opendir(folder) : NULL;
  bool is_own = entries != NULL;
  for (const struct dirent *entry; is_own && (entry = readdir(entries)) != NULL;) is_own = is_own_name(entry->d_name);
  if (entries != NULL) closedir(entries);
  return is_own;
}

// Opens the lock and locks it: 1. 0: another campaign has it. -1: there is none; errno says why, ENOENT: the folder has just gone.
static int try_lock(Original *item) {
  char path[APP_PATH];
  struct stat info;
  int file = open(beside(item, "lock", path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return -1;
  bool locked = flock(file, LOCK_EX | LOCK_NB) == 0;
  bool removed = locked && (fstat(file, &info) != 0 || info.st_nlink == 0); // by who had it before
  if (locked && !removed) {
    item->lock = file;
    return 1;
  }
  close(file);
  errno = ENOENT;
  return locked ? -1 : 0;
}

// Makes the folder, or takes the one that a killed campaign has left.
static bool claim(Original *item, Diags *diags) {
  char folder[APP_PATH], lock[APP_PATH];
  snprintf(folder, sizeof folder, "%s" APP_FOLDER, item->path);
  for (uint32_t i = 0; i < MOST_TRIES; i++) {
    item->is_own = mkdir(folder, 0700) == 0;
    if (!item->is_own && errno != EEXIST)
      return diags_add(diags, item->path, 0, 0, "cannot be kept safe while the program changes it: %s: %s", folder, strerror(errno));
    if (!is_own_folder(folder) && is_there(folder))
      return diags_add(diags, folder, 0, 0, "is in the way: what is in %s is kept there meanwhile; rename it", item->path);
    item->is_own |= is_there(beside(item, "lock", lock));
    int locked = try_lock(item);
    if (locked > 0) return true;
    if (locked == 0) return diags_add(diags, item->path, 0, 0, "another run of redoubt with --output uses it");
    if (errno != ENOENT) break;
  }
  return diags_add(diags, folder, 0, 0, "cannot be used: %s", strerror(errno));
}

static void release(Original *item) {
  char path[APP_PATH];
  unlink(beside(item, "absent", path));
  unlink(beside(item, "aside", path));
  unlink(beside(item, "lock", path));
  if (item->lock >= 0) close(item->lock);
  item->lock = -1;
  snprintf(path, sizeof path, "%s" APP_FOLDER, item->path);
  if (item->is_own) rmdir(path);
}

// ---- What a killed campaign has left ---------------------------------------------------------------

static bool is_same(const char *one, const char *other) {
  char texts[2][APP_PATH];
  ssize_t lengths[2] = {readlink(one, texts[0], APP_PATH), readlink(other, texts[1], APP_PATH)};
  if (lengths[0] != lengths[1]) return false;
  if (lengths[0] >= 0) return memcmp(texts[0], texts[1], (size_t)lengths[0]) == 0;
  return app_hash_file(one, 0) == app_hash_file(other, 0);
}

// What stands at the path may be the user's by now: it gets another name.
static const char *rename_left(const Originals *all, const char *path) {
  for (uint32_t i = 1; i < MOST_LEFT; i++) {
    const char *other = i == 1 ? arena_format(all->arena, "%s.left", path) : arena_format(all->arena, "%s.left-%u", path, i);
    if (!is_there(other)) return rename(path, other) == 0 ? other : NULL;
  }
  return NULL;
}

static bool recover(const Originals *all, const Original *item, Diags *diags) {
  char original[APP_PATH], absent[APP_PATH];
  bool has_original = is_there(beside(item, "original", original)), was_absent = is_there(beside(item, "absent", absent));
  if (!has_original && !was_absent) return true;
  const char *left = NULL;
  bool good = true;
  if (is_there(item->path) && !(has_original && is_same(original, item->path))) {
    left = rename_left(all, item->path);
    good = left != NULL;
  }
  good = good && (!has_original || rename(original, item->path) == 0);
  if (!good) return diags_add(diags, item->path, 0, 0, "a killed run has left %s, which cannot be put back: %s", original, strerror(errno));
  if (has_original)
    say(all, "%s: put back; a run that was killed had moved it away%s%s", item->path,
        left == NULL ? "" : ". What stood in its place is kept as ", left == NULL ? "" : left);
  else if (left != NULL) say(all, "%s: was left by a run that was killed, and is kept as %s", item->path, left);
  return true;
}

// ---- Moving away -----------------------------------------------------------------------------------

static bool keep_link(Original *item, Arena *arena, Diags *diags) {
  char text[APP_PATH];
  ssize_t length = readlink(item->path, text, sizeof text);
  if (length < 0 || length == APP_PATH) return diags_add(diags, item->path, 0, 0, "cannot be read: %s", strerror(errno));
  item->link = arena_copy_text(arena, text, (size_t)length);
  return true;
}

static bool move_away(Original *item, Arena *arena, Diags *diags) {
  char path[APP_PATH];
  struct stat info;
  OriginalKind kind = ORIGINAL_ABSENT;
  if (lstat(item->path, &info) == 0) kind = S_ISLNK(info.st_mode) ? ORIGINAL_LINK : ORIGINAL_FILE;
  if (kind == ORIGINAL_FILE && !S_ISREG(info.st_mode))
    return diags_add(diags, item->path, 0, 0, S_ISDIR(info.st_mode) ? "is a folder, not a file" : "is not a file that can be kept safe");
  if (kind == ORIGINAL_LINK && !keep_link(item, arena, diags)) return false;
  int note = kind == ORIGINAL_ABSENT ? open(beside(item, "absent", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
  bool moved = kind == ORIGINAL_ABSENT ? note >= 0 : rename(item->path, beside(item, "original", path)) == 0;
  if (!moved) return diags_add(diags, item->path, 0, 0, "cannot be kept safe while the program changes it: %s", strerror(errno));
  if (note >= 0) close(note);
  item->kind = kind;
  return true;
}

// The path with the links of its folder followed; NULL: the folder is not there.
static const char *place_of(Arena *arena, const char *path) {
  char real[PATH_MAX];
  const char *slash = strrchr(path, '/');
  const char *folder = slash == path ? "/" : arena_copy_text(arena, path, (size_t)(slash - path));
  if (realpath(folder, real) == NULL) return NULL;
  return arena_format(arena, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash + 1);
}

static const Original *find_original(const Originals *all, const char *path) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (strcmp(all->items[i].path, path) == 0) return &all->items[i];
  }
  return NULL;
}

static const Original *add_original(Originals *all, const char *path, bool has_folder, Diags *diags) {
  Original *item = &all->items[all->count];
  const char *name = strrchr(path, '/') + 1;
  bool is_name = name[0] != '\0' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
  if (!is_name || strlen(path) + ORIGINAL_ENDING > APP_PATH || all->count == ORIGINALS_MOST) {
    diags_add(diags, path, 0, 0, is_name ? "the path is too long, or there are too many links" : "is a folder, not a file");
    return NULL;
  }
  *item = (Original){.path = path, .kind = has_folder ? ORIGINAL_IN_PLACE : ORIGINAL_ABSENT, .lock = -1};
  if (has_folder && !claim(item, diags)) return NULL;
  if (has_folder && !recover(all, item, diags)) {
    close(item->lock); // all that is there is needed once more
    return NULL;
  }
  all->count++;
  return !has_folder || move_away(item, all->arena, diags) ? item : NULL;
}

bool originals_take(Originals *all, const char *path, Diags *diags) {
  for (uint32_t i = 0; i < MOST_LINKS; i++) {
    const char *place = place_of(all->arena, path);
    const Original *item = find_original(all, place == NULL ? path : place);
    if (item == NULL) item = add_original(all, place == NULL ? path : place, place != NULL, diags);
    if (item == NULL || item->kind != ORIGINAL_LINK) return item != NULL;
    const char *slash = strrchr(item->path, '/');
    path = item->link[0] == '/' ? item->link : arena_format(all->arena, "%.*s/%s", (int)(slash - item->path), item->path, item->link);
  }
  return diags_add(diags, path, 0, 0, "leads from link to link");
}

// ---- Before a run ----------------------------------------------------------------------------------

static bool copy_original(const Original *item) {
  char path[APP_PATH];
  struct stat info;
  int from = open(beside(item, "original", path), O_RDONLY | O_CLOEXEC);
  int to = from < 0 ? -1 : open(item->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool good = to >= 0 && fstat(from, &info) == 0 && app_copy_bytes(from, to, info.st_size);
  if (good && fchown(to, info.st_uid, info.st_gid) != 0) errno = 0; // only root can give files away
  good = good && fchmod(to, info.st_mode & 07777) == 0 && futimens(to, (struct timespec[2]){info.st_atim, info.st_mtim}) == 0;
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  return good;
}

// A folder that the program itself makes is there from its first run on.
static void claim_late(Original *item) {
  Diags ignored = {0};
  const char *slash = strrchr(item->path, '/');
  char folder[APP_PATH];
  snprintf(folder, sizeof folder, "%.*s", (int)(slash - item->path), item->path);
  if (is_there(folder)) claim(item, &ignored); // without it, the program is never forked
  diags_free(&ignored);
}

bool originals_place(Originals *all) {
  bool good = true;
  for (uint32_t i = 0; i < all->count && good; i++) {
    Original *item = &all->items[i];
    if (item->lock < 0) claim_late(item);
    good = unlink(item->path) == 0 || errno == ENOENT || errno == ENOTDIR;
    if (good && item->kind == ORIGINAL_FILE) good = copy_original(item);
    if (good && item->kind == ORIGINAL_LINK) good = symlink(item->link, item->path) == 0;
  }
  return good;
}

// ---- Afterwards ------------------------------------------------------------------------------------

void originals_give_back(Originals *all) {
  char path[APP_PATH];
  for (uint32_t i = 0; i < all->count; i++) {
    Original *item = &all->items[i];
    bool is_away = item->kind == ORIGINAL_FILE || item->kind == ORIGINAL_LINK;
    if (item->kind == ORIGINAL_ABSENT) unlink(item->path);
    if (is_away && rename(beside(item, "original", path), item->path) != 0) {
      say(all, "%s: cannot be put back: %s. It is kept as %s", item->path, strerror(errno), path);
      if (item->lock >= 0) close(item->lock);
      continue;
    }
    release(item);
  }
  all->count = 0;
}
