// What the thesis claims, and whether it is so here. Every verdict follows from counts; nothing is put in by hand.
//
// A pair of campaigns follows a trend clearly when the interval of the difference excludes zero. A trend agrees when pairs follow
// it clearly and none goes the other way so clearly; it agrees in part when more follow than oppose; it differs when others
// oppose it; without any clear pair it is not decided. The text of each claim tells the pairs.
#include "study/study_internal.h"

#include <math.h>
#include <stdio.h>

const char *const study_verdict_name[STUDY_VERDICTS] = {"agrees", "agrees in part", "differs", "not decided", "cannot be compared"};

Interval study_difference(const StudyTally *a, const StudyTally *b, StudyClass class, double confidence) {
  uint64_t hits_a = study_tally_class(a, class), hits_b = study_tally_class(b, class);
  double p = a->total == 0 ? 0 : (double)hits_a / (double)a->total, q = b->total == 0 ? 0 : (double)hits_b / (double)b->total;
  Interval left = wilson_interval(hits_a, a->total, confidence), right = wilson_interval(hits_b, b->total, confidence);
  double down = sqrt((q - right.low) * (q - right.low) + (left.high - p) * (left.high - p));
  double up = sqrt((right.high - q) * (right.high - q) + (p - left.low) * (p - left.low));
  return (Interval){q - p - down, q - p + up};
}

static StudyClaim *add(Study *study, const char *key, const char *text) {
  ASSERT(study->claim_count < STUDY_CLAIMS);
  StudyClaim *claim = &study->claims[study->claim_count++];
  claim->key = key;
  claim->text = text;
  return claim;
}

// ---- Trends over pairs -----------------------------------------------------------------------------------------------------
typedef struct Pairs {
  uint32_t up, down, level; // clearly more, clearly less, not decided
} Pairs;

static void count_pair(Pairs *pairs, Interval difference) {
  if (difference.low > 0) pairs->up++;
  else if (difference.high < 0) pairs->down++;
  else pairs->level++;
}

static StudyVerdict judge(uint32_t as_claimed, uint32_t against) {
  if (against == 0) return as_claimed > 0 ? VERDICT_AGREES : VERDICT_UNSURE;
  return as_claimed > against ? VERDICT_PARTLY : VERDICT_DIFFERS;
}

// Campaigns of an application come in fours: 1 SM with fewer and more blocks, then 2 SMs.
static const StudyCampaign *of(const Study *study, uint32_t app, uint32_t two_sms, uint32_t more_blocks) {
  return &study->campaigns[4 * app + 2 * two_sms + more_blocks];
}

// The thesis's text can also be read so that every run with another time is a timeout, whatever its results.
typedef enum Reading { READING_RESULTS, READING_TIMES } Reading;

static Interval compare(const Study *study, const StudyCampaign *a, const StudyCampaign *b, StudyClass class, Reading reading) {
  StudyTally left = a->all, right = b->all;
  StudyTally *tallies[] = {&left, &right};
  for (uint32_t i = 0; i < 2 && reading == READING_TIMES; i++) {
    tallies[i]->outcomes[EFFECT_TIME] += tallies[i]->outcomes[EFFECT_SDC_TIME];
    tallies[i]->outcomes[EFFECT_SDC_TIME] = 0;
  }
  return study_difference(&left, &right, class, study->confidence);
}

static void add_pairs(StudyClaim *claim, const char *heads, const Pairs *classes, bool rising) {
  Pairs p[3];
  for (uint32_t i = 0; i < 3; i++) p[i] = rising ? classes[i] : (Pairs){classes[i].down, classes[i].up, classes[i].level};
  claim->verdict = judge(p[0].up + p[1].up + p[2].up, p[0].down + p[1].down + p[2].down);
  snprintf(claim->found, sizeof claim->found, "%s: SDC %u/%u/%u, DUE %u/%u/%u, timeout %u/%u/%u", heads, p[0].up, p[0].down, p[0].level,
           p[1].up, p[1].down, p[1].level, p[2].up, p[2].down, p[2].level);
}

