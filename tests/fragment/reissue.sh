#!/bin/sh
# Reissue as users meet it: reissue.sh REDOUBT. No variant changes a result or issues a point again without a fault; at rest it costs not a cycle; a struck point is
# issued again; lost points are found at the end by toggled bits.
set -eu
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "reissue: FAILED: $*"
  exit 1
}
# run NAME PROGRAM OPTIONS: the frame's colours in NAME.bin, statistics in NAME.json
run() {
  name=$1
  shift
  "$redoubt" run "$@" --machine sheaffer-2007 -q --json="$name.json" --dump color="$name.bin" >out.txt 2>&1 || { cat out.txt; fail "$*"; }
}
stat() { awk -F '[:,]' -v name="\"$2\"" '$1 ~ name { gsub(/ /, "", $2); print $2; exit }' "$1.json"; }

textures="--texture 0=random:64x64 --texture 1=random:64x64"
# shellcheck disable=SC2086
for program in mandelbrot.fp "jacobi.fp $textures" "matmul.fp $textures --texture 2=random:64x64" "convolution.fp $textures"; do
  run plain $program --domain 21x13
  for form in entries=1024 toggle apart pairs quad geometry copies=3 off apart,geometry; do
    run twice $program --domain 21x13 --protect reissue:$form
    cmp -s plain.bin twice.bin || fail "$program: $form has another result"
    [ "$(stat twice corrected)" = 0 ] || fail "$program: $form issues points again without a fault"
  done
  run pair $program --domain 21x13 --set fragment.cache_pipelines=2 --protect reissue:lockstep
  cmp -s plain.bin pair.bin || fail "$program: lockstep has another result"
  [ "$(stat pair corrected)" = 0 ] || fail "$program: lockstep issues points again without a fault"
  [ "$(stat pair texture_fetches)" = $((2 * $(stat pair texture_accesses))) ] || fail "$program: in lockstep caches are not looked up once for both copies"
done
# shellcheck disable=SC2086
for size in 16x16 64x64; do
  for program in stress0.fp "stress2.fp $textures"; do
    run plain $program --domain $size
    run rests $program --domain $size --protect reissue:off
    [ "$(stat plain cycles)" = "$(stat rests cycles)" ] || fail "$program: at rest it takes $(stat rests cycles) cycles, not $(stat plain cycles)"
  done
done
# A fragment goes to another place: two points are wrong, and a picture shows where. Reissue puts both right.
struck() {
  "$redoubt" run mandelbrot.fp --domain 16x16 --machine sheaffer-2007 --fault 'flip:place[pipe=9,context=2,coordinate=0,bit=3]@20' \
    --dump difference=difference.bin --dump difference=difference.png --json=struck.json "$@" -q >out.txt 2>&1 || { cat out.txt; fail "struck $*"; }
  od -An -v -tf4 -w4 difference.bin | awk '$1 != 0 { n++ } END { print n + 0 }' >wrong.txt
}
struck
grep -q '"outcome": "sdc"' struck.json || fail "the fault does no harm"
[ "$(cat wrong.txt)" -ge 1 ] || fail "the difference shows $(cat wrong.txt) points"
[ "$(od -An -c -N4 difference.png | tr -d ' ')" = '211PNG' ] || fail "difference.png is no picture"
struck --protect reissue
grep -q '"outcome": "corrected"' struck.json || fail "reissue does not put it right"
[ "$(cat wrong.txt)" = 0 ] || fail "under reissue $(cat wrong.txt) points are wrong"
[ "$(stat struck reissue_again)" -ge 1 ] || fail "no point was issued again"
# The rasteriser is outside the sphere: reissue alone does not help, ECC does.
bounds() {
  "$redoubt" run stress0.fp --domain 16x16 --machine sheaffer-2007 --fault 'flip:raster.bounds[coordinate=1,bit=4]@1' "$@" --json=bounds.json -q >out.txt 2>&1 || { cat out.txt; fail "bounds $*"; }
}
bounds --protect reissue
grep -q '"outcome": "sdc"' bounds.json || fail "wrong bounds do no harm"
bounds --protect reissue --protect secded:raster.bounds
grep -q '"outcome": "corrected"' bounds.json || fail "ECC does not put bounds right"
printf '!!FP1.0\nTEX R0, f[TEX0], TEX0, 2D;\nMOVR o[COLR], R0;\nEND\n' >copy.fp
# Video memory is outside, too. A bit of the frame flips after it was written: ECC of memory puts it right before the host reads it. One of a texture: before the GPU does.
flipped() { "$redoubt" run "$@" --machine sheaffer-2007 --domain 16x16 --set memory.bytes=1048576 --json=memory.json -q >out.txt 2>&1 || { cat out.txt; fail "flipped $*"; }; }
for fault in 'stress0.fp --fault flip:dram[row=3,word=2,bit=5]@300' 'copy.fp --texture 0=random:16x16 --fault flip:dram[row=100,word=2,bit=21]@1'; do
  # shellcheck disable=SC2086
  flipped $fault --protect reissue
  grep -q '"outcome": "sdc"' memory.json || fail "$fault: does no harm"
  # shellcheck disable=SC2086
  flipped $fault --protect reissue --protect secded:dram
  grep -q '"outcome": "corrected"' memory.json || fail "$fault: ECC of memory does not put it right"
