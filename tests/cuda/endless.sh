#!/bin/sh
# Kernels that launch themselves without end, and device code that calls itself too deeply: a trap that says which limit it was, soon, on
# machines with and without time: endless.sh REDOUBT endless.cu. Exit code 77 (skipped) where there is no nvcc.
set -eu
redoubt=$(realpath "$1")
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$nvcc" -std=c++17 -arch=sm_75 -rdc=true -cudart shared -o "$folder/endless" "$2" -lcudadevrt 2>/dev/null
cd "$folder"
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')

fail() {
  echo "endless: FAILED: $*"
  grep -v '^_Z' out | head -20
  exit 1
}
expect() { # HOW LINE ERROR: one line of ours and the CUDA error, which stays
  code=0
  (
    [ -z "$asan" ] || export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
    # shellcheck disable=SC2086  # the options are words
    exec timeout -k 2 120 "$redoubt" run $machine --set limit.launches=1000 -- ./endless "$1"
  ) >out 2>&1 || code=$?
  [ "$code" = 1 ] || fail "$machine $1: exit code $code"
  [ "$(grep -c "^redoubt: kernel .*: $2" out)" = 1 ] || fail "$machine $1: no line '$2'"
  grep -q "^$1: $3, then $3$" out || fail "$machine $1: not $3"
}
for machine in "" "--machine fermi-gtx480 --set sm.count=2"; do
  expect again "kernels launch kernels too many levels deep: the limit is 24 levels (limit.launch_depth)" cudaErrorLaunchMaxDepthExceeded
  expect both "kernels launch kernels too many levels deep: the limit is 24 levels (limit.launch_depth)" cudaErrorLaunchMaxDepthExceeded
  expect mixed "kernels launch kernels too many levels deep: the limit is 24 levels (limit.launch_depth)" cudaErrorLaunchMaxDepthExceeded
  expect tail "kernels launch too many kernels: the limit is 1000 (limit.launches)" cudaErrorLaunchTimeout
  expect many "too many launches by kernels wait to run: the heap is full: .* (limit.heap)" cudaErrorLaunchPendingCountExceeded
  expect wide "too many launches by kernels wait to run: the limit is 2048 (limit.pending_launches)" cudaErrorLaunchPendingCountExceeded
  memory="the call stack is full: .*-byte local access .*: the thread has .* bytes of local memory"
  [ -z "$machine" ] || memory="the call stack is full: a warp has 128 entries for branches and calls (sm.stack)"
  for how in deeper even pointer one; do expect $how "$memory" cudaErrorHardwareStackError; done
  # Frames of a kilobyte with an array, which is not reached through the frame's register.
  expect heavy "the call stack is full: .*-byte local access .*: the thread has .* bytes of local memory" cudaErrorHardwareStackError
done
# Deep is not endless: 264 levels, each thread another.
machine="--machine fermi-gtx480 --set sm.count=2"
for more in "" "$machine --set sm.stack=1024"; do
  # shellcheck disable=SC2086
  (
    [ -z "$asan" ] || export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
    exec "$redoubt" run $more -- ./endless bounded
  ) >out 2>&1 || fail "bounded $more"
done