static void judge_sms(Study *study, Reading reading) {
  StudyClaim *claim = reading == READING_RESULTS
                          ? add(study, "flexgrip.avf.sms", "AVF falls from 1 SM to 2 SMs (exception: timeouts in the scalar product)")
                          : add(study, "flexgrip.avf.sms (2)", "the same, if every run with another time is a timeout");
  Pairs classes[3] = {{0}}, exception = {0};
  for (uint32_t app = 0; app < APP_COUNT; app++) {
    for (uint32_t more = 0; more < 2; more++) {
      for (uint32_t class = 0; class < CLASS_MASKED; class ++) {
        bool except = app == APP_SCALARPROD && class == CLASS_TIMEOUT;
        count_pair(except ? &exception : &classes[class],
                   compare(study, of(study, app, 0, more), of(study, app, 1, more), (StudyClass) class, reading));
      }
    }
  }
  add_pairs(claim, "pairs that fall / rise / are not decided", classes, false);
  size_t length = strlen(claim->found);
  snprintf(claim->found + length, sizeof claim->found - length, "; timeouts of the scalar product %u/%u/%u", exception.down, exception.up,
           exception.level);
}

static void judge_blocks(Study *study, Reading reading) {
  StudyClaim *claim = reading == READING_RESULTS
                          ? add(study, "flexgrip.avf.blocks", "more blocks give a higher AVF than fewer")
                          : add(study, "flexgrip.avf.blocks (2)", "the same, if every run with another time is a timeout");
  Pairs classes[3] = {{0}};
  for (uint32_t app = 0; app < APP_COUNT; app++) {
    for (uint32_t two = 0; two < 2; two++) {
      for (uint32_t class = 0; class < CLASS_MASKED; class ++) {
        count_pair(&classes[class], compare(study, of(study, app, two, 0), of(study, app, two, 1), (StudyClass) class, reading));
      }
    }
  }
  add_pairs(claim, "pairs that rise / fall / are not decided", classes, true);
}

static void judge_mtbf(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.mtbf.sms", "MTBF is higher with 2 SMs than with 1 (exception: gray filter with 64 blocks)");
  Pairs pairs = {0};
  const char *exception = "not decided";
  for (uint32_t app = 0; app < APP_COUNT; app++) {
    for (uint32_t more = 0; more < 2; more++) {
      const StudyCampaign *one = of(study, app, 0, more), *two = of(study, app, 1, more);
      Interval a = wilson_interval(study_tally_class(&one->all, CLASS_SDC), one->all.total, study->confidence);
      Interval b = wilson_interval(study_tally_class(&two->all, CLASS_SDC), two->all.total, study->confidence);
      bool higher = study_mtbf(two, b.high) > study_mtbf(one, a.low), lower = study_mtbf(two, b.low) < study_mtbf(one, a.high);
      if (app == APP_GRAY && more == 1) {
        exception = higher ? "higher" : lower ? "lower" : exception;
      } else if (higher) {
        pairs.up++;
      } else if (lower) {
        pairs.down++;
      } else {
        pairs.level++;
      }
    }
  }
  claim->verdict = judge(pairs.up, pairs.down);
  snprintf(claim->found, sizeof claim->found, "higher %u, lower %u, not decided %u of 7 pairs; gray filter with 64 blocks: %s", pairs.up,
           pairs.down, pairs.level, exception);
}

// ---- The profile -----------------------------------------------------------------------------------------------------------
static uint64_t propagated(const StudyTally *tally) { return study_tally_class(tally, CLASS_SDC) + study_tally_class(tally, CLASS_DUE); }

