// Linux tells which pages were written: userfaultfd protects them from writing, lifts that by itself at the first write of each (WP_ASYNC), and
// an ioctl of /proc/self/pagemap lists those without protection. It is there from Linux 6.7 on, if the process may call userfaultfd. Where it is not,
// or where somebody else has the pages watched already, changes are not known.
//
// A protected page costs a page fault at its first write: half a microsecond or so, on virtual hosts two, against a quarter to compare it. So pages that
// were written before each of the last copies are *hot*: they are no longer protected, and count as written each time. That is always right,
// since a page that counts as written is looked at. One in which nothing has differed for a while is protected again.
#include "machine/mirror.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// As <linux/userfaultfd.h> and <linux/fs.h> have them from Linux 6.7 on; older headers do not.
enum {
  USER_MODE_ONLY = 1,
  WP_UNPOPULATED = 1 << 13,
  WP_ASYNC = 1 << 15,
  IS_WRITTEN = 1 << 1,        // PAGE_IS_WRITTEN
  FAIL_IF_UNWATCHED = 1 << 1, // PM_SCAN_CHECK_WPASYNC
  MOST_STRETCHES = 1024,      // listed at a time
  HOT_FROM = 3,               // copies in a row before each of which a page was written: it becomes hot
  COLD_FROM = 16,             // copies in a row that found nothing to copy in a hot page: it is so no more
  WORD_BITS = 64,
};
typedef struct Stretch { // struct page_region
  uint64_t start, end, categories;
} Stretch;
typedef struct Scan { // struct pm_scan_arg
  uint64_t size, flags, start, end, walk_end, stretches, stretch_count, most_pages, inverted, mask, anyof_mask, return_mask;
} Scan;
#define PAGEMAP_SCAN_IOCTL _IOWR('f', 16, Scan)

struct Mirror {
  uint8_t *to;
  const uint8_t *from;
  size_t bytes, copied;
  int watcher, pagemap; // files; -1: none
  bool is_watched;      // both stretches, since the last copy
  uint64_t *changed;    // bit i: page i
  uint64_t *touched;    // pages of `to` that may not be zero, as far as they were listed
  uint64_t *written;    // since the last copy, likewise
  uint64_t *hot;        // pages that are not protected: they count as changed and written
  uint8_t *streak;      // by page: copies in a row, see HOT_FROM and COLD_FROM
  uint64_t *hashed;     // pages of `to` whose hash, as of the last copy, is in `hashes`
  uint64_t *hashes;
};

static size_t words_for(size_t bytes) { return bytes / MIRROR_PAGE / WORD_BITS + 1; }

// ---- Watching ----------------------------------------------------------------------------------------
static bool open_files(Mirror *mirror) {
  mirror->watcher = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
  mirror->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API, .features = WP_ASYNC | WP_UNPOPULATED};
  return mirror->watcher >= 0 && mirror->pagemap >= 0 && ioctl(mirror->watcher, UFFDIO_API, &api) == 0;
}

static bool watch(const Mirror *mirror, const uint8_t *at) {
  struct uffdio_register wanted = {.range = {(uintptr_t)at, mirror->bytes}, .mode = UFFDIO_REGISTER_MODE_WP};
  return ioctl(mirror->watcher, UFFDIO_REGISTER, &wanted) == 0;
}

static void unwatch(const Mirror *mirror, const uint8_t *at) {
  struct uffdio_range range = {(uintptr_t)at, mirror->bytes};
  ioctl(mirror->watcher, UFFDIO_UNREGISTER, &range);
}

