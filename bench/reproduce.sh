#!/bin/sh
# The FlexGripPlus study, 111,520 faults, within 20 s on two cores: reproduce.sh REDOUBT
set -eu
redoubt=$1
goal=20
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
began=$(date +%s.%N)
"$redoubt" reproduce flexgrip -j 2 -q -o "$folder/results" >"$folder/said"
ended=$(date +%s.%N)
tail -n 1 "$folder/said"
awk -v goal=$goal -v began="$began" -v ended="$ended" 'BEGIN {
  seconds = ended - began
  printf "%-24s %8.1f s  goal %d s  %s\n", "111,520 faults", seconds, goal, (seconds <= goal ? "met" : "MISSED")
  exit (seconds > goal)
}'
