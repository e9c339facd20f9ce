#!/bin/sh
# Protections in pairs, on every machine that has time: pairs.sh REDOUBT FOLDER [EVERY [FAULTS [SEED]]]. See pairs.py.
# A tenth of the pairs again under ASan and UBSan, if that build is there.
set -eu
here=$(dirname "$0")
python3 "$here/pairs.py" "$1" "$2/pairs" "${3:-1}" "${4:-20}" "${5:-1}"
careful="$(dirname "$1")/../build-asan/redoubt"
[ $# -gt 2 ] || [ ! -x "$careful" ] || python3 "$here/pairs.py" "$careful" "$2/pairs-asan" 10 8 2
