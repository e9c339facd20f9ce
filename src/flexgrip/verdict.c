// What the thesis claims, and whether it is so here. Every verdict follows from counts; nothing is put in by hand.
//
// A pair of campaigns follows a trend clearly when the interval of the difference excludes zero. A group of pairs (SDCs, say) is
// decided when at least half of its pairs are clear, one way or the other: with fewer, the clear ones may be chance or an exception. A
// decided group agrees when none opposes the trend, in part when more follow than oppose, else it differs. A claim agrees when all
// its groups do, in part when some do, is not decided when no group is, else differs. The text of each claim tells the pairs.
#include "flexgrip/study_internal.h"

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
static void count_pair(StudyPairs *pairs, Interval difference, bool rising) {
  bool up = difference.low > 0, down = difference.high < 0;
  if (up || down) *(up == rising ? &pairs->follow : &pairs->oppose) += 1;
  else pairs->level++;
}

static StudyVerdict judge_group(const StudyPairs *pairs) {
  uint32_t clear = pairs->follow + pairs->oppose;
  if (clear == 0 || clear < pairs->level) return JUDGED_UNSURE;
  if (pairs->oppose == 0) return JUDGED_AGREES;
  return pairs->follow > pairs->oppose ? JUDGED_PARTLY : JUDGED_DIFFERS;
}

StudyVerdict study_judge_pairs(const StudyPairs *groups, uint32_t count) {
  uint32_t found[STUDY_VERDICTS] = {0};
  for (uint32_t i = 0; i < count; i++) found[judge_group(&groups[i])]++;
  if (found[JUDGED_UNSURE] == count) return JUDGED_UNSURE;
  if (found[JUDGED_AGREES] == count) return JUDGED_AGREES;
  return found[JUDGED_AGREES] + found[JUDGED_PARTLY] > 0 ? JUDGED_PARTLY : JUDGED_DIFFERS;
}

// Campaigns of an application come in fours: 1 SM with fewer and more blocks, then 2 SMs.
static const StudyCampaign *of(const Study *study, uint32_t app, uint32_t two_sms, uint32_t more_blocks) {
  return &study->campaigns[4 * app + 2 * two_sms + more_blocks];
}

// What the thesis calls a timeout is a run with another time; campaigns call it "performance". Its text can also be read so that
// every such run is one, whatever its results.
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

static void add_pairs(StudyClaim *claim, const char *heads, const StudyPairs p[3]) {
  claim->verdict = study_judge_pairs(p, 3);
  snprintf(claim->found, sizeof claim->found, "%s: SDC %u/%u/%u, DUE %u/%u/%u, performance %u/%u/%u", heads, p[0].follow, p[0].oppose,
           p[0].level, p[1].follow, p[1].oppose, p[1].level, p[2].follow, p[2].oppose, p[2].level);
}

static void judge_sms(Study *study, Reading reading) {
  StudyClaim *claim =
      reading == READING_RESULTS
          ? add(study, "flexgrip.avf.sms", "AVF falls from 1 SM to 2 SMs (exception: runs with another time in the scalar product)")
          : add(study, "flexgrip.avf.sms (2)", "the same, if every run with another time counts as that, whatever its results");
  StudyPairs classes[3] = {{0}}, exception = {0};
  for (uint32_t app = 0; app < APP_COUNT; app++) {
    for (uint32_t more = 0; more < 2; more++) {
      for (uint32_t class = 0; class < CLASS_MASKED; class ++) {
        bool except = app == APP_SCALARPROD && class == CLASS_PERFORMANCE;
        count_pair(except ? &exception : &classes[class],
                   compare(study, of(study, app, 0, more), of(study, app, 1, more), (StudyClass) class, reading), false);
      }
    }
  }
  add_pairs(claim, "pairs that fall / rise / are not decided", classes);
  size_t length = strlen(claim->found);
  snprintf(claim->found + length, sizeof claim->found - length, "; performance of the scalar product %u/%u/%u", exception.follow,
           exception.oppose, exception.level);
}

static void judge_blocks(Study *study, Reading reading) {
  StudyClaim *claim = reading == READING_RESULTS ? add(study, "flexgrip.avf.blocks", "more blocks give a higher AVF than fewer")
                                                 : add(study, "flexgrip.avf.blocks (2)",
                                                       "the same, if every run with another time counts as that, whatever its results");
  StudyPairs classes[3] = {{0}};
  for (uint32_t app = 0; app < APP_COUNT; app++) {
    for (uint32_t two = 0; two < 2; two++) {
      for (uint32_t class = 0; class < CLASS_MASKED; class ++) {
        count_pair(&classes[class], compare(study, of(study, app, two, 0), of(study, app, two, 1), (StudyClass) class, reading), true);
      }
    }
  }
  add_pairs(claim, "pairs that rise / fall / are not decided", classes);
}

