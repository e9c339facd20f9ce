#!/bin/sh
# All 111,520 faults of the FlexGripPlus study end as they did before: flexgrip.sh REDOUBT FOLDER. The long form of tests/study/flexgrip.sh.
set -eu
mkdir -p "$2/flexgrip"
"$(dirname "$0")/../study/flexgrip.sh" "$1" "$2/flexgrip" >"$2/flexgrip.txt" || {
  cat "$2/flexgrip.txt"
  exit 1
}
awk '/faults as they were$/ { printf "RESULT flexgrip: %d faults of the FlexGripPlus study end as in an engine of its own, fault by fault; its findings are the same\n", $2 }' "$2/flexgrip.txt"
