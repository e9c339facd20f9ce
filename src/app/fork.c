// A process for a fault, made inside the CUDA program's process at the fault's moment. It has all of the program's memory for
// nothing; what the two would share, files, is taken apart here, so that neither sees what the other does afterwards:
//   - standard output, and the output files that the user names: copies under names that the campaign judges;
//   - other files open for writing: copies without a name; for reading: opened once more; all at the same place in the file.
// What cannot be taken apart (pipes, sockets, memory shared with others, other threads) means that there is no such process.
//
// It is made by way of a process in between, which takes the files apart and ends: the campaign's process adopts it then, sees its end, and the
// program never has a child that it does not know. Nothing here may use malloc: the program's addresses stay what they are.
#include "app/app.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FILES = 256, MOST_COPIES = ORIGINALS_MOST + 64 };
enum { KEPT_FLAGS = O_ACCMODE | O_APPEND | O_NONBLOCK | O_SYNC | O_DIRECT | O_NOATIME }; // of open files

typedef struct OpenFile {
  int number, flags, own_flags; // own: of the number, not of the open file
  off_t at;
  struct stat info;
} OpenFile;

typedef struct Copy { // of a file that can be written
  dev_t device;
  ino_t inode;
  int number; // open for reading and writing
} Copy;

typedef struct Parting {
  OpenFile files[MOST_FILES];
  uint32_t file_count;
  Copy copies[MOST_COPIES];
  uint32_t copy_count;
} Parting;

// ---- What is shared --------------------------------------------------------------------------------

static bool has_one_thread(void) {
  char bytes[4096];
  int status = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  ssize_t got = status < 0 ? 0 : read(status, bytes, sizeof bytes - 1);
  if (status >= 0) close(status);
  bytes[got > 0 ? got : 0] = '\0';
  const char *threads = strstr(bytes, "\nThreads:");
  return threads != NULL && atoi(threads + strlen("\nThreads:")) == 1;
}

// The program would have children that it has not made.
static bool adopts_others(void) {
  int adopts = 0;
  return prctl(PR_GET_CHILD_SUBREAPER, &adopts) != 0 || adopts != 0;
}

// One line of /proc/self/maps: "7f00-7f10 rw-s ...". The exchange is meant to be shared.
static bool is_private(const char *line, const AppExchange *exchange) {
  char *end;
  uint64_t first = strtoull(line, &end, 16);
  const char *rights = strchr(end, ' ');
  return rights == NULL || rights[2] != 'w' || rights[4] != 's' || first == (uint64_t)(uintptr_t)exchange;
}

// Does the process share memory that it can write?
static bool has_private_memory(const AppExchange *exchange) {
  char bytes[4096];
  size_t kept = 0;
  bool all = true, skipping = false; // the rest of a line that is longer than the buffer
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t got; maps >= 0 && (got = read(maps, bytes + kept, sizeof bytes - 1 - kept)) > 0;) {
    kept += (size_t)got;
    bytes[kept] = '\0';
    char *line = bytes;
    for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
      all = all && (skipping || is_private(line, exchange));
      skipping = false;
    }
    kept -= (size_t)(line - bytes);
    memmove(bytes, line, kept);
    if (kept < sizeof bytes - 1) continue;
    all = all && (skipping || is_private(bytes, exchange));
    skipping = true;
    kept = 0;
  }
  if (maps >= 0) close(maps);
  return maps >= 0 && all;
}

static bool add_file(Parting *at, int number) {
  if (at->file_count == MOST_FILES) return false;
  OpenFile *file = &at->files[at->file_count];
  *file = (OpenFile){.number = number, .flags = fcntl(number, F_GETFL), .own_flags = fcntl(number, F_GETFD)};
  if (file->flags < 0 || fstat(number, &file->info) != 0) return false;
  if ((file->flags & O_PATH) != 0 || S_ISCHR(file->info.st_mode)) return true;
  if (!S_ISREG(file->info.st_mode) && !S_ISDIR(file->info.st_mode)) return false;
  file->at = lseek(number, 0, SEEK_CUR);
  at->file_count++;
  return file->at >= 0;
}