static void judge_phases(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.profile.phases", "SDCs and DUEs propagate mainly in the configuration and exchange phases");
  uint64_t busy = 0, all = 0, struck_busy = 0, struck_quiet = 0;
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    busy += propagated(&c->phases[PHASE_CONFIGURATION]) + propagated(&c->phases[PHASE_EXCHANGE]);
    all += propagated(&c->all);
    struck_busy += c->phases[PHASE_CONFIGURATION].total + c->phases[PHASE_EXCHANGE].total;
    struck_quiet += c->phases[PHASE_PROCESSING].total;
  }
  Interval share = wilson_interval(busy, all, study->confidence);
  claim->verdict = share.low > 0.5 ? VERDICT_AGREES : share.high < 0.5 ? VERDICT_DIFFERS : VERDICT_UNSURE;
  double dense = struck_busy == 0 ? 0 : (double)busy / (double)struck_busy;
  double thin = struck_quiet == 0 ? 0 : (double)(all - busy) / (double)struck_quiet;
  snprintf(
      claim->found, sizeof claim->found,
      "%.1f%% (%.1f to %.1f) of SDCs and DUEs were struck in these phases, which are %.1f%% of the time; a fault there propagates with "
      "%.1f%%, elsewhere with %.1f%%",
      100 * (double)busy / (double)(all == 0 ? 1 : all), 100 * share.low, 100 * share.high,
      100 * (double)struck_busy / (double)(struck_busy + struck_quiet), 100 * dense, 100 * thin);
}

static void judge_sdc(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.profile.sdc", "SDCs fall sharply (here: to less than half) after the exchange phase");
  StudyTally before = {0}, after = {0};
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    for (uint32_t k = 0; k < STUDY_OUTCOMES && golden_last_exchange(c->golden) > 0; k++) {
      before.outcomes[k] += c->before.outcomes[k];
      after.outcomes[k] += c->after.outcomes[k];
      before.total += c->before.outcomes[k];
      after.total += c->after.outcomes[k];
    }
  }
  uint64_t hits_before = study_tally_class(&before, CLASS_SDC), hits_after = study_tally_class(&after, CLASS_SDC);
  Interval a = wilson_interval(hits_before, before.total, study->confidence),
           b = wilson_interval(hits_after, after.total, study->confidence);
  claim->verdict = b.high < a.low / 2 ? VERDICT_AGREES : b.low > a.high / 2 ? VERDICT_DIFFERS : VERDICT_UNSURE;
  snprintf(claim->found, sizeof claim->found,
           "of faults until the end of the last exchange %.2f%% (%.2f to %.2f) are SDCs, later %.2f%% (%.2f to %.2f)",
           100 * (double)hits_before / (double)(before.total == 0 ? 1 : before.total), 100 * a.low, 100 * a.high,
           100 * (double)hits_after / (double)(after.total == 0 ? 1 : after.total), 100 * b.low, 100 * b.high);
}

// Of the campaign of figure 22: signals that show DUEs all the time, until the exchange only, not at all.
static void judge_due(Study *study) {
  StudyClaim *claim = add(study, "figure 22 (DUEs)", "some signals show DUEs all the time, some only until the exchange, some never");
  const StudyCampaign *c = of(study, APP_NN, 1, 1);
  uint32_t always = 0, early = 0, late = 0, never = 0;
  for (uint32_t r = 0; r < c->golden->region_count; r++) {
    uint32_t before = 0, after = 0;
    for (uint32_t i = 0; i < c->faults; i++) {
      if (c->list[i].site.region != c->golden->regions[r] || study_class((StudyOutcome)c->found[i].outcome) != CLASS_DUE) continue;
      before += c->list[i].cycle <= golden_last_exchange(c->golden);
      after += c->list[i].cycle > golden_last_exchange(c->golden);
    }
    always += before > 0 && after > 0;
    early += before > 0 && after == 0;
    late += before == 0 && after > 0;
    never += before == 0 && after == 0;
  }
  claim->verdict = always > 0 && early > 0 && never > 0 ? VERDICT_AGREES : VERDICT_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "before and after the exchange %u, until its end only %u, after it only %u, never %u", always,
           early, late, never);
}

