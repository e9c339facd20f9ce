#!/bin/sh
# Fragment programs as users meet them: fragment.sh REDOUBT. Pictures are the same bytes as those here; textures come from pictures; shortcuts change no
# outcome; a fault of a journal happens again.
set -eu
redoubt=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
programs=$here/../../workloads/fragment
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "fragment: FAILED: $*"
  exit 1
}
machine="--machine sheaffer-2007"

# shellcheck disable=SC2086
run() { "$redoubt" run "$@" $machine -q >out.txt 2>&1 || { cat out.txt; fail "$*"; }; }
run "$programs/mandelbrot.fp" --domain 64x64 --dump color=mandelbrot.png --dump depth=depth.bin
cmp mandelbrot.png "$here/mandelbrot.png"
run "$programs/mandelbrot.fp" --domain 64x64 --dump color=perfect.png --set fragment.perfect=1
cmp perfect.png mandelbrot.png
[ "$(wc -c <depth.bin)" -eq $((64 * 64 * 4)) ] || fail "depth.bin"
# A picture as a texture: the convolution of a picture is darker and has no edge of its own.
run "$programs/convolution.fp" --domain 64x64 --texture 0="$here/mandelbrot.png" --dump color=soft.png
cmp soft.png "$here/soft.png"
# A matrix product: that with the unit matrix (texels of a picture) is the other matrix.
printf '!!FP1.0\nFLR R0, f[WPOS];\nSEQ o[COLR], R0.x, R0.y;\nEND\n' >unit.fp
run unit.fp --domain 16x16 --dump color=unit.png
run "$programs/matmul.fp" --domain 16x16 --texture 0=random:16x16 --texture 1=unit.png --texture 2=zeros:16x16 --dump color=product.bin
printf '!!FP1.0\nTEX o[COLR], f[WPOS], TEX0, RECT;\nEND\n' >same.fp
run same.fp --domain 16x16 --texture 0=random:16x16 --dump color=matrix.bin
cmp product.bin matrix.bin

# shellcheck disable=SC2086
for options in "" "--no-prune --no-snapshot"; do
  "$redoubt" campaign "$programs/jacobi.fp" --domain 8x8 --texture 0=random:16x16 --texture 1=random:16x16 $machine --structure all --faults 150 $options \
    -o "journal$options.db" -q >/dev/null 2>&1
  "$redoubt" report "journal$options.db" --csv "journal$options.csv" -q >/dev/null
done
# Outcomes, cycles and wrong elements, without how they were settled.
columns() { awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /^(id|outcome|cycles|wrong)$/) keep[i] = 1 } { for (i = 1; i <= NF; i++) if (keep[i]) printf "%s,", $i; print "" }' "$1"; }
columns journal.csv >fast.txt
columns "journal--no-prune --no-snapshot.csv" >slow.txt
cmp fast.txt slow.txt || { diff fast.txt slow.txt | head; fail "outcomes differ"; }
grep -q ',sdc,' fast.txt || fail "no wrong result among 150 faults"
grep -q ',due-hang,' fast.txt || fail "no hang among 150 faults: whoever looks on must not keep the machine going"
id=$(awk -F , '$2 == "sdc" { print $1; exit }' fast.txt)
"$redoubt" replay journal.db "$id" >out.txt 2>&1 || { cat out.txt; fail "replay"; }
grep -q 'the journal says the same' out.txt || { cat out.txt; fail "replay says something else"; }
