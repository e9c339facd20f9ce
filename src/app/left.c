// Processes that a run of a program leaves behind: children in the background, servers that left its session. They are found by a mark that
// processes hand down to all that they start, whatever else they change of themselves: the limit of file locks, which Linux keeps for every
// process and has not looked at since version 2.4.
#include "app/app.h"
#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ROUNDS = 1000, ROUND_NS = 1000000, SEAT_BITS = 16, CAMPAIGN_BITS = 32 };
static const uint64_t MARK = UINT64_C(0x5ED0) << (SEAT_BITS + CAMPAIGN_BITS);

static uint64_t mark_of(pid_t campaign, uint32_t seat) { return MARK | (uint64_t)(uint32_t)campaign << SEAT_BITS | seat; }

void app_mark(pid_t campaign, uint32_t seat) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_LOCKS, &limit) != 0 || limit.rlim_max < mark_of(campaign, seat)) return;
  limit.rlim_cur = mark_of(campaign, seat);
  setrlimit(RLIMIT_LOCKS, &limit);
}

uint32_t app_seat(pid_t campaign) {
  struct rlimit limit;
  bool is_marked = getrlimit(RLIMIT_LOCKS, &limit) == 0 && limit.rlim_cur >> SEAT_BITS == mark_of(campaign, 0) >> SEAT_BITS;
  return is_marked ? limit.rlim_cur & UINT16_MAX : 0;
}

// Whose end nobody has asked for yet: it runs no more.
static bool is_zombie(pid_t pid) {
  char text[512];
  if (!process_about(pid, "stat", text, sizeof text)) return true;
  const char *name_end = strrchr(text, ')'); // a name may hold anything
  return name_end == NULL || name_end[1] == '\0' || name_end[2] == 'Z' || name_end[2] == 'X';
}

static bool is_gone(pid_t pid) { return kill(pid, 0) != 0 && errno == ESRCH; }

// Process numbers mean the same there: it is not in a container of its own, whose campaign would not be found here.
static bool is_of_this_world(pid_t pid) {
  char path[32], here[64], there[64];
  snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)pid);
  ssize_t length = readlink("/proc/self/ns/pid", here, sizeof here);
  return length > 0 && readlink(path, there, sizeof there) == length && memcmp(here, there, (size_t)length) == 0;
}

// Of one run, or of all runs of campaigns that are no more.
typedef struct Wanted {
  pid_t campaign; // 0: any that is gone
  uint32_t seat;
} Wanted;

static bool is_wanted(const Wanted *wanted, pid_t pid, uint64_t mark) {
  if (wanted->campaign != 0) return mark == mark_of(wanted->campaign, wanted->seat);
  bool is_mark = mark >> (SEAT_BITS + CAMPAIGN_BITS) == MARK >> (SEAT_BITS + CAMPAIGN_BITS);
  return is_mark && (mark & UINT16_MAX) != APP_SLOT_RUN && is_gone((pid_t)(mark >> SEAT_BITS & UINT32_MAX)) && is_of_this_world(pid);
}

// How many were found alive.
static uint32_t end_found(const Wanted *wanted) {
  uint32_t count = 0;
  DIR *all = opendir("/proc");
  for (const struct dirent *entry; all != NULL && (entry = readdir(all)) != NULL;) {
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    struct rlimit limit;
    if (pid <= 0 || pid == getpid() || prlimit(pid, RLIMIT_LOCKS, NULL, &limit) != 0 || !is_wanted(wanted, pid, limit.rlim_cur)) continue;
    if (!is_zombie(pid)) {
      kill(pid, SIGKILL);
      count++;
    }
    waitpid(pid, NULL, WNOHANG); // if it has become a child of this process
  }
  if (all != NULL) closedir(all);
  return count;
}

// They may be starting others just now: until none is found.
static uint32_t end_all(const Wanted *wanted) {
  uint32_t first = end_found(wanted);
  for (uint32_t i = 0, left = first; left > 0 && i < MOST_ROUNDS; i++) {
    nanosleep(&(struct timespec){.tv_nsec = ROUND_NS}, NULL);
    left = end_found(wanted);
  }
  return first;
}

uint32_t app_end_left(pid_t campaign, uint32_t seat) { return end_all(&(Wanted){campaign, seat}); }
uint32_t app_end_orphans(void) { return end_all(&(Wanted){0}); }
