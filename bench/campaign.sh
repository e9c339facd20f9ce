#!/bin/sh
# Speed of fault campaigns: campaign.sh REDOUBT [PART]. PART is workloads, cuda or compare; without it, all of them. Times are the host's, so it should have nothing else to do; CPU seconds count all processes.
# First the campaign that the README names; then, for six workloads, injections per core-hour beside one full simulation per fault, on one core each;
# then the same for two CUDA programs, where there is nvcc; then the comparison of 2,004 faults with and without shortcuts.
set -eu
redoubt=$1 part=${2:-all}
here=$(dirname "$0")
machine=fermi-gtx480
goal_seconds=60 goal_ratio=200 goal_cuda=50
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

cpu() { # CPU seconds of all that has run so far; not in a subshell, which would begin at zero
  times >"$folder/times"
  spent=$(awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); print 60 * (u[1] + s[1]) + u[2] + s[2] }' "$folder/times")
}

settled() { # CSV: shares of its faults, in per cent: without a simulation, stopped early, to the end
  awk -F '"' '{ for (i = 2; i <= NF; i += 2) gsub(",", ";", $i); print }' OFS='"' "$1" | awk -F , '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "settled") column = i; next }
    { n[$column]++; all++ }
    END { printf "%.2f %.2f %.2f", 100 * (n["overwritten"] + n["unread"] + n["class"] + n["followed"]) / all,
                 100 * (n["hash"] + n["block"]) / all, 100 * n["run"] / all }'
}

size_of() { # workload: options, where the default size is not that of the figures in docs/performance.md
  case $1 in transpose) echo --param width=512 --param height=512 ;; esac
}

campaign() { # workload faults workers
  # shellcheck disable=SC2046 # options
  "$redoubt" campaign "$1" $(size_of "$1") --machine $machine --structure rf --faults "$2" -j"$3" -o "$folder/$1.db" >/dev/null 2>&1
  "$redoubt" report -q "$folder/$1.db" --csv "$folder/$1.csv"
  rm "$folder/$1.db"
}

rate() { # CSV's name, title, faults; goal, full, spent and before are set
  echo "$3 $full $spent $before $(settled "$folder/$1.csv")" | awk -v goal="$goal" -v title="$2" '{
    cost = ($3 - $4) / $1
    ratio = $2 / cost
    printf "%-22s %8d %16.0f %18.0f %8.0f %11.2f%%  %s\n", title, $1, 3600 / cost, 3600 / $2, ratio, $7, (ratio >= goal ? "met" : "MISSED")
    exit (ratio < goal) }'
}

is_wanted() { [ "$part" = all ] || [ "$part" = "$1" ]; }

readme_campaign() {
  began=$(date +%s.%N)
  cpu
  before=$spent
  campaign scalarprod 10000 2
  cpu
  settled "$folder/scalarprod.csv" | awk -v seconds="$(date +%s.%N)" -v began="$began" -v cpu="$spent" -v before="$before" -v goal=$goal_seconds '{
    wall = seconds - began
    printf "scalarprod, 10,000 faults in rf, two workers: %.1f s (goal %d s: %s), %.1f CPU seconds\n", wall, goal, (wall <= goal ? "met" : "MISSED"), cpu - before
    printf "settled without a simulation %.2f%%, by one that stopped early %.2f%%, simulated to the end or a trap %.2f%% (goal 5%%: %s)\n", $1, $2, $3, ($3 <= 5 ? "met" : "MISSED")
    exit (wall > goal || $3 > 5) }' || failed=1
}

full_runs() { # command...: CPU seconds of one, from three
  cpu
  before=$spent
  for _ in 1 2 3; do "$@" >/dev/null 2>&1; done
  cpu
  full=$(echo "$spent $before" | awk '{ print ($1 - $2) / 3 }')
  before=$spent
}

head_line() { # what goal
  printf '\n%-22s %8s %16s %18s %8s %12s  goal %d\n' "$1" faults 'per core-hour' 'full simulations' ratio 'to the end' "$2"
}

workloads() {
  goal=$goal_ratio
  head_line workload $goal
  for workload in scalarprod matmul reduction vecadd hotspot transpose; do
    # shellcheck disable=SC2046 # options
    full_runs "$redoubt" run $workload $(size_of $workload) --machine $machine
    campaign $workload 10000 1
    cpu
    rate $workload $workload 10000 || failed=1
  done
}

# Without protections, and under one whose faults are followed or tried, too.
cuda_programs() {
  goal=$goal_cuda
  nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
  if [ ! -x "$nvcc" ]; then
    echo "no nvcc: CUDA programs are left out"
    return
  fi
  head_line 'CUDA program' $goal
  for program in matmul relax; do
    "$nvcc" -O2 -std=c++17 -arch=sm_75 -cudart shared -o "$folder/$program" "$here/cuda/$program.cu"
    for protect in none dmr; do
      full_runs "$redoubt" run --machine $machine --protect $protect -- "$folder/$program"
      "$redoubt" campaign --machine $machine --protect $protect --structure rf --faults 10000 -j1 -o "$folder/$program.db" -- "$folder/$program" >/dev/null 2>&1
      "$redoubt" report -q "$folder/$program.db" --csv "$folder/$program.csv"
      rm "$folder/$program.db"
      cpu
      rate $program "$program, $protect" 10000 || failed=1
    done
  done
}

if is_wanted workloads; then
  readme_campaign
  workloads
fi
if is_wanted cuda; then cuda_programs; fi
if is_wanted compare; then
  echo
  "$here/../tests/campaign/compare.sh" "$redoubt"
fi
exit $failed
