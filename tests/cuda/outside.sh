#!/bin/sh
# NVIDIA's libraries beside the runtime: those that we have are ours; others are named, shared or static, there or not: outside.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
command -v cc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
fail() { echo "$*"; cat out; exit 1; }
run() { # COMMAND...: its output in out, its exit code in code
  code=0
  (
    [ -z "$asan" ] || export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
    export LD_LIBRARY_PATH="$libraries"
    exec "$redoubt" run -- "$@"
  ) >out 2>&1 || code=$?
}
expect() { # NAME COMMAND...: one line of ours names it and says what is offered
  name=$1
  shift
  run "$@"
  [ "$(grep -c "^redoubt: $name.* is NVIDIA's machine code.*libraries of its own in place of the shared libcublas and libcurand" out)" = 1 ] ||
    fail "$*: $name is not named, or not once"
}
libraries=$folder
printf 'int cufftCreate(void *handle) { return handle == 0; }\n' >fft.c
printf 'int cufftCreate(void *handle);\nint main(void) { return cufftCreate(0); }\n' >program.c
cc -shared -fPIC -Wl,-soname,libcufft.so.99 -o libcufft.so.99 fft.c
cc -o shared program.c ./libcufft.so.99
printf 'int cublasCreate_v2(void *handle) { return handle == 0; }\nint main(void) { return cublasCreate_v2(0); }\n' >static.c
cc -o static static.c
printf '#include <dlfcn.h>\nint main(void) { return dlopen("libcudnn.so.99", RTLD_NOW) != 0; }\n' >loads.c
cc -o loads loads.c
expect 'libcufft.so.99 (cuFFT)' ./shared
expect '.*/static (cuBLAS)' ./static
expect 'libcudnn.so.99 (cuDNN)' ./loads
# A program that cannot start without it: our line instead of the dynamic linker's.
libraries=
expect 'libcufft.so.99 (cuFFT)' ./shared
[ "$code" = 2 ] || fail "exit code $code"
[ "$(wc -l <out)" = 1 ] || fail "more than one line"

# cuBLAS is ours, wherever the program looks for it. A function that it does not offer is named when called, one that it has not heard of
# before the program starts.
printf 'int cublasCreate_v2(void **h) { return 99; }\nint cublasSsymm_v2(void) { return 99; }\n' >library.c
printf 'int cublasNeverHeardOf(void) { return 99; }\n' >more.c
cc -shared -fPIC -Wl,-soname,libcublas.so.13 -o libcublas.so.13 library.c more.c
printf 'int cublasCreate_v2(void **h);\nint cublasSsymm_v2(void);\nint main(void) { void *h; return cublasCreate_v2(&h) ? 1 : cublasSsymm_v2(); }\n' >ours.c
cc -o ours ours.c ./libcublas.so.13 -Wl,--disable-new-dtags -Wl,-rpath,"$folder"
run ./ours
[ "$code" = 15 ] || fail "cublasSsymm_v2: exit code $code"
[ "$(grep -c '^redoubt: cublasSsymm_v2 is not offered: it returns CUBLAS_STATUS_NOT_SUPPORTED' out)" = 1 ] || fail "cublasSsymm_v2 is not named"
printf 'int cublasNeverHeardOf(void);\nint main(void) { return cublasNeverHeardOf(); }\n' >unknown.c
cc -o unknown unknown.c ./libcublas.so.13
run ./unknown
[ "$code" != 0 ] || fail "cublasNeverHeardOf was called"
grep -q "^redoubt: .*/unknown asks for cublasNeverHeardOf, which Redoubt's cuBLAS does not have" out || fail "cublasNeverHeardOf is not named"
