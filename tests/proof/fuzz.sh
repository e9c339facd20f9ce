#!/bin/sh
# Every fuzz target in turn: fuzz.sh REDOUBT FOLDER [SECONDS]. FUZZ_SECONDS of the environment counts where no argument is given; an hour each is 3600.
# The rows say the seconds that ran, and edges: branches of the code that is linked with a target.
set -eu
cd "$(dirname "$0")/../.."
code=0
tools/fuzz.sh "${3:-${FUZZ_SECONDS:-300}}" >"$2/table" || code=$?
cat "$2/table"
sed 1d "$2/table" | while read -r name ran busy inputs reached edges kept result; do
  echo "RESULT fuzz: $name: $inputs inputs in $ran s, $busy s of a processor; $reached of $edges edges reached, $kept inputs kept; $result"
done
exit $code
