// Numbers of a campaign that nobody may ask for, and options that do not go together.
#include "campaign/campaign.h"

#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

typedef struct Case {
  uint64_t faults;
  double margin, confidence;
  uint32_t jobs;
  uint64_t timeout, first, end;
  uint32_t shard, shards;
  const char *enough;
  const char *refused; // NULL: accepted
} Case;

#define NUMBERS "must be a number from 0.0001 to 0.5"
#define BETWEEN "must be a number between 0.5 and 1"
#define GOOD .confidence = 0.99, .jobs = 1, .timeout = 10, .shards = 1
static const Case cases[] = {
    {GOOD},
    {GOOD, .faults = 1},
    {GOOD, .faults = 1000000000, .first = 3, .end = 1000000000},
    {GOOD, .faults = 1000000001, .refused = "faults 1000000001: must be 1 to 1000000000"},
    {GOOD, .faults = UINT64_MAX, .refused = "faults 18446744073709551615: must be 1 to 1000000000"},
    {GOOD, .margin = 0.0001},
    {GOOD, .margin = 0.5},
    {GOOD, .margin = 0.00009, .refused = "margin 9e-05: " NUMBERS},
    {GOOD, .margin = 0.51, .refused = "margin 0.51: " NUMBERS},
    {GOOD, .margin = -1, .refused = "margin -1: " NUMBERS},
    {GOOD, .margin = NAN, .refused = "margin nan: " NUMBERS},
    {GOOD, .margin = INFINITY, .refused = "margin inf: " NUMBERS},
    {GOOD, .faults = 5, .margin = 0.1, .refused = "faults says how many and margin how sure: give one of them"},
    {.confidence = 0, .jobs = 1, .timeout = 10, .shards = 1, .refused = "confidence 0: " BETWEEN},
    {.confidence = 0.5, .jobs = 1, .timeout = 10, .shards = 1, .refused = "confidence 0.5: " BETWEEN},
    {.confidence = 1, .jobs = 1, .timeout = 10, .shards = 1, .refused = "confidence 1: " BETWEEN},
    {.confidence = 2, .jobs = 1, .timeout = 10, .shards = 1, .refused = "confidence 2: " BETWEEN},
    {.confidence = -1, .jobs = 1, .timeout = 10, .shards = 1, .refused = "confidence -1: " BETWEEN},
    {.confidence = NAN, .jobs = 1, .timeout = 10, .shards = 1, .refused = "confidence nan: " BETWEEN},
    {.confidence = 0.99, .jobs = 256, .timeout = 1000000, .shards = 1},
    {.confidence = 0.99, .jobs = 0, .timeout = 10, .shards = 1, .refused = "jobs 0: must be 1 to 256"},
    {.confidence = 0.99, .jobs = 257, .timeout = 10, .shards = 1, .refused = "jobs 257: must be 1 to 256"},
    {.confidence = 0.99, .jobs = UINT32_MAX, .timeout = 10, .shards = 1, .refused = "jobs 4294967295: must be 1 to 256"},
    {.confidence = 0.99, .jobs = 1, .timeout = 0, .shards = 1, .refused = "timeout 0: must be 1 to 1000000"},
    {.confidence = 0.99, .jobs = 1, .timeout = 1000001, .shards = 1, .refused = "timeout 1000001: must be 1 to 1000000"},
    {.confidence = 0.99, .jobs = 1, .timeout = 10, .shards = 0, .refused = "shard 0/0: the first number must be below the second"},
    {.confidence = 0.99, .jobs = 1, .timeout = 10, .shard = 3, .shards = 4},
    {.confidence = 0.99,
     .jobs = 1,
     .timeout = 10,
     .shard = 4,
     .shards = 4,
     .refused = "shard 4/4: the first number must be below the second"},
    {GOOD, .first = 7, .end = 7, .refused = "part 7-7: the first number must be below the second"},
    {.confidence = 0.99,
     .jobs = 1,
     .timeout = 10,
     .shard = 0,
     .shards = 2,
     .end = 5,
     .refused = "part and shard both choose faults: give one of them"},
    {GOOD, .enough = "rf", .refused = "enough is for part"},
    {GOOD, .enough = "rf", .end = 3},
};

static CampaignOptions options_of(const Case *from) {
  CampaignOptions options = campaign_defaults();
  options.faults = from->faults;
  options.margin = from->margin;
  options.confidence = from->confidence;
  options.jobs = from->jobs;
  options.timeout = from->timeout;
  options.first = from->first;
  options.end = from->end;
  options.shard = from->shard;
  options.shards = from->shards;
  options.enough = from->enough;
  return options;
}

static void every_number_is_checked(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    CampaignOptions options = options_of(&cases[i]);
    Diags diags = {0};
    bool good = campaign_check(&options, &diags);
    const char *said = good ? "" : diags.items[0].text, *expected = cases[i].refused == NULL ? "" : cases[i].refused;
    if (strcmp(said, expected) != 0) fail_msg("case %zu: '%s' instead of '%s'", i, said, expected);
    assert_int_equal(diags.count, !good);
    diags_free(&diags);
  }
}

// Nothing is run before that: there is no target.
static void campaigns_ask(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    if (cases[i].refused == NULL) continue;
    CampaignOptions options = options_of(&cases[i]);
    Diags diags = {0};
    assert_int_equal(campaign_run(NULL, &options, &diags), CAMPAIGN_FAILED);
    assert_string_equal(diags.items[0].text, cases[i].refused);
    diags_free(&diags);
  }
}

static void what_is_not_said_is_possible(void **state) {
  (void)state;
  CampaignOptions options = campaign_defaults();
  Diags diags = {0};
  assert_true(campaign_check(&options, &diags));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_number_is_checked),
      cmocka_unit_test(campaigns_ask),
      cmocka_unit_test(what_is_not_said_is_possible),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
