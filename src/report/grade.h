// Test libraries: which permanent faults a set of test kernels detects by their signatures, and the smallest set that will do. From
// journals of the same faults, one for each kernel and model. See docs/safety.md.
#ifndef REDOUBT_GRADE_H
#define REDOUBT_GRADE_H

#include "report/report.h"

enum { GRADE_KERNELS = 64, GRADE_EXACT = 20 }; // most kernels; most of which every set is looked at

typedef uint64_t KernelSet; // bit i: kernel i

// Faults that the same kernels detect.
typedef struct GradeFault {
  KernelSet detected_by;
  double weight; // possible faults that it stands for
} GradeFault;

// A set of kernels that detects at least `goal` of the weight, if there is one.
typedef struct GradeChoice {
  KernelSet kernels;
  uint32_t count;
  bool is_reached;
  bool is_smallest; // every set was looked at: no smaller one will do, and none of this size takes fewer cycles
  uint32_t least;   // not smallest: no set of fewer kernels can do it
} GradeChoice;
// Sets of up to `exact` kernels are all looked at; larger ones are filled greedily.
GradeChoice grade_choose(const GradeFault *faults, uint64_t count, const uint64_t *cycles, uint32_t kernels, double goal, uint32_t exact);
double grade_covered(const GradeFault *faults, uint64_t count, KernelSet kernels); // share of the weight

typedef struct GradeKernel {
  const char *name;
  uint64_t cycles;
  KernelSet bit;
  Estimate coverage; // alone
  double only;       // share that no other kernel detects
  double together;   // with those before it in the order
} GradeKernel;

// Faults of one structure under one model.
typedef struct GradeStratum {
  const char *structure, *model;
  uint64_t bits, faults;
  bool is_every;  // every bit was struck: no chance in it
  uint64_t first; // its faults in `faults`
} GradeStratum;

typedef struct Grade {
  Arena *arena;
  double confidence, goal;
  VEC(GradeKernel) kernels;
  uint32_t order[GRADE_KERNELS]; // each adds most to those before it
  VEC(GradeStratum) strata;
  VEC(GradeFault) faults; // by stratum
  GradeChoice choice;
  const Report *first; // for the head
} Grade;

typedef struct GradeOptions {
  double confidence, goal;
} GradeOptions;
// NULL, with diagnostics: unfinished, or not of the same faults. grade_free.
Grade *grade_read(Report *const *reports, uint32_t count, const GradeOptions *options, Diags *diags);
void grade_free(Grade *grade);
// What a set detects: of a structure (NULL: all, by bits) under a model (NULL: all that were struck).
Estimate grade_coverage(const Grade *grade, const char *structure, const char *model, KernelSet kernels);
KernelSet grade_all(const Grade *grade);

void grade_text(const Grade *grade, Text *out);
void grade_csv(const Grade *grade, Text *out);
void grade_json(const Grade *grade, Text *out);

#endif
