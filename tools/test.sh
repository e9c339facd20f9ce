#!/bin/sh
# What `make test` runs, in order; the first failure ends it.
set -eu
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
say() { printf '\n== %s\n' "$*"; }

build() {
  cmake --preset "$1" -DREDOUBT_TESTS=ON >/dev/null
  cmake --build "$2" -j "$jobs" -- --quiet
}

say "Build: gcc release, gcc with ASan and UBSan, clang, gcc without optimisation, fuzzers"
build release build
build asan build-asan
build clang build-clang
build debug build-debug
build fuzz build-fuzz

say "Gate"
tools/gate/run.sh build

say "Fuzz, 60 seconds"
tools/fuzz.sh 60

say "Same bytes from every compiler"
tests/determinism.sh build/redoubt build-clang/redoubt build-debug/redoubt

say "Tests under ASan and UBSan"
ctest --test-dir build-asan -j "$jobs" --output-on-failure --progress

say "Tests, release"
ctest --test-dir build -j "$jobs" --output-on-failure --progress
