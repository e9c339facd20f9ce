#!/bin/sh
# Fuzzes every target for the given seconds: fuzz.sh SECONDS. A finding is left in build-fuzz/findings/.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-600}
cmake --preset fuzz >/dev/null
cmake --build build-fuzz -j "$(nproc)" --target fuzzers -- --quiet
mkdir -p build-fuzz/findings
pids=""
for target in build-fuzz/fuzz_*; do
  [ -f "$target" ] && [ -x "$target" ] || continue
  name=${target##*/fuzz_}
  mkdir -p "build-fuzz/corpus/$name"
  seeds=""
  case $name in
    parser | compile) seeds=tests/ptx/fuzz-corpus ;;
    decode) seeds=tests/isa/fuzz-corpus ;;
    fault) seeds=tests/fault/fuzz-corpus ;;
    fatbin) seeds=tests/cuda/fatbin ;;
    calls) seeds=tests/cuda/fuzz-corpus ;;
    shader) seeds=workloads/fragment ;;
  esac
  # shellcheck disable=SC2086
  "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="build-fuzz/findings/$name-" "build-fuzz/corpus/$name" $seeds >"build-fuzz/$name.log" 2>&1 &
  pids="$pids $!:$name"
done
[ -n "$pids" ] || { echo "fuzz.sh: no fuzz target was built" >&2; exit 1; }
failed=0
for entry in $pids; do
  name=${entry#*:}
  if wait "${entry%%:*}"; then
    echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$name.log") inputs, none failed"
  else
    echo "fuzz $name: FAILED; the input is in build-fuzz/findings/, the report in build-fuzz/$name.log" >&2
    tail -n 40 "build-fuzz/$name.log" >&2
    failed=1
  fi
done
exit $failed
