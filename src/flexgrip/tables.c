// The study as CSV tables, and as the data of its page.
#include "flexgrip/study_internal.h"

#include <inttypes.h>
#include <math.h>

static void add_config(Text *out, const StudyConfig *config) {
  text_add(out, "%s,%u,%u,%u", study_app_name[config->app], config->sms, study_blocks(config), config->block[0] * config->block[1]);
}

static void write_campaigns(const Study *study, Text *out) {
  text_add(out, "app,sms,blocks,threads,faults,bits,start_ns,end_ns,thesis_start_ns,thesis_end_ns,cycles");
  for (uint32_t k = 0; k < STUDY_OUTCOMES; k++) text_add(out, ",%s", study_outcome_name[k]);
  for (uint32_t k = 0; k < CLASS_COUNT; k++) {
    text_add(out, ",avf_%s,avf_%s_low,avf_%s_high", study_class_name[k], study_class_name[k], study_class_name[k]);
  }
  text_add(out, ",mtbf_cycles,mtbf_low,mtbf_high\n");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    const G80Result *result = golden_result(c->golden);
    double total = c->all.total == 0 ? 1 : (double)c->all.total;
    add_config(out, &c->config);
    text_add(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, c->all.total, golden_bits(c->golden),
             result->start_ns, result->kernel_done_ns, c->config.start_ns, c->config.end_ns, result->cycles);
    for (uint32_t k = 0; k < STUDY_OUTCOMES; k++) text_add(out, ",%" PRIu64, c->all.outcomes[k]);
    for (uint32_t k = 0; k < CLASS_COUNT; k++) {
      uint64_t hits = study_tally_class(&c->all, (StudyClass)k);
      Interval interval = wilson_interval(hits, c->all.total, study->confidence);
      text_add(out, ",%.6f,%.6f,%.6f", (double)hits / total, interval.low, interval.high);
    }
    uint64_t sdcs = study_tally_class(&c->all, CLASS_SDC);
    Interval share = wilson_interval(sdcs, c->all.total, study->confidence);
    text_add(out, ",%.0f,%.0f,%.0f\n", study_mtbf(c, (double)sdcs / total), study_mtbf(c, share.high), study_mtbf(c, share.low));
  }
}

static void write_faults(const Study *study, Text *out) {
  static const char *const settled[STUDY_SETTLED] = {"dead", "same", "simulated"};
  text_add(out, "app,sms,blocks,threads,index,signal,bit,cycle,phase,outcome,class,settled\n");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    for (uint32_t k = 0; k < c->faults; k++) {
      const StudyFault *fault = &c->list[k];
      StudyOutcome outcome = (StudyOutcome)c->found[k].outcome;
      add_config(out, &c->config);
      text_add(out, ",%u,%s[%" PRIu64 "],%u,%" PRIu64 ",%s,%s,%s,%s\n", k, golden_regions(c->golden)->items[fault->site.region].name,
               fault->site.row, fault->site.bit, fault->cycle, study_phase_name[golden_phase(c->golden, fault->cycle)],
               study_outcome_name[outcome], study_class_name[study_class(outcome)], settled[c->found[k].settled]);
    }
  }
}

static void write_phases(const Study *study, Text *out) {
  text_add(out, "app,sms,blocks,threads,phase,cycles,faults,sdc,due,performance,masked\n");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    for (uint32_t phase = 0; phase < PHASE_COUNT; phase++) {
      const StudyTally *tally = &c->phases[phase];
      add_config(out, &c->config);
      text_add(out, ",%s,%" PRIu64 ",%" PRIu64, study_phase_name[phase], golden_phase_cycles(c->golden, (StudyPhase)phase), tally->total);
      for (uint32_t k = 0; k < CLASS_COUNT; k++) text_add(out, ",%" PRIu64, study_tally_class(tally, (StudyClass)k));
      text_add(out, "\n");
    }
  }
}

// Signal by signal: how many faults of each class.
static void write_signals(const Study *study, Text *out) {
  text_add(out, "app,sms,blocks,threads,signal,faults,sdc,due,performance,masked\n");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    for (uint32_t r = 0; r < c->golden->region_count; r++) {
      StudyTally tally = {0};
      for (uint32_t k = 0; k < c->faults; k++) {
        if (c->list[k].site.region == c->golden->regions[r]) study_tally_add(&tally, (StudyOutcome)c->found[k].outcome);
      }
      add_config(out, &c->config);
      text_add(out, ",%s,%" PRIu64, golden_regions(c->golden)->items[c->golden->regions[r]].name, tally.total);
      for (uint32_t k = 0; k < CLASS_COUNT; k++) text_add(out, ",%" PRIu64, study_tally_class(&tally, (StudyClass)k));
      text_add(out, "\n");
    }
  }
}

static void write_times(const Study *study, Text *out) {
  text_add(out, "app,sms,blocks,threads,thesis_ns,ns\n");
  for (uint32_t i = 0; i < STUDY_TIMED; i++) {
    add_config(out, &study->timed[i].config);
    text_add(out, ",%" PRIu64 ",%" PRIu64 "\n", study->timed[i].config.end_ns, study->timed[i].ns);
  }
}

static void write_limits(const Study *study, Text *out) {
  text_add(out, "app,sms,blocks,threads,threads_per_sm,thesis,here,here_with_thesis_register_addressing\n");
  for (uint32_t i = 0; i < STUDY_LIMITS; i++) {
    const StudyLimit *row = &study->limits[i];
    add_config(out, &row->config);
    text_add(out, ",%u,%c,%c,%c\n", row->threads_per_sm, row->published ? 'Y' : 'N', row->mended ? 'Y' : 'N', row->thesis ? 'Y' : 'N');
  }
}

static void write_claims(const Study *study, Text *out) {
  text_add(out, "claim,verdict,fitted,thesis,here\n");
  for (uint32_t i = 0; i < study->claim_count; i++) {
    const StudyClaim *claim = &study->claims[i];
    text_add(out, "%s,%s,%s,\"%s\",\"%s\"\n", claim->key, study_verdict_name[claim->verdict], claim->fitted ? "yes" : "no", claim->text,
             claim->found);
  }
}

const StudyTable study_tables[] = {
    {"claims.csv", write_claims},   {"campaigns.csv", write_campaigns}, {"faults.csv", write_faults}, {"phases.csv", write_phases},
    {"signals.csv", write_signals}, {"table1.csv", write_times},        {"table2.csv", write_limits},
};
const uint32_t study_table_count = COUNT_OF(study_tables);
