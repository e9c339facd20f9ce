#!/bin/sh
# Campaigns on CUDA programs: cuda.sh REDOUBT app.cu [PART], with rounds.cu and stencil.cu beside it; comparisons with one PART-th of the faults (default all). Shortcuts change no outcome; output, files
# and what is copied back are judged, the program's own verdict says how bad; the program is forked where it can be, else started again; single faults are run and replayed.
# Exit code 77 (skipped) where there is no nvcc.
set -eu
. "$(dirname "$0")/columns.sh"
redoubt=$(realpath "$1") source=$(realpath "$2") part=${3:-1}
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for program in app rounds stencil off; do
  "$nvcc" -std=c++17 -arch=sm_75 -lineinfo -cudart shared -o "$folder/$program" "$(dirname "$2")/$program.cu"
done
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
if [ -n "$asan" ]; then
  export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
fi
cd "$folder"

machine="--machine fermi-gtx480 --set sm.count=2 --set sm.registers=4096 --set dram.controllers=2" # few registers, so that faults meet used ones
campaign() { # name options...
  name=$1
  shift
  rm -f "$name.db" starts
  # shellcheck disable=SC2086
  "$redoubt" campaign $machine -o "$name.db" "$@" >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report -q "$name.db" --csv "$name.csv"
}

same() { # two campaigns
  outcomes "$1.csv" >one.txt
  outcomes "$2.csv" >two.txt
  diff one.txt two.txt || { echo "$1 and $2 differ"; exit 1; }
}

for structure in rf l2,latch; do
  campaign "fast-$structure" --structure $structure --faults $((120 / part)) -j2 -- ./app
  campaign "slow-$structure" --structure $structure --faults $((120 / part)) -j1 --no-prune --no-snapshot -- ./app
  same "fast-$structure" "slow-$structure"
done

# Drawn from what is used, which the program's process measures: def-use, which looks on at another run, finds each of them read.
campaign used --structure rf,l2 --faults $((60 / part)) --draw used -j2 -- ./app
campaign again --structure rf,l2 --faults $((60 / part)) --draw used -j1 --no-prune --no-snapshot -- ./app
same used again
python3 - <<'PYTHON' || { echo "drawn from what is used"; exit 1; }
import sqlite3
db = sqlite3.connect("used.db")
assert db.execute("SELECT count(*) FROM structures WHERE drawn > 0 AND drawn < 1").fetchone() == (2,)
assert db.execute("SELECT min(read) FROM results").fetchone() == (1,)
PYTHON

# Faults that last begin where they are first met; outputs of units.
for model in stuck1 flip; do
  campaign fast --structure rf,unit.sp --model $model --faults $((60 / part)) -j2 -- ./app
  campaign slow --structure rf,unit.sp --model $model --faults $((60 / part)) -j2 --no-prune --no-snapshot -- ./app
  same fast slow
done

# Host code that goes on until the results say so, with files that are open when the fault strikes and one that is read
# meanwhile: two runs without faults and one that forks for each lot of faults (lots of 64, 64, 128, 256), or as many more as there are faults.
starts() { # least most
  count=$(wc -c <starts)
  if [ "$count" -lt "$1" ] || [ "$count" -gt "$2" ]; then echo "$count starts of the program, not $1 to $2"; exit 1; fi
}
seq 1 7 >numbers
faults=$((100 / part)) forking=$((2 + (100 / part + 63) / 64)) # starts: two without faults, and one for each lot of 64
set -- --structure dram --window cycles:300-3000 --faults $faults
files="--output log.txt --output table.txt"
# shellcheck disable=SC2086
{
  campaign slow "$@" -j2 --no-prune --no-snapshot $files -- ./rounds -s starts -e -i numbers -o log.txt -r table.txt
  starts $((faults + 2)) $((faults + 2))
  campaign one "$@" -j1 --no-prune $files -- ./rounds -s starts -e -i numbers -o log.txt -r table.txt
  starts $forking $forking
  campaign two "$@" -j2 $files -- ./rounds -s starts -e -i numbers -o log.txt -r table.txt
  starts 3 $forking
}
same slow one
same slow two
if ls ./*.redoubt 2>/dev/null; then echo "files are left"; exit 1; fi
for pattern in 'sdc,.*files' 'sdc-critical,.*exit code 3'; do
  grep -q "$pattern" slow.csv || { echo "no $pattern"; exit 1; }
done
# The same with processes beside each other, none of which may write into another's files.
campaign slow "$@" -j1 --no-snapshot -- ./rounds -s starts -i numbers -o log.txt
for jobs in 1 2 5; do
  campaign fast "$@" -j$jobs --no-prune -- ./rounds -s starts -i numbers -o log.txt
  starts $forking $forking
  same slow fast
done
set -- --structure rf --model lanes --window cycles:300-3000 --faults $((300 / part))
# What the host knows is not forgotten when the device is as it would be without the fault.
for how in "-a d" "-a u" "-a h" "-a g" "-a v" -v; do
  # shellcheck disable=SC2086
  {
    campaign fast "$@" -j2 -- ./rounds -s starts -f $how
    starts 3 6
    campaign slow "$@" -j2 --no-snapshot -- ./rounds -s starts -f $how
  }
  same fast slow
  [ "$part" -gt 1 ] || grep -q 'sdc,.*standard output' fast.csv || { echo "no wrong output with $how"; exit 1; }
done
# A process that the program forks is its own business.
for model in lanes stuck1; do
  campaign fast "$@" --model $model -j2 -- ./rounds -s starts -c
  starts 3 6
  campaign slow "$@" --model $model -j2 --no-snapshot -- ./rounds -s starts -c
  same fast slow
done
# A second thread, a pipe, shared memory: cannot be forked.
for how in -t -p "-m shared.bin"; do
  # shellcheck disable=SC2086
  {
    campaign again "$@" -j1 -- ./rounds -s starts $how
    starts 4 $((300 / part + 2))
    campaign slow "$@" -j1 --no-snapshot -- ./rounds -s starts $how
  }
  same again slow
done

# Single faults: the journal's outcome again, and why.
campaign single --structure rf --window cycles:300-1200 --faults 400 -j2 --output result.txt -- ./app result.txt
for outcome in masked sdc due-address; do
  id=$(sed -n "s/^\([0-9]*\),.*,$outcome,.*/\1/p" single.csv | head -1)
  "$redoubt" replay single.db "$id" >replay.out || { cat replay.out; exit 1; }
  grep -q "^outcome  *$outcome:" replay.out || { cat replay.out; exit 1; }
  grep -q 'the journal says the same' replay.out || { cat replay.out; exit 1; }
