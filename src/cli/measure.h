// Several workloads measured, each in a process of its own, and tables of what they did: `redoubt run @SET`, `redoubt list workloads --traits`.
#ifndef REDOUBT_CLI_MEASURE_H
#define REDOUBT_CLI_MEASURE_H

#include "cli/run.h"

enum { MEASURED_MESSAGE_BYTES = 1024 };

typedef struct Measured {
  const Workload *workload;
  int code;          // as a run of it alone would end: an ExitCode
  uint32_t launches; // 0: it did not come so far
  LaunchRecord total;
  CheckResult check;
  char message[MEASURED_MESSAGE_BYTES]; // what it said on stderr
} Measured;

// Runs the list, up to `processes` of them at a time, and goes on when one fails. Results are in the list's order and do not depend on
// `processes`. The caller gives results->count = list->count of them back with measured_free. NULL, after a message: no memory, no process.
Measured *measure(RunOptions *options, const WorkloadList *list, uint32_t processes);
void measured_free(Measured *results, uint32_t count);
// Says on stderr which have failed and why. The exit code of all: that of the worst.
int measured_failures(const Measured *results, uint32_t count);

// ---- Tables (figures.c) ------------------------------------------------------------------------------
// What a column shows: a statistic, a ratio, or energy. Shares are told as percentages. Geometric means are made of counts, rates and energies, which
// scale with a program's size; arithmetic ones of everything else.
typedef enum FigureKind { FIGURE_COUNT, FIGURE_RATE, FIGURE_NUMBER, FIGURE_SHARE, FIGURE_ENERGY } FigureKind;
typedef struct Figure {
  const char *title; // over its column
  FigureKind kind;
  StatId stat;   // of FIGURE_COUNT
  RatioId ratio; // of all others but energies
  int digits;
  bool is_unknown;         // needs time, which the machine has not
  EnergyFigure energy;     // of FIGURE_ENERGY
  const PowerModel *power; // likewise
} Figure;
const char *figure_name(const Figure *figure); // of the statistic or ratio
// False: the run has no such ratio.
bool figure_value(const Figure *figure, const Stats *stats, double *value);
typedef enum MeanKind { MEAN_ARITHMETIC, MEAN_GEOMETRIC, MEAN_KINDS } MeanKind;
extern const char *const mean_text[MEAN_KINDS];
// Over those that passed and have the figure. False: there is none, or this mean makes no sense of it.
bool figure_mean(const Figure *figure, MeanKind mean, const Measured *results, uint32_t count, double *value);

typedef struct FigureTable {
  const Measured *results;
  uint32_t count;
  const Figure *figures;
  uint32_t figure_count;
  bool seconds; // also what each took on the host
} FigureTable;
void figures_text(const FigureTable *table, Text *out);
void figures_csv(const FigureTable *table, const char *machine, const char *size, Text *out);

// As the options say: text, CSV with the columns of `csv`, JSON with everything.
bool measured_print(const RunOptions *options, const FigureTable *table, const FigureTable *csv, const RunPower *power, Diags *diags);

// Every statistic, every ratio and every energy.
enum { FIGURES_MOST = (int)STAT_COUNT + (int)RATIO_COUNT + (int)ENERGY_FIGURES };
uint32_t figures_all(Figure figures[FIGURES_MOST], bool timed, const PowerModel *power);
struct json_t *figures_json(const Measured *results, uint32_t count, const Spec *spec, const RunPower *power, const char *size);

// A line for each trait that workloads promise at this size. The number that do not hold.
uint32_t traits_judge(const Measured *results, uint32_t count, WorkloadSize size, Text *out);

// "RISE BFS, hints BFS": what papers call it; "" where none does.
void papers_names(const char *workload, Text *out);

#endif
