#!/bin/sh
# The FlexGripPlus study, 111,520 faults, within 120 s on two cores: reproduce.sh REDOUBT
set -eu
redoubt=$1
goal=120
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$redoubt" reproduce flexgrip -j 2 >"$output"
head -n 2 "$output"
awk -v goal=$goal '/ s with 2 processes$/ {
  printf "%-24s %8.1f s  goal %d s  %s\n", "111,520 faults", $1, goal, ($1 <= goal ? "met" : "MISSED")
  found = 1
  exit ($1 > goal)
} END { if (!found) exit 1 }' "$output"
