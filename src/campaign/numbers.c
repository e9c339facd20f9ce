// What a campaign refuses before anything runs: numbers without sense, options that do not go together. Whoever asks for it: the command line, a
// study, a task of a cluster, a program of the library.
#include "campaign/campaign.h"
#include "base/process.h"
#include "journal/statistics.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Number {
  const char *name;
  size_t offset, bytes;
  bool is_real, may_lack; // may_lack: 0 is not said
  double least, most;
  const char *rule; // NULL: that of confidences
} Number;

#define FIELD(name) #name, offsetof(CampaignOptions, name), sizeof((CampaignOptions){0}.name)
static const Number numbers[] = {
    {FIELD(faults), false, true, 1, 1e9, "must be 1 to 1000000000"},
    {FIELD(margin), true, true, 0.0001, 0.5, "must be a number from 0.0001 to 0.5"},
    {FIELD(confidence), true, false, 0, 0, NULL},
    {FIELD(jobs), false, false, 1, MOST_JOBS, "must be 1 to 256"},
    {FIELD(timeout), false, false, 1, 1e6, "must be 1 to 1000000"},
};
_Static_assert(MOST_JOBS == 256, "the rule of jobs says so");

static const char *broken_rule(const Number *number, double value) {
  if (number->rule == NULL) return confidence_is_possible(value) ? NULL : confidence_rule;
  return value >= number->least && value <= number->most ? NULL : number->rule; // NaN is neither
}

const char *campaign_number_rule(const char *name, double value) {
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    if (strcmp(numbers[i].name, name) == 0) return broken_rule(&numbers[i], value);
  }
  const bool is_number_of_campaigns = false;
  ASSERT(is_number_of_campaigns);
  return NULL;
}

static bool check_number(const CampaignOptions *options, const Number *number, Diags *diags) {
  const uint8_t *place = (const uint8_t *)options + number->offset;
  uint64_t whole = 0;
  double value;
  if (number->is_real) memcpy(&value, place, sizeof value);
  else memcpy(&whole, place, number->bytes), value = (double)whole;
  const char *rule = number->may_lack && value == 0 ? NULL : broken_rule(number, value);
  if (rule == NULL) return true;
  if (number->is_real) return diags_add(diags, NULL, 0, 0, "%s %g: %s", number->name, value, rule);
  return diags_add(diags, NULL, 0, 0, "%s %" PRIu64 ": %s", number->name, whole, rule);
}

// Which of the faults, and how many.
static bool check_choice(const CampaignOptions *options, Diags *diags) {
  uint64_t faults = options->faults;
  if (faults > 0 && options->margin > 0) return diags_add(diags, NULL, 0, 0, "faults says how many and margin how sure: give one of them");
  if (options->every && options->from_used)
    return diags_add(diags, NULL, 0, 0, "faults all strikes every bit once, and draw used leaves bits out: give one of them");
  if (options->shard >= options->shards)
    return diags_add(diags, NULL, 0, 0, "shard %u/%u: the first number must be below the second", options->shard, options->shards);
  if (options->end > 0 && options->shards > 1) return diags_add(diags, NULL, 0, 0, "part and shard both choose faults: give one of them");
  if (options->end > 0 && options->first >= options->end)
    return diags_add(diags, NULL, 0, 0, "part %" PRIu64 "-%" PRIu64 ": the first number must be below the second", options->first,
                     options->end);
  if (options->verify != 0 && options->verify != VERIFY_WORDS && !options->prune && !options->snapshot)
    return diags_add(diags, NULL, 0, 0,
                     "verify simulates faults from the beginning to the end: without prune and snapshot all of them are, so leave it out");
  return options->enough == NULL || options->end > 0 || diags_add(diags, NULL, 0, 0, "enough is for part");
}

bool campaign_check(const CampaignOptions *options, Diags *diags) {
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    if (!check_number(options, &numbers[i], diags)) return false;
  }
  return check_choice(options, diags);
}

CampaignOptions campaign_defaults(void) {
  return (CampaignOptions){.structures = "rf",
                           .model = "flip",
                           .window = "all",
                           .protection = "none",
                           .confidence = 0.99,
                           .jobs = 1,
                           .shards = 1,
                           .timeout = 10,
                           .prune = true,
                           .snapshot = true,
                           .verify = VERIFY_WORDS};
}
