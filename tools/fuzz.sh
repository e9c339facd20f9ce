#!/bin/sh
# Fuzzes targets for the given seconds each: fuzz.sh [SECONDS [TARGET...]]; without names, all of them. JOBS of them run at a time (as many as there are
# processors). It ends with a table; a finding is left in build-fuzz/findings/, a report in build-fuzz/TARGET.log. Targets are built by clang, under ASan and UBSan.
set -eu
cd "$(dirname "$0")/.."

seeds_of() {
  case $1 in
    parser | compile) echo tests/ptx/fuzz-corpus ;;
    decode) echo tests/isa/fuzz-corpus ;;
    sass) echo tests/sass/fuzz-corpus ;;
    fault) echo tests/fault/fuzz-corpus ;;
    fatbin) echo tests/cuda/fatbin ;;
    calls) echo tests/cuda/fuzz-corpus ;;
    shader) echo workloads/fragment ;;
    study) dirname tests/study/made-up.ini studies/*/study.ini ;;
    png) echo tests/fragment ;;
    plan) echo tests/cluster/fuzz-corpus ;;
    *) echo "fuzz.sh: target $1 has no seeds: name them here" >&2; exit 1 ;;
  esac
}

# One target. Its row of the table: seconds that it ran, seconds of a processor, inputs, edges that were reached and that there are, inputs kept.
one() { # TARGET SECONDS
  log=build-fuzz/$1.log
  mkdir -p "build-fuzz/corpus/$1"
  seeds=$(seeds_of "$1")
  began=$(date +%s)
  # shellcheck disable=SC2086
  "build-fuzz/fuzz_$1" -max_total_time="$2" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="build-fuzz/findings/$1-" "build-fuzz/corpus/$1" $seeds >"$log" 2>&1 && code=0 || code=$?
  ended=$(date +%s)
  times >"build-fuzz/$1.row" # in this shell: one in a pipe has no children yet
  busy=$(sed -n '2s/[ms]/ /gp' "build-fuzz/$1.row" | awk '{ printf "%.0f", 60 * $1 + $2 + 60 * $3 + $4 }')
  inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  reached=$(sed -n 's/^#[0-9]*\t.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
  edges=$(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$log" | head -n 1)
  kept=$(find "build-fuzz/corpus/$1" -type f | wc -l)
  [ "$code" -eq 0 ] && [ -n "$inputs" ] && result="none failed" || result="FAILED"
  echo "$1 $((ended - began)) $busy ${inputs:-0} ${reached:-0} ${edges:-0} $kept $result" >"build-fuzz/$1.row"
  [ "$result" = "none failed" ] || tail -n 40 "$log" >&2
}

if [ "${1:-}" = --one ]; then
  one "$3" "$2"
  exit 0
fi
seconds=${1:-600}
[ $# -eq 0 ] || shift
cmake --preset fuzz >/dev/null
cmake --build build-fuzz -j "$(nproc)" --target fuzzers -- --quiet
mkdir -p build-fuzz/findings
if [ $# -eq 0 ]; then
  for target in src/*/fuzz_*.c; do
    name=${target##*/fuzz_}
    set -- "$@" "${name%.c}"
  done
fi
for name in "$@"; do seeds_of "$name" >/dev/null; done
printf '%s\n' "$@" | xargs -P "${JOBS:-$(nproc)}" -n 1 tools/fuzz.sh --one "$seconds"

printf '%-8s %7s %9s %12s %8s %8s %6s  %s\n' target seconds processor inputs reached edges kept result
failed=0
for name in "$@"; do
  read -r _ ran busy inputs reached edges kept result <"build-fuzz/$name.row"
  printf '%-8s %7s %9s %12s %8s %8s %6s  %s\n' "$name" "$ran" "$busy" "$inputs" "$reached" "$edges" "$kept" "$result"
  [ "$result" = "none failed" ] || failed=1
done
[ "$failed" -eq 0 ] || echo "fuzz.sh: inputs that fail are in build-fuzz/findings/, reports in build-fuzz/*.log" >&2
exit $failed
