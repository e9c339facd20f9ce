#!/bin/sh
# Failures of Redoubt itself are loud and fail the campaign: internal.sh REDOUBT. Simulations of a running campaign are killed; the
# campaign must say so, end with its own exit code, keep them in the journal as what they are, and settle them when run again.
set -eu
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "internal: FAILED: $*"
  exit 1
}
campaign() { # JOURNAL
  echo "$redoubt campaign scalarprod --size small --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2" \
    "--structure rf --faults 40 -j2 --no-prune --no-snapshot -o $1"
}

$(campaign whole.db) >whole.out 2>&1 || fail "$(cat whole.out)"
"$redoubt" report whole.db --csv whole.csv

# Kills whatever simulations there are until the campaign says that one has failed. They last longer than it takes to find them.
: >broken.err
$(campaign broken.db) >broken.out 2>broken.err &
parent=$!
tries=0
while [ $tries -lt 2000 ] && ! grep -q 'INTERNAL ERROR' broken.err; do
  tries=$((tries + 1))
  # shellcheck disable=SC2046
  kill -KILL $(pgrep -P $parent) 2>/dev/null || true
done
code=0
wait $parent || code=$?
[ $code -eq 4 ] || fail "exit code $code instead of 4: $(cat broken.err)"
grep -q '^redoubt: INTERNAL ERROR: a simulation failed in Redoubt itself' broken.err || fail "not told at once: $(cat broken.err)"
grep -q '^redoubt: INTERNAL ERROR: fault [0-9]*, flip:rf.*ended by signal 9$' broken.err || fail "does not say which: $(cat broken.err)"
grep -q '^redoubt: INTERNAL ERROR: .*no figure of this campaign can be trusted' broken.err || fail "$(cat broken.err)"
[ ! -s broken.out ] || fail "prints figures that cannot be trusted: $(cat broken.out)"

code=0
"$redoubt" report broken.db --csv broken.csv 2>report.err || code=$?
[ $code -eq 4 ] || fail "the report of failures: exit code $code"
grep -q '^redoubt: INTERNAL ERROR: .*no figure of this campaign can be trusted' report.err || fail "report: $(cat report.err)"
code=0
"$redoubt" report broken.db >report.out || code=$?
[ $code -eq 4 ] || fail "the report of failures on the terminal: exit code $code"
code=0
"$redoubt" compare broken.db broken.db >/dev/null 2>compare.err || code=$?
[ $code -eq 4 ] || fail "a comparison of failures: exit code $code"
grep -q '^redoubt: INTERNAL ERROR: .*no figure of this campaign can be trusted' compare.err || fail "compare: $(cat compare.err)"
rows=$(grep -c ',internal,internal,run,.*"the simulation was ended by signal 9",' broken.csv)
[ "$rows" -ge 1 ] || fail "$rows rows of failures in the journal"
[ "$(wc -l <broken.csv)" -eq 41 ] || fail "$(wc -l <broken.csv) lines in the journal"
head -1 report.out | grep -q '^INTERNAL ERROR: ' || fail "the report does not say so"

# Fewer faults than there are failures of: the journal is not to be trusted all the same.
first=$(sed -n 's/^\([0-9]*\),.*,internal,internal,.*/\1/p' broken.csv | head -1)
if [ "$first" -gt 0 ]; then
  code=0
  $(campaign broken.db) --faults "$first" >fewer.out 2>&1 || code=$?
  [ $code -eq 4 ] || fail "fewer faults: exit code $code: $(cat fewer.out)"
fi

$(campaign broken.db) >again.out 2>&1 || fail "run again: $(cat again.out)"
"$redoubt" report broken.db --csv again.csv
cmp whole.csv again.csv