static bool list_files(Parting *at) {
  _Alignas(struct dirent64) char bytes[4096];
  int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool good = folder >= 0;
  for (ssize_t got; good && (got = getdents64(folder, bytes, sizeof bytes)) > 0;) {
    for (ssize_t i = 0; i < got && good;) {
      const struct dirent64 *entry = (const struct dirent64 *)(const void *)(bytes + i);
      int number = atoi(entry->d_name);
      bool is_number = entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
      if (is_number && number != folder) good = add_file(at, number);
      i += entry->d_reclen;
    }
  }
  if (folder >= 0) close(folder);
  return good;
}

// ---- Copies ----------------------------------------------------------------------------------------

// Keeps a copy of the file open; takes `new`, the file that becomes it. False: it cannot be made.
static bool add_copy(Parting *at, const char *from, int new) {
  int old = open(from, O_RDONLY | O_CLOEXEC);
  struct stat info;
  bool good = old >= 0 && new >= 0 && at->copy_count < MOST_COPIES &&fstat(old, &info) == 0 && app_copy_bytes(old, new, info.st_size) &&
              fchmod(new, info.st_mode & 07777) == 0;
  if (old >= 0) close(old);
  if (good) at->copies[at->copy_count++] = (Copy){info.st_dev, info.st_ino, new};
  else if (new >= 0) close(new);
  return good;
}

static const Copy *find_copy(const Parting *at, const struct stat *info) {
  for (uint32_t i = 0; i < at->copy_count; i++) {
    if (at->copies[i].device == info->st_dev && at->copies[i].inode == info->st_ino) return &at->copies[i];
  }
  return NULL;
}

