#!/bin/sh
# Speed of the functional machine: functional.sh REDOUBT. Median of five runs, one core.
set -eu
redoubt=$1
printf '%-10s %14s %16s %12s %8s\n' workload instructions 'median M/s' 'goal M/s' verdict
failed=0
measure() {
  name=$1
  goal=$2
  for _ in 1 2 3 4 5; do
    "$redoubt" run "$name" --size large --json |
      awk -F '[:,]' '/"total"/ { total = 1 } total && /"thread_instructions"/ { n = $2 }
           total && /"host_seconds"/ { s = $2 } END { printf "%.0f %.1f\n", n, n / s / 1e6 }'
  done | sort -k2 -n | awk -v name="$name" -v goal="$goal" '
    NR == 3 { count = $1; speed = $2 }
    END {
      printf "%-10s %14d %16.1f %12d %8s\n", name, count, speed, goal, (speed >= goal ? "met" : "MISSED")
      exit (speed < goal)
    }' || failed=1
}
measure matmul 400
measure vecadd 150
measure bfs 60
exit $failed