// ---- Figures ---------------------------------------------------------------------------------------------------------------
static void judge_speedup(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.speedup2", "2 SMs need 26% to 72% less time than 1");
  double least = 1, most = 0, thesis_least = 1, thesis_most = 0;
  for (uint32_t app = 0; app < APP_COUNT; app++) {
    for (uint32_t more = 0; more < 2; more++) {
      const StudyCampaign *one = of(study, app, 0, more), *two = of(study, app, 1, more);
      double ours = 1 - (double)golden_result(two->golden)->kernel_done_ns / (double)golden_result(one->golden)->kernel_done_ns;
      double theirs = 1 - (double)two->config.end_ns / (double)one->config.end_ns;
      least = fmin(least, ours);
      most = fmax(most, ours);
      thesis_least = fmin(thesis_least, theirs);
      thesis_most = fmax(thesis_most, theirs);
    }
  }
  claim->fitted = true;
  claim->verdict = least >= 0.255 && least < 0.265 && most >= 0.715 && most < 0.725 ? VERDICT_AGREES : VERDICT_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "%.1f%% to %.1f%%; the thesis's own Tables 3 to 6 give %.1f%% to %.1f%%", 100 * least,
           100 * most, 100 * thesis_least, 100 * thesis_most);
}

static void judge_faults(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.faults", "111,520 faults in 16 campaigns");
  uint64_t sum = 0;
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) sum += study->campaigns[i].all.total;
  claim->verdict = sum == 111520 ? VERDICT_AGREES : VERDICT_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "%llu; the number was chosen to be the same", (unsigned long long)sum);
}

static double worst(double so_far, uint64_t ours, uint64_t theirs) {
  double difference = (double)ours / (double)theirs - 1;
  return fabs(difference) > fabs(so_far) ? difference : so_far;
}

static void judge_times(Study *study) {
  double table1 = 0, tables = 0;
  for (uint32_t i = 0; i < STUDY_TIMED; i++) table1 = worst(table1, study->timed[i].ns, study->timed[i].config.end_ns);
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    tables = worst(tables, golden_result(study->campaigns[i].golden)->kernel_done_ns, study->campaigns[i].config.end_ns);
  }
  StudyClaim *claim = add(study, "table 1", "15 times of the vector addition (within 5% each)");
  claim->fitted = true;
  claim->verdict = fabs(table1) <= 0.05 ? VERDICT_AGREES : VERDICT_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "largest difference %+.1f%%; kernel, calibration constant and arbiter cycles were fitted",
           100 * table1);
  claim = add(study, "tables 3 to 6", "16 times of the campaigns (within 10% each)");
  claim->fitted = true;
  claim->verdict = fabs(tables) <= 0.10 ? VERDICT_AGREES : VERDICT_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "largest difference %+.1f%%; kernels were written to come near the one-SM rows",
           100 * tables);
}

static void judge_limits(Study *study) {
  uint32_t as_printed = 0, right = 0;
  for (uint32_t i = 0; i < STUDY_LIMITS; i++) {
    as_printed += study->limits[i].thesis == study->limits[i].published;
    right += study->limits[i].mended;
  }
  StudyClaim *claim = add(study, "table 2", "consistent results in 9 of 12 rows");
  claim->fitted = true;
  claim->verdict = as_printed == STUDY_LIMITS ? VERDICT_AGREES : VERDICT_DIFFERS;
  snprintf(claim->found, sizeof claim->found,
           "with thesis_register_addressing %u of 12 rows are as printed (our reading of the defect, with 8 registers per thread); without "
           "it %u of 12 are right",
           as_printed, right);
}

void study_judge(Study *study) {
  judge_sms(study, READING_RESULTS);
  judge_sms(study, READING_TIMES);
  judge_blocks(study, READING_RESULTS);
  judge_blocks(study, READING_TIMES);
  judge_phases(study);
  judge_sdc(study);
  judge_due(study);
  judge_mtbf(study);
  judge_speedup(study);
  judge_faults(study);
  judge_times(study);
  judge_limits(study);
  StudyClaim *claim = add(study, "figures 22 to 24", "AVF, MTBF and fault profile of each campaign");
  claim->verdict = VERDICT_NO_NUMBERS;
  snprintf(claim->found, sizeof claim->found, "the thesis draws them and prints none; ours are below");
}
