// The study for a terminal: every number of the thesis beside ours.
#include "flexgrip/study_internal.h"

#include <inttypes.h>
#include <math.h>

static void add_campaign_name(Text *out, const StudyConfig *config) {
  text_add(out, "%-10s %2u SM %3u blocks", study_app_name[config->app], config->sms, study_blocks(config));
}

static void add_share(Text *out, uint64_t hits, uint64_t total, double confidence) {
  Interval interval = wilson_interval(hits, total, confidence);
  text_add(out, "  %6.2f (%5.2f to %5.2f)", 100 * (double)hits / (double)(total == 0 ? 1 : total), 100 * interval.low, 100 * interval.high);
}

static double log_mtbf(const StudyCampaign *campaign, double share) { return share > 0 ? log10(study_mtbf(campaign, share)) : INFINITY; }

static void add_avf(const Study *study, Text *out) {
  text_add(out, "\nAVF of the block scheduler in %% (figure 23; the thesis prints no numbers), intervals at %.4g%%\n",
           100 * study->confidence);
  text_add(out, "%-24s  %-23s  %-23s  %-23s  %s\n", "", "SDC", "DUE", "performance", "SDCs with another time");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    add_campaign_name(out, &c->config);
    for (uint32_t class = 0; class < CLASS_MASKED; class ++) {
      add_share(out, study_tally_class(&c->all, (StudyClass) class), c->all.total, study->confidence);
    }
    text_add(out, "  %" PRIu64 " of %" PRIu64 "\n", c->all.outcomes[EFFECT_SDC_TIME], study_tally_class(&c->all, CLASS_SDC));
  }
}

static void add_mtbf(const Study *study, Text *out) {
  text_add(out, "\nMTBF for SDCs, log10 of cycles: execution time / share of SDCs (figure 24; the thesis prints no numbers)\n");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    uint64_t hits = study_tally_class(&c->all, CLASS_SDC);
    Interval share = wilson_interval(hits, c->all.total, study->confidence);
    add_campaign_name(out, &c->config);
    text_add(out, "  %6.3f (%.3f to %.3f)\n", log_mtbf(c, (double)hits / (double)(c->all.total == 0 ? 1 : c->all.total)),
             log_mtbf(c, share.high), log_mtbf(c, share.low));
  }
}

static void add_phases(const Study *study, Text *out) {
  text_add(out, "\nWhen faults propagate: share of the time, then SDC and DUE in %% of the faults that struck in the phase (figure 22)\n");
  text_add(out, "%-24s  %-28s  %-28s  %s\n", "", "configuration", "processing", "block exchange");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    add_campaign_name(out, &c->config);
    for (uint32_t phase = 0; phase < PHASE_COUNT; phase++) {
      const StudyTally *tally = &c->phases[phase];
      double time = (double)golden_phase_cycles(c->golden, (StudyPhase)phase) / (double)golden_result(c->golden)->cycles;
      double total = tally->total == 0 ? 1 : (double)tally->total;
      text_add(out, "  %5.1f%%: SDC %5.1f DUE %5.1f  ", 100 * time, 100 * (double)study_tally_class(tally, CLASS_SDC) / total,
               100 * (double)study_tally_class(tally, CLASS_DUE) / total);
    }
    text_add(out, "\n");
  }
}

static double percent(uint64_t ours, uint64_t theirs) { return 100 * ((double)ours / (double)theirs - 1); }

static void add_times(const Study *study, Text *out) {
  text_add(out,
           "\nTimes in ns: thesis, here, difference (exact, no interval; fitted: the thesis prints no kernels and no arbiter cycles)\n");
  for (uint32_t i = 0; i < STUDY_TIMED; i++) {
    const StudyTimed *row = &study->timed[i];
    add_campaign_name(out, &row->config);
    text_add(out, " of %3u (table 1) %9" PRIu64 " %9" PRIu64 " %+5.1f%%\n", row->config.block[0], row->config.end_ns, row->ns,
             percent(row->ns, row->config.end_ns));
  }
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    const G80Result *result = golden_result(c->golden);
    add_campaign_name(out, &c->config);
    text_add(out, " of %3u (tables 3-6) start %5" PRIu64 " %5" PRIu64 ", end %9" PRIu64 " %9" PRIu64 " %+5.1f%%\n",
             c->config.block[0] * c->config.block[1], c->config.start_ns, result->start_ns, c->config.end_ns, result->kernel_done_ns,
             percent(result->kernel_done_ns, c->config.end_ns));
  }
  text_add(out, "\nTable 2, consistent results: thesis, here, here with thesis_register_addressing\n");
  for (uint32_t i = 0; i < STUDY_LIMITS; i++) {
    const StudyLimit *row = &study->limits[i];
    add_campaign_name(out, &row->config);
    text_add(out, " of %3u, %4u threads per SM: %c %c %c\n", row->config.block[0], row->threads_per_sm, row->published ? 'Y' : 'N',
             row->mended ? 'Y' : 'N', row->thesis ? 'Y' : 'N');
  }
}

static void add_claims(const Study *study, Text *out) {
  text_add(out, "\nWhat the thesis says, and what was found\n");
  for (uint32_t i = 0; i < study->claim_count; i++) {
    const StudyClaim *claim = &study->claims[i];
    text_add(out, "%-26s %s%s\n    thesis: %s\n    here:   %s\n", claim->key, study_verdict_name[claim->verdict],
             claim->fitted ? " (fitted)" : "", claim->text, claim->found);
  }
}

static void add_work(const Study *study, Text *out) {
  uint64_t settled[STUDY_SETTLED] = {0}, all = 0;
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    for (uint32_t k = 0; k < STUDY_SETTLED; k++) settled[k] += study->campaigns[i].settled[k];
    all += study->campaigns[i].all.total;
  }
  text_add(out,
           "%" PRIu64 " upsets in the block scheduler, seed %" PRIu64 ", 16 campaigns; bits: %" PRIu64 " with 1 SM, %" PRIu64 " with 2\n",
           all, study->seed, golden_bits(study->campaigns[0].golden), golden_bits(study->campaigns[2].golden));
  text_add(out,
           "%" PRIu64 " simulated, %" PRIu64 " equal to one of those, %" PRIu64 " known to be masked (written before anyone reads them)\n",
           settled[FOUND_SIMULATED], settled[FOUND_SAME], settled[FOUND_DEAD]);
  text_add(
      out,
      "SDC: memory differs at the end. Performance: right results at another time (the thesis: timeout). DUE: no end: a hang (nothing can "
      "happen any more) or a timeout (still running at %u times the time).\n",
      STUDY_LIMIT);
}

void study_text(const Study *study, Text *out) {
  add_work(study, out);
  add_claims(study, out);
  add_avf(study, out);
  add_mtbf(study, out);
  add_phases(study, out);
  add_times(study, out);
}
