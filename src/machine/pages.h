// Large stretches of memory whose pages the kernel gives out when they are first touched.
#ifndef REDOUBT_MACHINE_PAGES_H
#define REDOUBT_MACHINE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOST_PAGE = 4096, PAGES_AT_ONCE = 4096 }; // known at a time

// Which pages of private anonymous memory may hold anything but zeros. Pages that were never touched are zero and are never read.
typedef struct TouchedPages {
  const uint8_t *at; // start of the first page
  size_t pages;
  int file;     // -1: not known, all may
  size_t first; // entries of pages from this one on
  size_t count;
  uint64_t entries[PAGES_AT_ONCE];
} TouchedPages;
void touched_begin(TouchedPages *touched, const uint8_t *at, size_t bytes); // of all pages with bytes of it
bool touched_page(TouchedPages *touched, size_t page);                      // asked for in ascending order, again and again
void touched_end(TouchedPages *touched);

// What somebody who watches some memory knows of its pages, as bits; and hashes of those that have not been written since he looked last.
typedef struct WatchedPages {
  const uint64_t *touched, *written; // since hashes were kept
  uint64_t *hashed;                  // pages whose hash is kept
  uint64_t *hashes;                  // by page; 0: all zero
} WatchedPages;
static inline bool page_is_in(const uint64_t *bits, size_t page) { return (bits[page / 64] >> page % 64 & 1) != 0; }

// Copies what differs. Both begin at the start of a page.
void pages_copy(uint8_t *to, const uint8_t *from, size_t bytes);
// Zeroes a stretch of private anonymous memory, whose start is that of a page. Pages that were never touched are zero already and stay untouched.
void pages_zero(uint8_t *at, size_t bytes);
void pages_zero_part(uint8_t *at, size_t bytes); // the same of a stretch that begins anywhere

#endif