done
# Programs that scatter: a picture turned by half, read backwards, is the picture; points that meet in one word are not taken for errors.
run straight copy.fp --domain 64x64 --texture 0=random:64x64
od -An -v -tx4 -w12 straight.bin >straight.txt
for protection in none reissue:scatter; do
  run turned turn.fp --domain 64x64 --texture 0=random:64x64 --value last=64,64 --protect $protection
  od -An -v -tx4 -w12 turned.bin | tac | cmp -s - straight.txt || fail "turn.fp: not turned, $protection"
done
run meet meet.fp --domain 32x32 --texture 0=random:64x64
run met meet.fp --domain 32x32 --texture 0=random:64x64 --protect reissue:scatter
cmp -s meet.bin met.bin || fail "meet.fp: another result under reissue"
[ "$(stat met reissue_wrong)" = 0 ] || fail "meet.fp: $(stat met reissue_wrong) points are taken for wrong"
# scattered FAULT OPTIONS. The two runs take different times: each has a fault of its own that strikes a place before it is used.
scattered() {
  fault=$1
  shift
  "$redoubt" run turn.fp --domain 16x16 --texture 0=random:16x16 --value last=16,16 --machine sheaffer-2007 --fault "$fault" --dump difference=difference.bin "$@" \
    --json=far.json -q >out.txt 2>&1 || { cat out.txt; fail "scattered $*"; }
  od -An -v -tf4 -w4 difference.bin | awk '$1 != 0 { n++ } END { print n + 0 }' >wrong.txt
}
scattered 'flip:target[pipe=2,context=5,coordinate=1,bit=27]@106'
grep -q '"outcome": "sdc"' far.json || fail "a result that goes astray does no harm"
scattered 'flip:target[pipe=8,context=9,coordinate=0,bit=29]@218' --protect reissue:scatter
grep -q '"outcome": "corrected"' far.json || fail "reissue:scatter lets a result go astray"
[ "$(cat wrong.txt)" = 0 ] || fail "reissue:scatter: $(cat wrong.txt) points are wrong"
[ "$(stat far reissue_again)" = 1 ] || fail "reissue:scatter issues $(stat far reissue_again) points again, not 1"
"$redoubt" campaign turn.fp --domain 16x16 --texture 0=random:16x16 --value last=16,16 --machine sheaffer-2007 --protect reissue:scatter,points=256 \
  --structure temp,output,target,place,rbar,rbar.place,rbar.from,rop.result,rop.place,reissue.held --faults 600 -o scatter.db -q >/dev/null 2>&1
"$redoubt" export scatter.db -o scatter.csv >/dev/null 2>&1
! grep -q ',sdc,' scatter.csv || fail "wrong results of programs that scatter"
[ "$(grep -c ',corrected,' scatter.csv)" -ge 20 ] || fail "only $(grep -c ',corrected,' scatter.csv) points were put right"