static void judge_mtbf(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.mtbf.sms", "MTBF is higher with 2 SMs than with 1 (exception: gray filter with 64 blocks)");
  StudyPairs pairs = {0};
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
        pairs.follow++;
      } else if (lower) {
        pairs.oppose++;
      } else {
        pairs.level++;
      }
    }
  }
  claim->verdict = study_judge_pairs(&pairs, 1);
  snprintf(claim->found, sizeof claim->found, "higher %u, lower %u, not decided %u of 7 pairs; gray filter with 64 blocks: %s",
           pairs.follow, pairs.oppose, pairs.level, exception);
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
  claim->verdict = share.low > 0.5 ? JUDGED_AGREES : share.high < 0.5 ? JUDGED_DIFFERS : JUDGED_UNSURE;
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
  claim->verdict = b.high < a.low / 2 ? JUDGED_AGREES : b.low > a.high / 2 ? JUDGED_DIFFERS : JUDGED_UNSURE;
  snprintf(claim->found, sizeof claim->found,
           "of faults until the end of the last exchange %.2f%% (%.2f to %.2f) are SDCs, later %.2f%% (%.2f to %.2f)",
           100 * (double)hits_before / (double)(before.total == 0 ? 1 : before.total), 100 * a.low, 100 * a.high,
           100 * (double)hits_after / (double)(after.total == 0 ? 1 : after.total), 100 * b.low, 100 * b.high);
}

// How sure it is that a signal shows no DUE in one part of the run: the chance that `faults` of them all miss at this rate.
static bool surely_none(uint64_t faults, double rate, double confidence) { return pow(1 - rate, (double)faults) < 1 - confidence; }

// Signals that show DUEs all the time, until the exchange only, not at all. One that shows none in a part of the run counts only
// if it was struck there often enough: of a signal with DUEs before the exchange, at its own rate; of one without any, at that of all.
StudyVerdict study_judge_signals(const StudySignal *signals, uint32_t count, double confidence) {
  uint32_t always = 0, early = 0, never = 0, open = 0;
  uint64_t faults = 0, dues = 0;
  for (uint32_t i = 0; i < count; i++) {
    faults += signals[i].faults[0] + signals[i].faults[1];
    dues += signals[i].dues[0] + signals[i].dues[1];
  }
  for (uint32_t i = 0; i < count; i++) {
    const StudySignal *s = &signals[i];
    bool both = s->dues[0] > 0 && s->dues[1] > 0, none = s->dues[0] == 0 && s->dues[1] == 0;
    uint32_t silent = s->dues[0] == 0 ? 0 : 1;
    double rate = none ? (double)dues / (double)max_u64(faults, 1) : (double)s->dues[1 - silent] / (double)s->faults[1 - silent];
    bool sure = both || surely_none(none ? s->faults[0] + s->faults[1] : s->faults[silent], rate, confidence);
    always += both;
    never += none && sure;
    early += !none && !both && silent == 1 && sure;
    open += !sure;
  }
  if (always > 0 && early > 0 && never > 0) return JUDGED_AGREES;
  return open > 0 || dues == 0 ? JUDGED_UNSURE : JUDGED_DIFFERS;
}

// Of the campaign of figure 22.
static void judge_due(Study *study) {
  StudyClaim *claim = add(study, "figure 22 (DUEs)", "some signals show DUEs all the time, some only until the exchange, some never");
  const StudyCampaign *c = of(study, APP_NN, 1, 1);
  StudySignal *signals = ARENA_ARRAY(study->arena, StudySignal, c->golden->region_count);
  uint32_t always = 0, early = 0, late = 0, never = 0;
  for (uint32_t r = 0; r < c->golden->region_count; r++) {
    for (uint32_t i = 0; i < c->faults; i++) {
      if (c->list[i].site.region != c->golden->regions[r]) continue;
      uint32_t after = c->list[i].cycle > golden_last_exchange(c->golden);
      signals[r].faults[after]++;
      signals[r].dues[after] += study_class((StudyOutcome)c->found[i].outcome) == CLASS_DUE;
    }
    always += signals[r].dues[0] > 0 && signals[r].dues[1] > 0;
    early += signals[r].dues[0] > 0 && signals[r].dues[1] == 0;
    late += signals[r].dues[0] == 0 && signals[r].dues[1] > 0;
    never += signals[r].dues[0] == 0 && signals[r].dues[1] == 0;
  }
  claim->verdict = study_judge_signals(signals, c->golden->region_count, study->confidence);
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
  claim->verdict = least >= 0.255 && least < 0.265 && most >= 0.715 && most < 0.725 ? JUDGED_AGREES : JUDGED_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "%.1f%% to %.1f%%; the thesis's own Tables 3 to 6 give %.1f%% to %.1f%%", 100 * least,
           100 * most, 100 * thesis_least, 100 * thesis_most);
}

static void judge_faults(Study *study) {
  StudyClaim *claim = add(study, "flexgrip.faults", "111,520 faults in 16 campaigns");
  uint64_t sum = 0;
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) sum += study->campaigns[i].all.total;
  claim->verdict = sum == 111520 ? JUDGED_AGREES : JUDGED_NO_NUMBERS;
  snprintf(claim->found, sizeof claim->found, "%llu; %s", (unsigned long long)sum,
           sum == 111520 ? "the number was chosen to be the same" : "another number was asked for");
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
  claim->verdict = fabs(table1) <= 0.05 ? JUDGED_AGREES : JUDGED_DIFFERS;
  snprintf(claim->found, sizeof claim->found, "largest difference %+.1f%%; kernel, calibration constant and arbiter cycles were fitted",
           100 * table1);
  claim = add(study, "tables 3 to 6", "16 times of the campaigns (within 10% each)");
  claim->fitted = true;
  claim->verdict = fabs(tables) <= 0.10 ? JUDGED_AGREES : JUDGED_DIFFERS;
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
  claim->verdict = as_printed == STUDY_LIMITS ? JUDGED_AGREES : JUDGED_DIFFERS;
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
  claim->verdict = JUDGED_NO_NUMBERS;
  snprintf(claim->found, sizeof claim->found, "the thesis draws them and prints none; ours are below");
}
