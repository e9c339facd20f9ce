#!/bin/sh
# Random campaigns under kills, full disks and clocks that jump: soak.sh REDOUBT FOLDER [MINUTES|Nx [SEED]]. See soak.py. SOAK_MINUTES and SOAK_SEED of the
# environment count where no argument is given; 600 minutes is a night.
set -eu
python3 "$(dirname "$0")/soak.py" "$1" "$2/soak" "${3:-${SOAK_MINUTES:-20}}" "${4:-${SOAK_SEED:-1}}"
