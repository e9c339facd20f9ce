#!/bin/sh
# Machine files at the ends of what each parameter may be run right, or are refused: parameters.sh REDOUBT FOLDER [EVERY [DRAWN [SEED]]]. See parameters.py.
# The whole is done by the build with sanitizers too, if that is there.
set -eu
here=$(dirname "$0")
python3 "$here/parameters.py" "$1" "$2/parameters" "${3:-1}" "${4:-3000}" "${5:-1}"
careful="$(dirname "$1")/../build-asan/redoubt"
[ $# -gt 2 ] || [ ! -x "$careful" ] || python3 "$here/parameters.py" "$careful" "$2/parameters-asan" 1 500 2
