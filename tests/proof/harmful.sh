#!/bin/sh
# Shortcuts change no outcome where faults do harm: harmful.sh REDOUBT FOLDER [HARMFUL [PAIRS [SEED]]]. See harmful.py.
# HARMFUL_WANTED and HARMFUL_PAIRS of the environment count where no argument is given.
set -eu
python3 "$(dirname "$0")/harmful.py" "$1" "$2/harmful" "${3:-${HARMFUL_WANTED:-600}}" "${4:-${HARMFUL_PAIRS:-40}}" "${5:-1}"
