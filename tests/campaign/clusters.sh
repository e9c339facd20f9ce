#!/bin/sh
# A kernel whose blocks read each other's shared memory: what is settled without a simulation ends as the simulation does, and broken
# barriers of a cluster are told as hangs. clusters.sh REDOUBT KERNELS.ptx
set -eu
redoubt=$(realpath "$1")
kernels=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for way in quick plain; do
  [ $way = quick ] && options= || options=--no-prune
  # shellcheck disable=SC2086  # no option is no word
  "$redoubt" campaign "$kernels" --machine fermi-gtx480 --set sm.count=4 --set sm.registers=2048 --set sm.shared=1024 --set block.shared=1024 \
    --kernel ring --grid 8 --block 64 --arg 'out:u32[512]' --structure rf,shared,ibuffer,stack.mask,stack.pc,ldst.address,warp.valid --faults 420 \
    $options -o $way.db >$way.out 2>&1 || { cat $way.out; exit 1; }
  "$redoubt" export $way.db -o $way.csv 2>/dev/null
done
outcomes() { # id and outcome of every fault
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "outcome") at = i; next } { print $1, $at }' "$1"
}
outcomes quick.csv >quick.txt
outcomes plain.csv >plain.txt
[ "$(wc -l <quick.txt)" = 420 ]
diff quick.txt plain.txt || { echo "outcomes differ"; exit 1; }
grep -q sdc quick.txt || { echo "no fault has made a wrong result"; exit 1; }
grep -q due-hang quick.txt || { echo "no fault has made the blocks wait for ever"; exit 1; }
# ACE analysis follows values into other blocks' shared memory: it never says less than injection finds.
"$redoubt" avf "$kernels" --machine fermi-gtx480 --set sm.count=4 --set sm.registers=2048 --set sm.shared=1024 --set block.shared=1024 \
  --kernel ring --grid 8 --block 64 --arg 'out:u32[512]' --structure rf,shared --csv=avf.csv >avf.out 2>&1 || { cat avf.out; exit 1; }
for structure in rf shared; do
  ace=$(awk -F, -v s="$structure" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "avf") at = i; next } $1 == s { print $at; exit }' avf.csv)
  awk -F, -v s="$structure" -v ace="$ace" '
    NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "outcome") outcome = i; if ($i == "structure") where = i }; next }
    $where == s { n++; bad += $outcome ~ /^(sdc|due)/ }
    END { if (n == 0 || bad == 0 || ace == "") { print s ": nothing to compare"; exit 1 }
          if (bad / n > ace + 3 * sqrt(ace * (1 - ace) / n)) { print s ": " bad / n " by injection, " ace " by ACE analysis"; exit 1 } }' quick.csv
done
