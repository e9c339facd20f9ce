#!/bin/sh
# Cycles of four kernels on fermi-gtx480 beside GPGPU-Sim 4.0.0's on its SM2_GTX480 configuration: gpgpusim.sh REDOUBT
# The kernels were compiled by nvcc 11.8 for compute_35; GPGPU-Sim ran the same PTX on the same sizes. docs/DEVIATIONS.md says what differs.
set -eu
redoubt=$1
here=$(dirname "$0")/gpgpusim
goal_each=25 goal_mean=10

cycles_of() { # kernel options...
  kernel=$1
  shift
  "$redoubt" run "$here/$kernel.ptx" --machine fermi-gtx480 "$@" --json |
    awk -F '[:,]' '/"total"/ { total = 1 } total && /"cycles"/ { print $2 + 0; exit }'
}

{
  echo vadd 21179 "$(cycles_of vadd --grid 1024 --block 256 --arg 'a:f32[262144]=random(0,1)' --arg 'b:f32[262144]=random(0,1)' \
    --arg 'c:f32[262144]' --arg n:u32=262144)"
  echo sprod 20718 "$(cycles_of sprod --grid 128 --block 256 --arg 'a:f32[262144]=random(0,1)' --arg 'b:f32[262144]=random(0,1)' \
    --arg 'p:f32[128]' --arg n:u32=262144)"
  echo gray 10622 "$(cycles_of gray --grid 1024 --block 256 --arg 'a:u8[786432]=random(0,255)' --arg 'c:u8[262144]' --arg n:u32=262144)"
  echo matmul 122060 "$(cycles_of matmul --grid 16,16 --block 16,16 --arg 'a:f32[65536]=random(0,1)' --arg 'b:f32[65536]=random(0,1)' \
    --arg 'c:f32[65536]' --arg n:u32=256)"
} | awk -v each=$goal_each -v mean=$goal_mean '
  BEGIN { printf "%-8s %12s %12s %9s  within %d%%\n", "kernel", "GPGPU-Sim", "Redoubt", "ratio", each }
  {
    ratio = $3 / $2
    logs += log(ratio)
    good = ratio <= 1 + each / 100 && ratio >= 1 - each / 100
    failed += !good
    printf "%-8s %12d %12d %9.3f  %s\n", $1, $2, $3, ratio, good ? "yes" : "NO"
  }
  END {
    total = exp(logs / NR)
    good = total <= 1 + mean / 100 && total >= 1 - mean / 100
    printf "%-8s %12s %12s %9.3f  %s (within %d%%)\n", "geomean", "", "", total, good ? "yes" : "NO", mean
    exit failed > 0 || !good
  }'
