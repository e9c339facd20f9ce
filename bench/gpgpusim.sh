#!/bin/sh
# Cycles of sixteen CUDA programs beside GPGPU-Sim 4.0.0's on its SM2_GTX480 configuration: gpgpusim.sh REDOUBT [options of compare.py]
# Needs nvcc for the host's half of the programs; their PTX is the one that GPGPU-Sim ran.
set -eu
command -v nvcc >/dev/null || { echo "skipped: nvcc is not installed"; exit 0; }
exec python3 "$(dirname "$0")/gpgpusim/compare.py" "$@"
