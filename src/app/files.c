// Files of campaigns on CUDA programs, for both sides of app.h. None of a campaign's own has a name, so none is left behind however it
// ends; the program's processes open them by way of the campaign's process. Nothing here uses malloc: fork.c says why.
#include "app/app.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int app_temporary(const char *folder) {
  char path[APP_PATH];
  int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) return file;
  int length = snprintf(path, sizeof path, "%s/redoubt-XXXXXX", folder); // not every file system has files without a name
  if (length < 0 || (size_t)length >= sizeof path) return -1;
  file = mkostemp(path, O_CLOEXEC);
  if (file >= 0) unlink(path);
  return file;
}

const char *app_file_path(pid_t owner, int number, char path[APP_FILE_PATH]) {
  snprintf(path, APP_FILE_PATH, "/proc/%d/fd/%d", (int)owner, number);
  return path;
}

bool app_file_put(const char *path, const void *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  size_t done = 0;
  for (ssize_t put = 1; file >= 0 && done < count && put > 0; done += put > 0 ? (size_t)put : 0)
    put = pwrite(file, (const uint8_t *)bytes + done, count - done, (off_t)done);
  return file >= 0 && close(file) == 0 && done == count;
}

bool app_file_get(const char *path, void *bytes, size_t count) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t done = 0;
  for (ssize_t got = 1; file >= 0 && done < count && got > 0; done += got > 0 ? (size_t)got : 0)
    got = pread(file, (uint8_t *)bytes + done, count - done, (off_t)done);
  return file >= 0 && close(file) == 0 && done == count;
}

bool app_copy_bytes(int from, int to, off_t bytes) {
  off_t at = 0;
  while (at < bytes) {
    ssize_t sent = sendfile(to, from, &at, (size_t)(bytes - at));
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
  }
  return true;
}
