// See progress.h. Everything goes to stderr; a frame is drawn over the one before it by moving the cursor up as many lines as that
// one had, so no line may be longer than the terminal is wide.
#include "cli/progress.h"

#include "journal/statistics.h"
#include "report/report.h"
#include "cli/cli.h"
#include "cli/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static const double FRAME_SECONDS = 0.5, LOG_SECONDS = 10; // between two frames: on a terminal, elsewhere

// ---- A frame -----------------------------------------------------------------------------------------

void duration_format(double seconds, Text *out) {
  uint64_t whole = seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 1000000000;
  if (whole < 100) text_add(out, "%" PRIu64 " s", whole);
  else if (whole < 3600) text_add(out, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
  else text_add(out, "%" PRIu64 " h %" PRIu64 " min", whole / 3600, whole / 60 % 60);
}

// By simulations where there are any left: faults that need none are settled at once, at the beginning.
static bool seconds_left(const ProgressView *view, double *seconds) {
  const CampaignProgress *progress = view->progress;
  if (progress->simulations > 0 && view->simulated == 0) return false;
  uint64_t ended = progress->simulations > 0 ? view->simulated : view->settled;
  uint64_t left = progress->simulations > 0 ? progress->simulations : progress->total - min_u64(progress->done, progress->total);
  if (ended == 0) return false;
  *seconds = view->seconds * (double)left / (double)ended;
  return true;
}

static void add_head(const ProgressView *view, Text *out) {
  const CampaignProgress *progress = view->progress;
  double share = progress->total == 0 ? 1 : (double)progress->done / (double)progress->total, left;
  text_add(out, "%" PRIu64 " of %" PRIu64 " faults (%.1f%%)", progress->done, progress->total, 100 * share);
  if (view->seconds > 0) text_add(out, ", %.0f/s", (double)view->settled / view->seconds);
  if (!view->ended && progress->checked < progress->checks) {
    text_add(out, ", self-check %" PRIu64 " of %" PRIu64, progress->checked, progress->checks);
  } else if (view->ended || progress->done >= progress->total) {
    text_add(out, ", took ");
    duration_format(view->seconds, out);
  } else if (seconds_left(view, &left)) {
    text_add(out, ", about ");
    duration_format(left, out);
    text_add(out, " left");
  }
  text_add(out, "\n");
}

// One line for each group of outcomes that has been seen. Counts are of all that is done, which is biased: what is quickly settled comes
// first. Shares are over the faults before the first that is not done.
static uint32_t add_outcomes(const ProgressView *view, Text *out) {
  const CampaignProgress *progress = view->progress;
  uint32_t lines = 0;
  for (uint32_t i = 0; i < OUTCOME_COUNT; i++) {
    bool is_first = true;
    uint64_t hits = 0, sampled = 0;
    for (uint32_t k = 0; k < OUTCOME_COUNT; k++) {
      if (strcmp(outcome_info[k].group, outcome_info[i].group) != 0) continue;
      is_first = is_first && k >= i;
      hits += progress->counts[k];
      sampled += progress->sample_counts[k];
    }
    if (!is_first || hits == 0) continue;
    text_add(out, "  %-12s %10" PRIu64, outcome_info[i].group, hits);
    Interval interval = wilson_interval(sampled, progress->sample, view->confidence);
    Estimate share = {progress->sample > 0, (double)sampled / (double)max_u64(progress->sample, 1), interval.low, interval.high};
    char text[ESTIMATE_TEXT];
    if (share.is_known) text_add(out, "  %s %%", estimate_text(share, AS_PERCENT, text));
    text_add(out, "\n");
    lines++;
  }
  return lines;
}

// The last column stays free: a character there makes some terminals begin a new line.
static void cut_lines(Text *lines, uint32_t columns, Text *out) {
  for (const char *line = lines->at; *line != '\0';) {
    size_t length = strcspn(line, "\n"), most = columns < 2 ? length : columns - 1;
    text_add_bytes(out, line, length < most ? length : most);
    text_add_bytes(out, "\n", 1);
    line += length + (line[length] == '\n');
  }
}

uint32_t progress_format(const ProgressView *view, Text *out) {
  Text lines = {0};
  add_head(view, &lines);
  uint32_t count = 1;
  if (view->progress->done > 0) {
    text_add(&lines, "  %-12s %10s %9s  (%sat %.4g%%, first %" PRIu64 " faults)\n", "outcome", "done", "share",
             view->of_used ? "of what is used, " : "", 100 * view->confidence, view->progress->sample);
    count += 1 + add_outcomes(view, &lines);
  }
  cut_lines(&lines, view->columns, out);
  text_free(&lines);
  return count;
}

// ---- The screen --------------------------------------------------------------------------------------

static uint32_t terminal_columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// What is drawn next takes the place of the frame.
static void clear_frame(ProgressScreen *screen) {
  if (screen->lines > 0) fprintf(stderr, "\033[%uA\r\033[J", screen->lines);
  screen->lines = 0;
}

static void draw(ProgressScreen *screen, const Text *text, uint32_t lines) {
  if (screen->terminal) clear_frame(screen);
  fputs(text->at, stderr);
  fflush(stderr);
  if (screen->terminal) screen->lines = lines;
}

static void show_frame(ProgressScreen *screen, bool ended, double now) {
  const CampaignProgress *progress = &screen->last;
  ProgressView view = {
      .progress = progress, .confidence = screen->options->confidence, .of_used = screen->options->from_used, .ended = ended};
  view.seconds = now - screen->faults_began;
  view.settled = progress->done - screen->done_before;
  view.simulated = screen->simulated;
  view.columns = screen->terminal ? terminal_columns() : 0;
  Text text = {0};
  uint32_t lines = progress_format(&view, &text);
  draw(screen, &text, lines);
  text_free(&text);
  screen->shown = now;
}

// A campaign of long runs must not look as if it did nothing.
static void show_golden(ProgressScreen *screen) {
  Text text = {0}, cut = {0};
  if (!screen->terminal) return;
  text_add(&text, "%s: running without faults ...\n", screen->target);
  cut_lines(&text, terminal_columns(), &cut);
  draw(screen, &cut, 1);
  text_free(&text);
  text_free(&cut);
}

// What the campaign will cost: said once, before the first simulation.
static void say_estimate(ProgressScreen *screen, const CampaignProgress *progress) {
  const CampaignOptions *options = screen->options;
  uint64_t total = progress->total;
  const char *most = options->faults == 0 ? "at most " : ""; // it ends when every interval is narrow enough
  double golden = (screen->faults_began - screen->began) / (options->prune ? 2 : 1), share = options->snapshot ? 0.5 : 1;
  Text text = {0};
  text_add(&text, "%s: %" PRIu64 " cycles, %.2f s for a run without faults\n", screen->target, progress->golden_cycles, golden);
  text_add(&text, "%s%" PRIu64 " faults, of which about %" PRIu64 " (%.1f%%) still need a simulation: %s", most, total,
           progress->simulations, total == 0 ? 0 : 100 * (double)progress->simulations / (double)total, most[0] == '\0' ? "about " : most);
  duration_format((double)progress->simulations * golden * share / options->jobs, &text);
  text_add(&text, "\n");
  if (progress->beyond > 0)
    text_add(&text,
             "%" PRIu64 " of the campaign's faults are beyond --faults %" PRIu64
             ": each structure that the protection adds gets as many as one of the machine\n",
             progress->beyond, options->faults);
  clear_frame(screen);
  fputs(text.at, stderr);
  text_free(&text);
}

// Loud, and at once: a campaign of hours should not end before anybody hears of it.
static void say_internal(ProgressScreen *screen, const CampaignProgress *progress) {
  uint64_t internal = progress->counts[OUTCOME_INTERNAL];
  if (internal > 0 && screen->internal == 0) {
    clear_frame(screen);
    message_error("INTERNAL ERROR: a simulation failed in Redoubt itself, not by its fault; the campaign goes on but will fail");
  }
  screen->internal = internal;
}

// ---- Ctrl-C, SIGTERM, SIGHUP -------------------------------------------------------------------------

// The first ends the campaign in order: it waits until the campaign asks for it between two faults, and simulations that run end by
// themselves. A second one is no longer held: it ends the process, which loses nothing that was reported done either. Where there is
// something to put in order first, whoever does that takes the second one.
static bool was_interrupted(ProgressScreen *screen) {
  if (screen->stopped_by != 0) return true;
  screen->stopped_by = interrupt_take();
  if (screen->stopped_by == 0) return false;
  if (!screen->keeps_holding) interrupt_release();
  if (screen->terminal) fprintf(stderr, "\r\033[Kstopping when what is running has ended; Ctrl-C again: at once\n");
  screen->lines = 0; // the last frame stays
  return true;
}

// ---- Told --------------------------------------------------------------------------------------------

void progress_open(ProgressScreen *screen, const char *target, const CampaignOptions *options) {
  const char *kind = getenv("TERM");
  screen->terminal = !screen->quiet && isatty(STDERR_FILENO) != 0 && (kind == NULL || strcmp(kind, "dumb") != 0);
  screen->target = target;
  screen->options = options;
}

static void count_simulations(ProgressScreen *screen, const CampaignProgress *progress) {
  if (progress->simulations < screen->expected) screen->simulated += screen->expected - progress->simulations;
  screen->expected = progress->simulations;
}

bool progress_told(void *context, const CampaignProgress *progress) {
  ProgressScreen *screen = context;
  double now = host_seconds();
  if (screen->began == 0) {
    screen->began = now;
    show_golden(screen);
  }
  if (progress->total > 0 && screen->faults_began == 0) {
    interrupt_hold(); // till now there was nothing to lose, and the runs without faults may be long
    screen->faults_began = now;
    screen->done_before = progress->done;
  }
  if (progress->is_expected && !screen->estimated && !screen->quiet) say_estimate(screen, progress);
  screen->estimated |= progress->is_expected;
  count_simulations(screen, progress);
  say_internal(screen, progress);
  bool is_time = now - screen->shown > (screen->terminal ? FRAME_SECONDS : LOG_SECONDS);
  screen->last = *progress;
  if ((screen->terminal || screen->wanted) && screen->stopped_by == 0 && progress->done > 0 && is_time) show_frame(screen, false, now);
  return !was_interrupted(screen);
}

void progress_close(ProgressScreen *screen) {
  if ((screen->terminal || screen->wanted) && screen->last.done > screen->done_before) show_frame(screen, true, host_seconds());
  screen->lines = 0;
}