static bool protect(const Mirror *mirror, const uint8_t *at, size_t bytes) {
  struct uffdio_writeprotect wanted = {.range = {(uintptr_t)at, bytes}, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  return ioctl(mirror->watcher, UFFDIO_WRITEPROTECT, &wanted) == 0;
}

static void mark(uint64_t *bits, const uint8_t *at, const Stretch *stretch) {
  uint64_t first = (stretch->start - (uintptr_t)at) / MIRROR_PAGE, end = (stretch->end - (uintptr_t)at) / MIRROR_PAGE;
  for (uint64_t page = first; page < end; page++) bits[page / WORD_BITS] |= UINT64_C(1) << page % WORD_BITS;
}

// Marks the pages that are not protected: they were written, or are hot.
static bool list_changes(const Mirror *mirror, const uint8_t *at, uint64_t *bits) {
  Stretch stretches[MOST_STRETCHES];
  uint64_t start = (uintptr_t)at, end = start + mirror->bytes;
  while (start < end) {
    Scan scan = {.size = sizeof scan, .flags = FAIL_IF_UNWATCHED, .start = start, .end = end};
    scan.stretches = (uintptr_t)stretches;
    scan.stretch_count = MOST_STRETCHES;
    scan.mask = scan.return_mask = IS_WRITTEN;
    int count = ioctl(mirror->pagemap, PAGEMAP_SCAN_IOCTL, &scan);
    if (count < 0 || scan.walk_end <= start) return false;
    for (int i = 0; i < count; i++) mark(bits, at, &stretches[i]);
    start = scan.walk_end;
  }
  return true;
}

// ---- Copying -----------------------------------------------------------------------------------------
// Most of a page that was written is as it was, or was written alike on both sides. Looking costs as much as copying, but what is not written
// stays clean in the host's caches, and a page of which nothing differs keeps its protection.
static bool copy_page(Mirror *mirror, size_t at) {
  size_t copied = mirror->copied;
  for (size_t end = at + MIRROR_PAGE; at < end; at += MIRROR_PIECE) {
    if (memcmp(mirror->to + at, mirror->from + at, MIRROR_PIECE) == 0) continue;
    memcpy(mirror->to + at, mirror->from + at, MIRROR_PIECE);
    mirror->copied += MIRROR_PIECE;
  }
  return mirror->copied > copied;
}

// A page that was looked at: how long has it been so?
static void note_page(Mirror *mirror, size_t page, bool differed) {
  uint64_t bit = UINT64_C(1) << page % WORD_BITS, *hot = &mirror->hot[page / WORD_BITS];
  bool is_hot = (*hot & bit) != 0;
  uint32_t streak = is_hot && differed ? 0 : mirror->streak[page] + 1u;
  if (streak >= (is_hot ? COLD_FROM : HOT_FROM)) {
    *hot ^= bit;
    streak = 0;
  }
  mirror->streak[page] = (uint8_t)streak;
}

static void copy_changed(Mirror *mirror) {
  size_t pages = mirror->bytes / MIRROR_PAGE;
  for (size_t page = 0; page < pages; page++) {
    if (page % WORD_BITS == 0 && mirror->changed[page / WORD_BITS] == 0) { // none of these
      size_t count = min_u64(WORD_BITS, pages - page);
      memset(mirror->streak + page, 0, count);
      page += count - 1;
    } else if (page_is_in(mirror->changed, page)) {
      note_page(mirror, page, copy_page(mirror, page * MIRROR_PAGE));
    } else {
      mirror->streak[page] = 0;
    }
  }
}

// Pages that were written are protected again on both sides, unless they are hot.
static bool protect_changed(const Mirror *mirror) {
  size_t pages = mirror->bytes / MIRROR_PAGE, end;
  bool good = true;
  for (size_t page = 0; page < pages && good; page = end) {
    for (end = page; end < pages && page_is_in(mirror->changed, end) && !page_is_in(mirror->hot, end);) end++;
    size_t at = page * MIRROR_PAGE, bytes = (end - page) * MIRROR_PAGE;
    good = bytes == 0 || (protect(mirror, mirror->from + at, bytes) && protect(mirror, mirror->to + at, bytes));
    if (bytes == 0) end++;
  }
  return good;
}

bool mirror_copy(Mirror *mirror) {
  mirror->copied = 0;
  if (!mirror->is_watched) return false;
  memcpy(mirror->changed, mirror->hot, words_for(mirror->bytes) * sizeof *mirror->changed);
  mirror->is_watched = list_changes(mirror, mirror->from, mirror->changed) && list_changes(mirror, mirror->to, mirror->changed);
  if (!mirror->is_watched) return false;
  copy_changed(mirror);
  mirror->is_watched = protect_changed(mirror);
  for (size_t word = 0; word < words_for(mirror->bytes); word++) {
    mirror->touched[word] |= mirror->changed[word];
    mirror->hashed[word] &= ~mirror->changed[word];
  }
  return true;
}

// Protected pages look touched: those that are must be known before.
static void note_touched(Mirror *mirror) {
  TouchedPages touched;
  touched_begin(&touched, mirror->to, mirror->bytes);
  for (size_t page = 0; page < touched.pages; page++) {
    if (touched_page(&touched, page)) mirror->touched[page / WORD_BITS] |= UINT64_C(1) << page % WORD_BITS;
  }
  touched_end(&touched);
}

void mirror_start(Mirror *mirror) {
  note_touched(mirror);
  memset(mirror->hashed, 0, words_for(mirror->bytes) * sizeof *mirror->hashed);
  memset(mirror->hot, 0, words_for(mirror->bytes) * sizeof *mirror->hot);
  memset(mirror->streak, 0, mirror->bytes / MIRROR_PAGE);
  mirror->is_watched = mirror->watcher >= 0 && protect(mirror, mirror->from, mirror->bytes) && protect(mirror, mirror->to, mirror->bytes);
}

bool mirror_pages(Mirror *mirror, WatchedPages *pages) {
  if (mirror == NULL || !mirror->is_watched) return false;
  memcpy(mirror->written, mirror->hot, words_for(mirror->bytes) * sizeof *mirror->written);
  if (!list_changes(mirror, mirror->to, mirror->written)) return false;
  for (size_t word = 0; word < words_for(mirror->bytes); word++) mirror->touched[word] |= mirror->written[word];
  *pages = (WatchedPages){mirror->touched, mirror->written, mirror->hashed, mirror->hashes};
  return true;
}

static uint64_t *numbers_new(size_t count) {
  uint64_t *numbers = calloc(count, sizeof *numbers);
  ASSERT(numbers != NULL);
  return numbers;
}

Mirror *mirror_new(uint8_t *to, const uint8_t *from, size_t bytes) {
  ASSERT(bytes > 0 && bytes % MIRROR_PAGE == 0 && (uintptr_t)to % MIRROR_PAGE == 0 && (uintptr_t)from % MIRROR_PAGE == 0);
  Mirror *mirror = calloc(1, sizeof *mirror);
  ASSERT(mirror != NULL);
  *mirror = (Mirror){.to = to, .from = from, .bytes = bytes};
  mirror->changed = numbers_new(words_for(bytes));
  mirror->touched = numbers_new(words_for(bytes));
  mirror->written = numbers_new(words_for(bytes));
  mirror->hot = numbers_new(words_for(bytes));
  mirror->streak = calloc(bytes / MIRROR_PAGE, 1);
  ASSERT(mirror->streak != NULL);
  mirror->hashed = numbers_new(words_for(bytes));
  mirror->hashes = numbers_new(bytes / MIRROR_PAGE);
  bool good = open_files(mirror) && watch(mirror, to);
  if (good && !watch(mirror, from)) {
    unwatch(mirror, to);
    good = false;
  }
  if (!good && mirror->watcher >= 0) {
    close(mirror->watcher);
    mirror->watcher = -1;
  }
  return mirror;
}

void mirror_free(Mirror *mirror) {
  if (mirror == NULL) return;
  if (mirror->watcher >= 0) {
    unwatch(mirror, mirror->to);
    unwatch(mirror, mirror->from);
    close(mirror->watcher);
  }
  if (mirror->pagemap >= 0) close(mirror->pagemap);
  free(mirror->changed);
  free(mirror->touched);
  free(mirror->written);
  free(mirror->hot);
  free(mirror->streak);
  free(mirror->hashed);
  free(mirror->hashes);
  free(mirror);
}

bool mirror_is_of(const Mirror *mirror, const uint8_t *to, const uint8_t *from, size_t bytes) {
  return mirror != NULL && mirror->to == to && mirror->from == from && mirror->bytes == bytes;
}

size_t mirror_copied(const Mirror *mirror) { return mirror->copied; }
