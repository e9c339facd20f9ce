#!/bin/sh
# What --draw used leaves out is masked, and what it says is what --draw all says: draws.sh REDOUBT FOLDER [FAULTS [USED [SEED]]]. See draws.py.
set -eu
command -v python3 >/dev/null || exit 77
python3 "$(dirname "$0")/draws.py" "$1" "$2/draws" "${3:-400}" "${4:-300}" "${5:-1}"
