#!/bin/sh
# What `make demo` shows: three workloads on the simulated GPU, each checked on the CPU.
set -eu
redoubt=$1
for workload in vecadd matmul bfs; do
  echo "\$ redoubt run $workload"
  "$redoubt" run "$workload"
  echo
done
