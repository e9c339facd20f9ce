// Which pages have been touched stands in /proc/self/pagemap; see pages.h.
#include "machine/pages.h"
#include "base/base.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_PAGES = 1024 }; // asked for at a time
#define IS_THERE (UINT64_C(3) << 62)     // in memory or in the swap

static const uint8_t zeros[PAGE];

// Pages that were only read are all the same one: they are left alone, too.
static void zero_those_there(uint8_t *at, size_t bytes, const uint64_t *entries, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t part = min_u64(bytes - i * PAGE, PAGE);
    if ((entries[i] & IS_THERE) != 0 && memcmp(at + i * PAGE, zeros, part) != 0) memset(at + i * PAGE, 0, part);
  }
}

void pages_zero(uint8_t *at, size_t bytes) {
  uint64_t entries[MOST_PAGES];
  int pagemap = sysconf(_SC_PAGESIZE) == PAGE ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
  size_t done = 0;
  while (pagemap >= 0 && done < bytes) {
    size_t count = min_u64((bytes - done + PAGE - 1) / PAGE, MOST_PAGES), wanted = count * sizeof entries[0];
    if (pread(pagemap, entries, wanted, (off_t)((uintptr_t)(at + done) / PAGE * sizeof entries[0])) != (ssize_t)wanted) break;
    zero_those_there(at + done, bytes - done, entries, count);
    done += min_u64(count * PAGE, bytes - done);
  }
  if (pagemap >= 0) close(pagemap);
  if (done < bytes) memset(at + done, 0, bytes - done);
}