done
fault=$(sed -n 's/.*,sdc,.*"wrong: standard output, files.*","\([^"]*\)",.*$/\1/p' single.csv | head -1)
# shellcheck disable=SC2086
"$redoubt" run $machine --output result.txt --fault "$fault" --explain -- ./app result.txt >explained.out
stored=$(grep -n 'out\[i\] = in\[i\] \* in\[i\]' "$source" | cut -d : -f 1)
for pattern in 'wrong: standard output, files, data copied back' 'next read at' 'stores r' "\[line [0-9]*: st.global.u32 .*; app.cu:$stored\]"; do
  grep -q "$pattern" explained.out || { cat explained.out; exit 1; }
done
# A name that is misspelt would hide wrong files.
campaign misspelt --structure dram --faults 2 --output results.txt -- ./app result.txt
grep -q 'redoubt: --output results.txt: the program does not write it without faults; is the name right?' misspelt.out || { cat misspelt.out; exit 1; }
# Files count, and traps of which the host hears.
campaign files --structure dram --window kernel:_Z6squarePKiPii --faults 60 -j2 --output result.txt -- ./app result.txt
campaign traps --structure rf --model lanes --window cycles:100-1200 --faults 300 -j2 -- ./app
grep -q 'sdc,.*wrong:.* files' files.csv || { echo "no wrong file"; exit 1; }
grep -q 'due-address' traps.csv || { echo "no trap"; exit 1; }
if grep -q internal ./*.csv; then
  echo "internal errors"
  exit 1
fi
# A program that checks its results has the outcomes of one that does not, but for how bad they are.
column() { # file name: of each fault
  plain "$1" | awk -F , -v name="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) wanted = i }
    NR > 1 { print NR - 2, $wanted }'
}
set -- --structure rf,unit.sp,dram --window cycles:100-2500 --faults $((600 / part)) -j2
campaign silent "$@" -- ./stencil silent
column silent.csv outcome_group >silent.txt
grep -q ' sdc' silent.txt || { echo "no wrong result"; exit 1; }
for how in code word exact; do
  campaign $how "$@" -- ./stencil $how
  column $how.csv outcome_group | diff silent.txt - || { echo "checked with $how: other outcomes"; exit 1; }
done
expect() { # journal outcomes: the SDCs that it has
  found=$(column "$1.csv" outcome | sed -n 's/.* \(sdc.*\)/\1/p' | sort -u | tr '\n' ' ')
  [ "$found" = "$2 " ] || { echo "$1: $found, not $2"; exit 1; }
}
expect silent sdc
expect code "sdc sdc-critical"
expect word "sdc-critical sdc-tolerable"
expect exact sdc-critical
campaign early "$@" -- ./stencil early
grep -q 'due-host,.*ended before its results were copied back, with code 1' early.csv || { echo "no early end"; exit 1; }
campaign managed "$@" -- ./stencil managed
grep -q 'sdc-critical,.*wrong: exit code 1' managed.csv || { echo "no exit code alone"; exit 1; }
# What cannot be judged is refused.
refused() { # pattern command...
  pattern=$1
  shift
  code=0
  "$@" >refused.out 2>&1 || code=$?
  [ $code -eq 2 ] || { echo "exit code $code: $*"; exit 1; }
  grep -q "$pattern" refused.out || { cat refused.out; exit 1; }
}
refused "cannot run" "$redoubt" campaign --machine fermi-gtx480 -o none.db -- ./nothing
refused "is written twice" "$redoubt" campaign --machine fermi-gtx480 -o none.db --output ./none.db -- ./app
refused "makes no CUDA calls" "$redoubt" campaign --machine fermi-gtx480 -o none.db -- true
# Whatever way is taken, and with what differs.
differs="line 2 of standard output is 'now: [a-z]*', then 'now: [a-z]*'. '--ignore PATTERN'"
for how in "campaign -o none.db" "campaign --no-prune -o none.db" "campaign --no-prune --no-snapshot -o none.db" \
  "run --fault flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@100" "run --explain --fault flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@100"; do
  # shellcheck disable=SC2086
  refused "$differs" "$redoubt" $how $machine -- ./stencil month
done
# Numbers that vary, such as times, are not compared, and users are told. Other lines can be left out, or all. Outcomes are those of the
# same program without the clock.
set -- --structure rf,unit.sp --faults 300
campaign word "$@" -- ./stencil word
campaign clock "$@" -- ./stencil clock
grep -q "redoubt: numbers that vary between runs without faults are not compared, in these lines: 'took until " clock.out || { cat clock.out; exit 1; }
same word clock
campaign month "$@" --ignore '^now' -- ./stencil month
same word month
campaign month "$@" --ignore-output -- ./stencil month
grep -q 'sdc' month.csv || { echo "nothing was wrong"; exit 1; }
fault=flip:rf[sm=0,warp=0,reg=2,lane=7,bit=4]@100
"$redoubt" run --fault $fault $machine --ignore now -- ./stencil month >month.out 2>&1 || { cat month.out; exit 1; }
"$redoubt" replay -q month.db 1 >month.out 2>&1 || { cat month.out; exit 1; }
refused "is no regular expression" "$redoubt" run --fault $fault $machine --ignore '(now' -- ./stencil month

# Two kernels whose names differ after 600 letters are two in the journal.
long=$(printf 'k%0600d' 0)
cat >names.cu <<END
extern "C" __global__ void ${long}a(int *x) { x[threadIdx.x] += 1; }
extern "C" __global__ void ${long}b(int *x) { x[threadIdx.x] *= 3; }
int main() {
  int *x, y[32];
  cudaMalloc(&x, sizeof y);
  ${long}a<<<1, 32>>>(x);
  ${long}b<<<1, 32>>>(x);
  return cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
}
END
env -u LD_PRELOAD "$nvcc" -arch=sm_75 -cudart shared -o names names.cu # the compiler is no program of ours
campaign names --structure rf --faults 20 -- ./names
[ "$(sqlite3 names.db 'SELECT count(DISTINCT kernel) FROM launches')" -eq 2 ] || { echo "kernels with long names are taken for one"; exit 1; }

# Tolerances, of a copy from the device and of a file: c[5] is off by 4.77e-7 of itself (tests/cli/faults.cases). What has no tolerance must be right to the bit.
off() { # outcome options...
  want=$1
  shift
  "$redoubt" run --machine fermi-gtx480 --fault 'flip:dram[row=0,word=5,bit=3]@1' "$@" >off.out 2>&1 || { cat off.out; exit 1; }
  grep -q "^outcome *$want:" off.out || { echo "not $want: $*"; cat off.out; exit 1; }
}
off sdc -- ./off
off tolerated --tolerance copy1:f32:rel=4.8e-7 -- ./off
off sdc --tolerance copy1:f32:rel=4.7e-7 -- ./off
off sdc --output c.bin --tolerance copy1:f32:rel=4.8e-7 -- ./off c.bin
off sdc --output c.bin --tolerance c.bin:f32:rel=4.8e-7 -- ./off c.bin
off tolerated --output c.bin --tolerance copy1:f32:rel=4.8e-7 --tolerance c.bin:f32:rel=4.8e-7 -- ./off c.bin
for wrong in copy2:f32:rel=1 copy1:rel=1 copy1:f64:x=1 other:f32:rel=1; do
  if "$redoubt" run --machine fermi-gtx480 --fault 'flip:dram[row=0,word=5,bit=3]@1' --tolerance $wrong -- ./off >off.out 2>&1; then
    echo "$wrong was taken"
    exit 1
  fi
done
campaign fast --structure rf,dram --faults $((60 / part)) --tolerance copy1:f32:rel=0.6 -j2 -- ./off
campaign slow --structure rf,dram --faults $((60 / part)) --tolerance copy1:f32:rel=0.6 -j2 --no-prune --no-snapshot -- ./off
same fast slow
grep -q ,tolerated, fast.csv || { echo "no fault within the tolerance"; exit 1; }
