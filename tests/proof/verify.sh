#!/bin/sh
# Schemes with a promise planted wrong are found by the self-check: verify.sh REDOUBT FOLDER [CAMPAIGNS]. Twenty campaigns of each plant, and as many of schemes
# without one; see src/settle/test_verify.c.
set -eu
"$(dirname "$1")/settle_test_verify" "${3:-20}" >"$2/verify.txt" 2>&1 || {
  cat "$2/verify.txt"
  exit 1
}
awk -F ': found in | of ' '/: found in / { n = NF; honest = $0 ~ /^nothing/; if (honest) { sound += $n; alarms += $(n - 1) } else { plants++; campaigns += $n; found += $(n - 1) } }
  END {
    printf "RESULT verify: %d campaigns under %d schemes with a promise planted wrong: the self-check found it in %d; %d campaigns under honest schemes: %d false alarms\n", campaigns, plants, found, sound, alarms
    exit plants == 0 || alarms > 0
  }' "$2/verify.txt"
