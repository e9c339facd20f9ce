#!/bin/sh
# Damaged files and words, by gcc's and clang's build under ASan and UBSan: hostile.sh REDOUBT FOLDER [INPUTS [SEED]]. See hostile.py. The builds are made here.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(realpath -m "$2")
inputs=${3:-2000}
seed=${4:-1}
cd "$here"
for preset in asan fuzz; do
  cmake --preset $preset >/dev/null
  cmake --build build-$preset -j "${JOBS:-$(nproc)}" --target redoubt -- --quiet
done
python3 tests/proof/hostile.py "$folder/hostile" "$inputs" "$seed" build-asan/redoubt build-fuzz/redoubt
