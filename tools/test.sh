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
tools/fuzz.sh 30
wait "$gate"

say "Same bytes from every compiler"
tests/determinism.sh build/redoubt build-plain/redoubt build-clang/redoubt

say "Tests under ASan and UBSan"
ctest --test-dir build-asan -j "$jobs" --output-on-failure --progress

say "Tests, release: whole programs, and what sanitizers did a part of"
ctest --test-dir build -j "$jobs" --output-on-failure --progress
