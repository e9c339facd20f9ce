// The files that users name with --output. Runs of the program change them, and afterwards they are what they were, however the campaign
// ends. The user's file itself, not a copy, waits in a folder beside its place:
//   FILE.redoubt/lock      locked as long as the campaign lives; a free lock means that it was killed
//   FILE.redoubt/original  the file or link
//   FILE.redoubt/absent    in place of it: there was no such file
//   FILE.redoubt/aside     the forking process's file, while one that it forked has its own (fork.c)
// Of a link, both the link and the file it leads to are kept. Whoever names the file next puts back what a killed campaign has left.
#ifndef REDOUBT_APP_ORIGINALS_H
#define REDOUBT_APP_ORIGINALS_H

#include "base/base.h"

enum { ORIGINALS_MOST = 64, ORIGINAL_ENDING = 32 }; // files and links; bytes that names of the folder's files are longer

typedef enum OriginalKind {
  ORIGINAL_IN_PLACE, // not moved yet
  ORIGINAL_ABSENT,
  ORIGINAL_FILE,
  ORIGINAL_LINK,
} OriginalKind;

typedef struct Original {
  const char *path; // absolute
  OriginalKind kind;
  const char *link; // its text
  int lock;         // -1: the path's folder is not there
  bool is_own;      // the folder beside it was not there before
} Original;

typedef struct Originals {
  Original items[ORIGINALS_MOST];
  uint32_t count;
  Arena *arena;
  void (*say)(void *context, const char *text); // to the user; NULL: nobody listens
  void *context;
} Originals;

// Moves the file at this absolute path into safety. False: it stays where it is. Either way originals_give_back must follow.
bool originals_take(Originals *all, const char *path, Diags *diags);
bool originals_place(Originals *all);     // before each run: every path holds what the user has, or a copy of it; false: see errno
void originals_give_back(Originals *all); // says what cannot be given back, and where it is then

#endif
