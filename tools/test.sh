#!/bin/sh
# What `make test` runs, in order; the first failure ends it.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
say() { printf '\n== %s\n' "$*"; }

build() { # preset folder target
  cmake --preset "$1" >/dev/null
  cmake --build "$2" -j "$jobs" --target "$3" -- --quiet
}

say "Build: gcc release, gcc under ASan and UBSan, gcc without optimisation, clang"
cmake --preset release -DREDOUBT_TESTS=WHOLE >/dev/null
cmake --build build -j "$jobs" -- --quiet
build asan build-asan all
build plain build-plain redoubt
build clang build-clang redoubt

say "Gate; beside it fuzz, 30 seconds"
tools/gate/run.sh build &
gate=$!
JOBS=99 tools/fuzz.sh 30
wait "$gate"

say "Damaged files and words: gcc's and clang's build under ASan and UBSan"
tests/proof/hostile.sh build/redoubt build-asan/proof 150

say "The golden record: all of it, and a part of it by gcc without optimisation and by clang"
tests/golden/golden.py check build/redoubt -j "$jobs"
for redoubt in build-plain/redoubt build-clang/redoubt; do
  tests/golden/golden.py check "$redoubt" '^run .*( program|--size tiny|\.ptx|\.fp)|^campaign vecadd' -j "$jobs"
done

say "Tests under ASan and UBSan"
ctest --test-dir build-asan -j "$jobs" --output-on-failure --progress

say "Tests, release: whole programs, and what sanitizers did a part of"
ctest --test-dir build -j "$jobs" --output-on-failure --progress
