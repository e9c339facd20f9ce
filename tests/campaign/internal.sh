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
  echo "$redoubt campaign scalarprod --size tiny --machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2" \
    "--structure rf --faults 300 -j2 --no-prune --no-snapshot -o $1"
}

$(campaign whole.db) >whole.out 2>&1 || fail "$(cat whole.out)"
"$redoubt" report whole.db --csv whole.csv

# Kills whatever simulations it finds, until it has found some three times.
$(campaign broken.db) >broken.out 2>broken.err &
parent=$!
killed=0
while [ $killed -lt 3 ] && kill -0 $parent 2>/dev/null; do
  if [ -s broken.db ] && children=$(pgrep -P $parent); then
    # shellcheck disable=SC2086
    kill -KILL $children 2>/dev/null && killed=$((killed + 1))
  fi
  sleep 0.05
done
code=0
wait $parent || code=$?
[ $killed -eq 3 ] || fail "no simulations to kill were found"
[ $code -eq 4 ] || fail "exit code $code instead of 4: $(cat broken.err)"
grep -q '^redoubt: INTERNAL ERROR: a simulation failed in Redoubt itself' broken.err || fail "not told at once: $(cat broken.err)"
grep -q '^redoubt: INTERNAL ERROR: fault [0-9]*, flip:rf.*ended by signal 9$' broken.err || fail "does not say which: $(cat broken.err)"
grep -q '^redoubt: INTERNAL ERROR: .*no figure of this campaign can be trusted' broken.err || fail "$(cat broken.err)"
[ ! -s broken.out ] || fail "prints figures that cannot be trusted: $(cat broken.out)"

"$redoubt" report broken.db --csv broken.csv
rows=$(grep -c ',internal,internal,run,.*"the simulation was ended by signal 9"$' broken.csv)
[ "$rows" -ge 1 ] || fail "$rows rows of failures in the journal"
[ "$(wc -l <broken.csv)" -eq 301 ] || fail "$(wc -l <broken.csv) lines in the journal"
"$redoubt" report broken.db | head -1 | grep -q '^INTERNAL ERROR: ' || fail "the report does not say so"

$(campaign broken.db) >again.out 2>&1 || fail "run again: $(cat again.out)"
"$redoubt" report broken.db --csv again.csv
cmp whole.csv again.csv