// An output file, or a link to one: the forking process's moves aside.
static bool part_kept(Parting *at, const char *path) {
  char aside[APP_PATH], link[APP_PATH];
  struct stat info;
  if (lstat(path, &info) != 0) return errno == ENOENT || errno == ENOTDIR;
  ssize_t length = readlink(path, link, sizeof link - 1);
  if (rename(path, app_aside(path, aside)) != 0) return false;
  if (length < 0) return add_copy(at, aside, open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  link[length] = '\0';
  return symlink(link, path) == 0;
}

// The files that are judged, whether the program has them open now or not.
static bool copy_judged(Parting *at, const AppExchange *exchange, uint32_t place) {
  char path[APP_FILE_PATH];
  int output = open(app_file_path(exchange->campaign, exchange->runs[place].output, path), O_RDWR | O_TRUNC | O_CLOEXEC);
  bool good = add_copy(at, app_file_path(exchange->campaign, exchange->runs[0].output, path), output);
  for (uint32_t i = 0; i < exchange->kept_count && good; i++) good = part_kept(at, exchange->kept[i]);
  return good;
}

static bool copy_written(Parting *at, const AppExchange *exchange) {
  char from[APP_FILE_PATH];
  for (uint32_t i = 0; i < at->file_count; i++) {
    const OpenFile *file = &at->files[i];
    if ((file->flags & O_ACCMODE) == O_RDONLY || find_copy(at, &file->info) != NULL) continue;
    snprintf(from, sizeof from, "/proc/self/fd/%d", file->number);
    if (!add_copy(at, from, app_temporary(exchange->temporary))) return false;
  }
  return true;
}

// Numbers that share one open file share their place in it. It cannot be asked for, but then they are all alike.
static const OpenFile *find_twin(const Parting *at, uint32_t index) {
  const OpenFile *file = &at->files[index];
  for (uint32_t i = 0; i < index; i++) {
    const OpenFile *other = &at->files[i];
    bool same = other->info.st_dev == file->info.st_dev && other->info.st_ino == file->info.st_ino;
    if (same && other->flags == file->flags && other->at == file->at) return other;
  }
  return NULL;
}

static bool replace_file(const Parting *at, uint32_t index) {
  const OpenFile *file = &at->files[index], *twin = find_twin(at, index);
  int close_on_exec = (file->own_flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0;
  if (twin != NULL) return dup3(twin->number, file->number, close_on_exec) == file->number;
  const Copy *copy = find_copy(at, &file->info);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", copy != NULL ? copy->number : file->number);
  int new = open(path, (file->flags & KEPT_FLAGS) | O_CLOEXEC);
  bool good = new >= 0 && lseek(new, file->at, SEEK_SET) == file->at &&dup3(new, file->number, close_on_exec) == file->number;
  if (new >= 0) close(new);
  return good;
}

static bool part_files(const AppExchange *exchange, uint32_t place) {
  Parting at = {0};
  bool good = list_files(&at) && copy_judged(&at, exchange, place) && copy_written(&at, exchange);
  for (uint32_t i = 0; i < at.file_count && good; i++) good = replace_file(&at, i);
  for (uint32_t i = 0; i < at.copy_count; i++) close(at.copies[i].number);
  return good;
}

// ---- Processes -------------------------------------------------------------------------------------

// As if nothing had happened: the forking process has its output files, and the place is free.
static void give_up(AppExchange *exchange) {
  char aside[APP_PATH];
  for (uint32_t i = 0; i < exchange->kept_count; i++) rename(app_aside(exchange->kept[i], aside), exchange->kept[i]);
  sem_post(&exchange->room);
}

// In the new process. The campaign adopts it as soon as the process in between has ended, and takes it along if it is killed. If another
// process of the program adopts it, the campaign would not see its end: it is as if it had never been.
static void join_campaign(AppExchange *exchange, uint32_t place, pid_t between) {
  setrlimit(RLIMIT_CPU, &(struct rlimit){exchange->cpu_seconds, exchange->cpu_seconds + 5});
  app_mark(exchange->campaign, place);
  while (getppid() == between) nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == exchange->campaign) return;
  exchange->runs[place].pid = 0;
  give_up(exchange);
  _exit(1);
}

// In the process in between, for which the forking one waits: files are what they are at this moment, and the other process's
// number is there before anybody can see it end.
static AppRun *fork_again(AppExchange *exchange, AppRun *run, uint32_t place) {
  bool parted = has_private_memory(exchange) && part_files(exchange, place);
  pid_t between = getpid(), pid = parted ? fork() : -1;
  if (pid == 0) {
    join_campaign(exchange, place, between);
    return run;
  }
  if (pid > 0) run->pid = pid;
  else give_up(exchange);
  _exit(0);
}

// The campaign's process makes room. It ends this one if nothing more happens; if itself has ended, there is no reason to go on.
static void wait_for_room(AppExchange *exchange) {
  enum { LOOK_UP_SECONDS = 1 };
  struct timespec until;
  do {
    if (kill(exchange->campaign, 0) != 0 && errno == ESRCH) _exit(1);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOK_UP_SECONDS;
  } while (sem_clockwait(&exchange->room, CLOCK_MONOTONIC, &until) < 0);
}

// The program hears nothing of a child that it never made: SIGCHLD is blocked meanwhile.
static AppRun *fork_unheard(AppExchange *exchange, AppRun *run, uint32_t place) {
  sigset_t child, mask, pending;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &mask);
  bool was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGCHLD) == 1;
  AppRun *own = NULL;
  pid_t pid = fork();
  if (pid == 0) own = fork_again(exchange, run, place);
  else if (pid < 0) sem_post(&exchange->room);
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (pid > 0 && WIFSIGNALED(status) && run->pid == 0) give_up(exchange); // somebody has killed it
  if (pid > 0 && !was_pending) sigtimedwait(&child, NULL, &(struct timespec){0});
  sigprocmask(SIG_SETMASK, &mask, NULL);
  return own;
}

AppRun *app_fork(AppExchange *exchange, uint32_t draw) {
  if (exchange->stopped != 0 || !has_one_thread() || (getpid() != exchange->campaign && adopts_others())) return NULL;
  wait_for_room(exchange);
  uint32_t place = 1;
  while (place < exchange->place_count && exchange->runs[place].pid != 0) place++;
  AppRun *run = &exchange->runs[place];
  *run = (AppRun){.draw = draw, .inside = exchange->runs[0].inside, .output = run->output};
  AppRun *own = fork_unheard(exchange, run, place);
  if (own != NULL || exchange->kept_count == 0) return own;
  wait_for_room(exchange); // who writes the files that are judged writes alone
  sem_post(&exchange->room);
  return NULL;
}

const char *app_aside(const char *output, char path[APP_PATH]) {
  snprintf(path, APP_PATH, "%s" APP_FOLDER "/aside", output);
  return path;
}
