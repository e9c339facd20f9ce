#!/bin/sh
# Speed of the SIMT machine on fermi-gtx480: simt.sh REDOUBT. One core, CPU time, medians of five; goals beside the numbers.
set -eu
redoubt=$1
machine=fermi-gtx480
out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0

# field NAME: of the total in the JSON text on standard input
field() { awk -v name="\"$1\"" -F '[:,]' '/"total"/ { total = 1 } total && index($1, name) { print $2 + 0; exit }'; }

median() { sort -n | sed -n 3p; }

verdict() { # MEASURED GOAL at-least|at-most
  awk -v measured="$1" -v goal="$2" -v kind="$3" \
    'BEGIN { met = kind == "at-least" ? measured >= goal : measured <= goal; print met ? "met" : "MISSED"; exit !met }'
}

# speed NAME OPTIONS...: "nanoseconds-per-warp-instruction thread-instructions warp-instructions cycles seconds" of the median run
speed() {
  for _ in 1 2 3 4 5; do
    "$redoubt" run "$@" --machine $machine --json >"$out"
    for name in host_seconds thread_instructions warp_instructions cycles; do field $name <"$out"; done | paste -s -d ' '
  done | sort -n | sed -n 3p
}

printf '%-34s %14s %12s %12s %10s %8s\n' workload 'thread instr.' 'cycles' 'ns/warp in.' 'M/s' 'goal'
instructions() { # GOAL NAME OPTIONS...
  goal=$1
  shift
  # shellcheck disable=SC2046 # four numbers
  set -- "$*" $(speed "$@")
  rate=$(awk -v s="$2" -v n="$3" 'BEGIN { printf "%.2f", n / s / 1e6 }')
  told=$(verdict "$rate" "$goal" at-least) || failed=1
  awk -v title="$1" -v s="$2" -v n="$3" -v w="$4" -v c="$5" -v rate="$rate" -v goal="$goal" -v told="$told" \
    'BEGIN { printf "%-34s %14d %12d %12.0f %10.2f %8s %s\n", title, n, c, s / w * 1e9, rate, goal, told }'
}
instructions 30 matmul
instructions 15 vecadd
instructions 5 bfs

# One block of one warp: the machine has little to do in a cycle and much to skip.
echo
# shellcheck disable=SC2046 # four numbers
set -- $(speed vecadd --param n=32 --param threads=32 --repeat 200)
rate=$(awk -v s="$1" -v c="$4" 'BEGIN { printf "%.2f", c / s / 1e6 }')
told=$(verdict "$rate" 1 at-least) || failed=1
printf '%-34s %38s %12s %8s %s\n' 'a lone block of 32 threads' 'million simulated cycles per second' "$rate" 1 "$told"

# Memory: peak of the largest workload, in MB.
peak() { # COMMAND...
  if [ -x /usr/bin/time ]; then
    /usr/bin/time -f %M "$@" 2>&1 >/dev/null | tail -n 1
  else
    python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
  fi
}
most=0
largest=
for name in $("$redoubt" list workloads | awk '/^[a-z]/ { print $1 }'); do
  kilobytes=$(peak "$redoubt" run "$name" --machine $machine)
  if [ "$kilobytes" -gt "$most" ]; then
    most=$kilobytes
    largest=$name
  fi
done
megabytes=$((most / 1000))
told=$(verdict "$megabytes" 200 at-most) || failed=1
printf '%-34s %38s %12s %8s %s\n' "memory of the largest ($largest)" 'MB at the peak' "$megabytes" 200 "$told"

# What hooks cost: the same run without, and with one that is told everything. Runs alternate, so that a slow moment of the host
# meets both.
: >"$out.plain"
: >"$out.hooked"
trap 'rm -f "$out" "$out.plain" "$out.hooked"' EXIT
for _ in 1 2 3 4 5; do
  "$redoubt" run matmul --machine $machine --json | field host_seconds >>"$out.plain"
  "$redoubt" run matmul --machine $machine --protect null --json | field host_seconds >>"$out.hooked"
done
ratio=$(awk -v plain="$(median <"$out.plain")" -v hooked="$(median <"$out.hooked")" 'BEGIN { printf "%.3f", hooked / plain }')
told=$(verdict "$ratio" 1.10 at-most) || failed=1
printf '%-34s %38s %12s %8s %s\n' 'the null hook (matmul)' 'times the time without a hook' "$ratio" 1.10 "$told"

# Where the time goes, where the host can tell.
if command -v perf >/dev/null 2>&1 && perf record -o "$out" -q "$redoubt" run matmul --machine $machine >/dev/null 2>&1; then
  echo
  echo 'where the time goes (matmul):'
  perf report -i "$out" --stdio --percent-limit 2 2>/dev/null | grep -E '^ +[0-9]' | head -n 20
fi
exit $failed
