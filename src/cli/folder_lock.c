// See folder_lock.h.
#include "cli/folder_lock.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 100 };

int folder_lock(const char *folder, uint64_t place) {
  Text path = {0};
  text_add(&path, "%s/lock", folder);
  int file = open(path.at, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  text_free(&path);
  if (file < 0) return LOCK_UNKNOWN;
  struct flock wish = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)place, .l_len = 1};
  if (fcntl(file, F_OFD_SETLK, &wish) == 0) return file;
  bool is_held = errno == EAGAIN || errno == EACCES;
  close(file);
  return is_held ? LOCK_HELD : LOCK_UNKNOWN;
}

int folder_lock_wait(const char *folder, uint64_t place, bool quiet) {
  int lock = folder_lock(folder, place);
  if (lock == LOCK_HELD) message_note(quiet, "%s: another study is at work there; waiting for it", folder);
  while (lock == LOCK_HELD) {
    nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    lock = folder_lock(folder, place);
  }
  return lock;
}

void folder_unlock(int lock) {
  if (lock >= 0) close(lock);
}
