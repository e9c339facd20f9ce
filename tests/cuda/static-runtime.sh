#!/bin/sh
# Programs with the static CUDA runtime, in every form: static-runtime.sh REDOUBT SOURCE.cu
set -eu
redoubt=$(realpath "$1")
source=$(realpath "$2")
command -v nvcc >/dev/null 2>&1 || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
  export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi

fail() {
  echo "$1"
  cat out
  exit 1
}
# simulated COMMAND...: passes, with kernels in the table.
simulated() {
  LD_PRELOAD=$asan "$redoubt" run -- "$@" >out 2>&1 || fail "$*: exit code $?"
  grep -q '^PASS$' out || fail "$*: no PASS"
  grep -q '^add  ' out || fail "$*: no launch"
}

nvcc -std=c++17 -arch=sm_75 -Xcompiler -fPIC -c -o vecadd.o "$source"
nvcc -cudart static -o pie vecadd.o
nvcc -cudart static -Xcompiler -no-pie -Xlinker -no-pie -o fixed vecadd.o
simulated ./pie
simulated ./fixed
# Started by a script, as many suites do.
printf '#!/bin/sh\n./pie\n' >script
chmod +x script
simulated ./script

# Libraries with a static runtime of their own, needed by the program or loaded by it.
objcopy --redefine-sym main=part vecadd.o part.o
nvcc -cudart static -shared -o libpart.so part.o
printf 'int part(void);\nint main(void) { return part(); }\n' >needs.c
cc -o needs needs.c -L. -lpart -Wl,-rpath,"$folder"
simulated ./needs
cat >loads.c <<'END'
#include <dlfcn.h>
int main(void) {
  void *library = dlopen("./libpart.so", RTLD_NOW);
  int (*part)(void) = library == 0 ? 0 : (int (*)(void))dlsym(library, "part");
  return part == 0 ? 9 : part();
}
END
cc -o loads loads.c
simulated ./loads

# A function of a newer runtime: not supported, and named once.
cat >tomorrow.cu <<'END'
#include <cstdio>
int main() {
  int device;
  for (int i = 0; i < 2; i++) std::printf("%s\n", cudaGetErrorName(cudaDeviceGetByPCIBusId(&device, "0")));
}
END
nvcc -cudart static -o tomorrow tomorrow.cu
objcopy --redefine-sym cudaDeviceGetByPCIBusId=cudaDeviceOfTomorrow tomorrow
LD_PRELOAD=$asan "$redoubt" run -- ./tomorrow >out 2>&1 || fail "tomorrow: exit code $?"
[ "$(grep -c '^cudaErrorNotSupported$' out)" = 2 ] || fail "not refused"
[ "$(grep -c 'cudaDeviceOfTomorrow is not supported' out)" = 1 ] || fail "not named"

# Stripped: one line, and it is not run.
cp pie stripped
strip stripped
code=0
LD_PRELOAD=$asan "$redoubt" run -- ./stripped >out 2>&1 || code=$?
[ "$code" = 2 ] || fail "stripped: exit code $code, expected 2"
[ "$(wc -l <out)" = 1 ] || fail "stripped: not one line"
grep -q "is stripped.*nvcc -cudart shared" out || fail "stripped: no advice"

# Faults and campaigns come out as with the shared runtime.
[ -z "$asan" ] || exit 0 # takes long there
nvcc -cudart shared -o shared vecadd.o
for form in shared pie; do
  cp $form app
  "$redoubt" run --machine fermi-gtx480 --fault 'flip:rf[sm=0,warp=0,reg=0,lane=7,bit=4]@1500' -- ./app >$form.fault
  "$redoubt" campaign --machine fermi-gtx480 -o $form.db --structure rf --faults 60 -- ./app >/dev/null 2>out || fail "campaign: exit code $?"
  "$redoubt" report -q $form.db --csv $form.csv
done
diff shared.fault pie.fault
diff shared.csv pie.csv
