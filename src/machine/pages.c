// Which pages have been touched stands in /proc/self/pagemap; see pages.h.
#include "machine/pages.h"
#include "base/base.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define IS_THERE (UINT64_C(3) << 62) // in memory or in the swap

static const uint8_t zeros[HOST_PAGE];

void touched_begin(TouchedPages *touched, const uint8_t *at, size_t bytes) {
  size_t before = (uintptr_t)at % HOST_PAGE;
  touched->at = at - before;
  touched->pages = (before + bytes + HOST_PAGE - 1) / HOST_PAGE;
  touched->file = sysconf(_SC_PAGESIZE) == HOST_PAGE ? open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC) : -1;
  touched->first = touched->count = 0;
}

void touched_end(TouchedPages *touched) {
  if (touched->file >= 0) close(touched->file);
  touched->file = -1;
}

static void read_entries(TouchedPages *touched, size_t page) {
  size_t count = min_u64(touched->pages - page, PAGES_AT_ONCE), wanted = count * sizeof touched->entries[0];
  off_t place = (off_t)(((uintptr_t)touched->at / HOST_PAGE + page) * sizeof touched->entries[0]);
  touched->first = page;
  touched->count = count;
  if (pread(touched->file, touched->entries, wanted, place) != (ssize_t)wanted) touched_end(touched);
}

bool touched_page(TouchedPages *touched, size_t page) {
  bool is_known = page >= touched->first && page < touched->first + touched->count;
  if (touched->file >= 0 && !is_known) read_entries(touched, page);
  return touched->file < 0 || (touched->entries[page - touched->first] & IS_THERE) != 0;
}

// Pages that were only read are all the same one: they are left alone, too.
void pages_copy(uint8_t *to, const uint8_t *from, size_t bytes) {
  TouchedPages of_to, of_from;
  touched_begin(&of_to, to, bytes);
  touched_begin(&of_from, from, bytes);
  for (size_t page = 0; page < of_to.pages; page++) {
    size_t at = page * HOST_PAGE, part = min_u64(bytes - at, HOST_PAGE);
    const uint8_t *now = touched_page(&of_to, page) ? to + at : zeros, *wanted = touched_page(&of_from, page) ? from + at : zeros;
    if (now != wanted && memcmp(now, wanted, part) != 0) memcpy(to + at, wanted, part);
  }
  touched_end(&of_to);
  touched_end(&of_from);
}

void pages_zero(uint8_t *at, size_t bytes) {
  TouchedPages touched;
  touched_begin(&touched, at, bytes);
  for (size_t page = 0; page < touched.pages; page++) {
    uint8_t *start = at + page * HOST_PAGE;
    size_t part = min_u64(bytes - page * HOST_PAGE, HOST_PAGE);
    if (touched_page(&touched, page) && memcmp(start, zeros, part) != 0) memset(start, 0, part);
  }
  touched_end(&touched);
}

void pages_zero_part(uint8_t *at, size_t bytes) {
  size_t lead = min_u64((HOST_PAGE - (uintptr_t)at % HOST_PAGE) % HOST_PAGE, bytes);
  memset(at, 0, lead);
  pages_zero(at + lead, bytes - lead);
}
