// Keeps one stretch of memory as another is: what has changed in either since the last time is copied, and nothing else.
#ifndef REDOUBT_MIRROR_H
#define REDOUBT_MIRROR_H

#include "base/base.h"
#include "machine/pages.h"

enum { MIRROR_PAGE = 4096, MIRROR_PIECE = 256 }; // the host tells which pages were written; pieces of them that differ are copied

typedef struct Mirror Mirror;
// Both stretches begin and end at multiples of MIRROR_PAGE, and stay where they are for as long as the mirror lives.
Mirror *mirror_new(uint8_t *to, const uint8_t *from, size_t bytes);
void mirror_free(Mirror *mirror);                                                              // NULL: nothing
bool mirror_is_of(const Mirror *mirror, const uint8_t *to, const uint8_t *from, size_t bytes); // false for NULL
// False: what has changed is not known, at first and where the kernel does not tell. Then whoever calls makes the two equal and says so by
// mirror_start.
bool mirror_copy(Mirror *mirror);
void mirror_start(Mirror *mirror);
// What is known of the pages of `to`. False: nothing. It stays until the next call of anything here.
bool mirror_pages(Mirror *mirror, WatchedPages *pages); // false for NULL
size_t mirror_copied(const Mirror *mirror);             // bytes, by the last mirror_copy

#endif
