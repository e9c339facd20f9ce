#!/bin/sh
# Shortcuts of campaigns change no outcome: shortcuts.sh REDOUBT FOLDER. The long form of tests/campaign/compare.sh: every fault is settled
# with all shortcuts and by a full simulation.
set -eu
faults=12000
"$(dirname "$0")/../campaign/compare.sh" "$1" $faults >"$2/shortcuts.txt" || {
  cat "$2/shortcuts.txt"
  exit 1
}
awk '/faults alike$/ { for (i = 1; i <= NF; i++) if ($(i + 1) == "faults") n += $i; lots++ }
  END { printf "RESULT shortcuts: %d faults in %d lots settled with all shortcuts and by full simulation: all alike\n", n, lots }' "$2/shortcuts.txt"
