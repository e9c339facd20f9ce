#!/bin/sh
# NVIDIA's libraries beside the runtime are named, shared or static, there or not: outside.sh REDOUBT
set -eu
redoubt=$(realpath "$1")
command -v cc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
expect() { # NAME WORDS COMMAND...: one line of ours has them
  name=$1
  shift
  LD_LIBRARY_PATH=$libraries "$redoubt" run -- "$@" >out 2>&1 || true
  [ "$(grep -c "^redoubt: $name.* is NVIDIA's machine code" out)" = 1 ] || { echo "$*: $name is not named, or not once"; cat out; exit 1; }
}
libraries=$folder
printf 'int cublasCreate_v2(void *handle) { return handle == 0; }\n' >library.c
printf 'int cublasCreate_v2(void *handle);\nint main(void) { return cublasCreate_v2(0); }\n' >program.c
cc -shared -fPIC -Wl,-soname,libcublas.so.13 -o libcublas.so.13 library.c
cc -o shared program.c ./libcublas.so.13
cc -o static program.c library.c
printf '#include <dlfcn.h>\nint main(void) { return dlopen("libcudnn.so.9", RTLD_NOW) != 0; }\n' >loads.c
cc -o loads loads.c
expect 'libcublas.so.13 (cuBLAS)' ./shared
expect '.*/static (cuBLAS)' ./static
expect 'libcudnn.so.9 (cuDNN)' ./loads
libraries=
expect 'libcublas.so.13 (cuBLAS)' ./shared
