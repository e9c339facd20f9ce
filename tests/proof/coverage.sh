#!/bin/sh
# Intervals hold what they say: coverage.sh REDOUBT FOLDER [REPETITIONS [FAULTS]]. See coverage.py. COVERAGE_REPETITIONS and
# COVERAGE_FAULTS of the environment count where no argument is given; COVERAGE_MINUTES: it ends then, and says how often it has repeated what.
set -eu
python3 "$(dirname "$0")/coverage.py" "$1" "$2/coverage" "${3:-${COVERAGE_REPETITIONS:-1000}}" "${4:-${COVERAGE_FAULTS:-400000}}" ${COVERAGE_MINUTES:-}
