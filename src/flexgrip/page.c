// The data of the study's page: what figures 21 to 24 of the thesis draw, as JSON. Written by hand: names hold no characters
// that JSON would have to escape.
#include "flexgrip/study_internal.h"

#include <inttypes.h>
#include <math.h>

static void add_comma(Text *out, bool *first) {
  if (!*first) text_add(out, ",");
  *first = false;
}

static void add_times(const Study *study, Text *out) {
  bool first = true;
  text_add(out, "\"times\":[");
  for (uint32_t i = 0; i < STUDY_TIMED; i++) {
    const StudyTimed *row = &study->timed[i];
    add_comma(out, &first);
    text_add(out, "{\"sms\":%u,\"blocks\":%u,\"threads\":%u,\"thesis\":%" PRIu64 ",\"here\":%" PRIu64 "}", row->config.sms,
             study_blocks(&row->config), row->config.block[0], row->config.end_ns, row->ns);
  }
  text_add(out, "]");
}

static void add_phase_spans(const StudyCampaign *c, Text *out) {
  const G80Result *result = golden_result(c->golden);
  bool first = true;
  text_add(out, "\"spans\":[");
  for (uint32_t i = 0; i < min_u32(result->pass_count, G80_MAX_PASSES); i++) {
    uint64_t from = i == 0 ? golden_start(c->golden) : result->passes[i - 1].done;
    add_comma(out, &first);
    text_add(out, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"phase\":\"%s\"}", from, result->passes[i].issue,
             study_phase_name[i == 0 ? PHASE_CONFIGURATION : PHASE_EXCHANGE]);
  }
  text_add(out, "]");
}

// Figure 22: faults that became SDCs or DUEs, by signal and time.
static void add_profile(const StudyCampaign *c, Text *out) {
  bool first = true;
  text_add(out, "\"profile\":[");
  for (uint32_t i = 0; i < c->faults; i++) {
    StudyClass class = study_class((StudyOutcome)c->found[i].outcome);
    if (class != CLASS_SDC && class != CLASS_DUE) continue;
    add_comma(out, &first);
    text_add(out, "[%" PRIu64 ",\"%s\",\"%s\",%u]", c->list[i].cycle, golden_regions(c->golden)->items[c->list[i].site.region].name + 3,
             study_class_name[class], c->list[i].site.bit);
  }
  text_add(out, "]");
}

static void add_classes(const Study *study, const StudyCampaign *c, Text *out) {
  for (uint32_t k = 0; k < CLASS_COUNT; k++) {
    uint64_t hits = study_tally_class(&c->all, (StudyClass)k);
    Interval interval = wilson_interval(hits, c->all.total, study->confidence);
    text_add(out, "\"%s\":[%.6f,%.6f,%.6f],", study_class_name[k], (double)hits / (double)(c->all.total == 0 ? 1 : c->all.total),
             interval.low, interval.high);
  }
}

// log10 of cycles; nothing where no SDC was found.
static void add_mtbf(const Study *study, const StudyCampaign *c, Text *out) {
  uint64_t hits = study_tally_class(&c->all, CLASS_SDC);
  if (hits == 0) return;
  Interval share = wilson_interval(hits, c->all.total, study->confidence);
  text_add(out, "\"mtbf\":[%.4f,%.4f,%.4f],", log10(study_mtbf(c, (double)hits / (double)c->all.total)), log10(study_mtbf(c, share.high)),
           log10(study_mtbf(c, share.low)));
}

static void add_campaigns(const Study *study, Text *out) {
  bool first = true;
  text_add(out, "\"campaigns\":[");
  for (uint32_t i = 0; i < STUDY_CAMPAIGNS; i++) {
    const StudyCampaign *c = &study->campaigns[i];
    add_comma(out, &first);
    text_add(out,
             "{\"app\":\"%s\",\"sms\":%u,\"blocks\":%u,\"faults\":%u,\"cycles\":%" PRIu64 ",\"start\":%" PRIu64 ",\"end_ns\":%" PRIu64
             ",\"thesis_ns\":%" PRIu64 ",",
             study_app_name[c->config.app], c->config.sms, study_blocks(&c->config), c->faults, golden_result(c->golden)->cycles,
             golden_start(c->golden), golden_result(c->golden)->kernel_done_ns, c->config.end_ns);
    add_classes(study, c, out);
    add_mtbf(study, c, out);
    add_phase_spans(c, out);
    text_add(out, ",");
    add_profile(c, out);
    text_add(out, "}");
  }
  text_add(out, "]");
}

static void add_claims(const Study *study, Text *out) {
  bool first = true;
  text_add(out, "\"claims\":[");
  for (uint32_t i = 0; i < study->claim_count; i++) {
    const StudyClaim *claim = &study->claims[i];
    add_comma(out, &first);
    text_add(out, "{\"key\":\"%s\",\"verdict\":\"%s\",\"fitted\":%s,\"thesis\":\"%s\",\"here\":\"%s\"}", claim->key,
             study_verdict_name[claim->verdict], claim->fitted ? "true" : "false", claim->text, claim->found);
  }
  text_add(out, "]");
}

static void add_limits(const Study *study, Text *out) {
  bool first = true;
  text_add(out, "\"limits\":[");
  for (uint32_t i = 0; i < STUDY_LIMITS; i++) {
    const StudyLimit *row = &study->limits[i];
    add_comma(out, &first);
    text_add(out, "{\"sms\":%u,\"blocks\":%u,\"threads\":%u,\"per_sm\":%u,\"thesis\":%s,\"here\":%s,\"defect\":%s}", row->config.sms,
             study_blocks(&row->config), row->config.block[0], row->threads_per_sm, row->published ? "true" : "false",
             row->mended ? "true" : "false", row->thesis ? "true" : "false");
  }
  text_add(out, "]");
}

void study_json(const Study *study, Text *out) {
  text_add(out, "{\"seed\":%" PRIu64 ",\"confidence\":%.4g,", study->seed, study->confidence);
  add_times(study, out);
  text_add(out, ",");
  add_campaigns(study, out);
  text_add(out, ",");
  add_claims(study, out);
  text_add(out, ",");
  add_limits(study, out);
  text_add(out, "}");
}
