#!/bin/sh
# Shortcuts change no outcome: compare.sh REDOUBT [FAULTS [EVERY]]
# FAULTS (default 2004) are dealt over four workloads and three structures, and as many as each of these lots go to registers,
# predicates, units and queues of more workloads, to faults that last, and to protections, half as many as all to a race of blocks. Each lot is settled with all
# shortcuts, and by a full simulation of every fault. Outcome, cycles, wrong elements, worst error and note must be the same. Some lots are also settled by
# one worker instead of two, and by a campaign that is resumed: the same bytes. With EVERY, every
# EVERY-th lot alone is compared, the others are settled with the shortcuts: for sanitizers, whose findings need no second campaign. (interrupt.sh: campaigns stopped at any moment.)
set -eu
. "$(dirname "$0")/columns.sh"
redoubt=$1
each=$(((${2:-2004} + 11) / 12))
every=${3:-1} lots=0
size=tiny
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

machine='--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2'
model=flip protect=none
settle() { # name workload structure options...
  name=$1 workload=$2 structure=$3
  shift 3
  "$redoubt" campaign "$workload" --size $size $machine --model "$model" --protect "$protect" \
    --structure "$structure" --faults "$each" -o "$folder/$name.db" "$@" >"$folder/$name.out" 2>&1 || {
    cat "$folder/$name.out"
    exit 1
  }
  "$redoubt" report "$folder/$name.db" --csv "$folder/$name.csv" >/dev/null
}

compare() { # workload structure
  rm -f "$folder"/*
  settle fast "$1" "$2" -j2
  lots=$((lots + 1))
  [ $((lots % every)) -eq 0 ] || return 0
  settle slow "$1" "$2" -j2 --no-prune --no-snapshot
  outcomes "$folder/fast.csv" >"$folder/fast.txt"
  outcomes "$folder/slow.csv" >"$folder/slow.txt"
  if ! cmp -s "$folder/fast.txt" "$folder/slow.txt"; then
    echo "$1, $2: outcomes differ"
    diff "$folder/fast.txt" "$folder/slow.txt" | head
    exit 1
  fi
  echo "$1, $2, $model: $each faults alike"
}

in_any_way() { # workload structure: by one worker, and by a campaign that is resumed
  rm -f "$folder"/*
  settle fast "$1" "$2" -j2
  settle alone "$1" "$2" -j1
  settle part "$1" "$2" -j2 --faults $((each / 3))
  settle part "$1" "$2" -j2
  cmp "$folder/fast.csv" "$folder/alone.csv"
  cmp "$folder/fast.csv" "$folder/part.csv"
}

for workload in scalarprod matmul reduction bfs; do
  for structure in rf shared l2; do compare $workload $structure; done
  in_any_way $workload rf,shared,l2
done
for workload in hotspot transpose scan gray; do compare $workload rf; done # several launches, waves of blocks, bytes
machine="$machine --tolerance temperature:rel=0.001"
compare hotspot rf # some are off by less
machine=${machine% --tolerance*}
for workload in transpose scan; do compare $workload pred; done
for workload in hotspot gray; do compare $workload unit; done # outputs of functional units
for workload in hotspot scan; do # structures whose accesses are not told: what strikes a free place is gone
  compare $workload warp,stack,ibuffer,scoreboard,collector,latch,ldst,mshr,network,dramq,l1d.tag,icache.tag,l2.tag
done
cache_bits=l1d.valid,l1d.dirty,l1d.order,constant.valid,icache.valid,icache.order,icache2.valid,l2.valid,l2.dirty,l2.order
machine="$machine --set l2.bytes=4096 --set l1d.bytes=2048 --set icache.bytes=512" # full caches: victims, and stale lines to bring back
compare bfs $cache_bits
compare scan $cache_bits # launches one after the other: what is kept
machine='--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2'
compare matmul blocks,warp,ldst.address,l1d.tag # in the last launch: tried to its end, or until the state is that of an earlier trial
in_any_way matmul blocks.done,blocks.next,warp,ldst,latch
for model in stuck0 stuck1 'duty(50,50)'; do compare transpose rf,pred,unit.sp; done
machine='--machine turing-rtx2060 --set sm.count=1 --param n=2 --param k=2' # inside the tensor unit
for model in flip lanes; do compare gemm tensor; done
machine='--machine turing-rtx2060 --set sm.count=1' model=stuck1
compare gemm tensor,unit.tensor
machine='--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2'
model=flip protect=dmr
compare hotspot rf,unit,latch,collector,stack
compare transpose rf,shared,unit # followed past the comparisons, or tried with them
protect=reissue
compare matmul rf,unit.sp,latch,collector # not followed, since blocks run again, but tried to the end of the last launch
machine='--machine gt200-rise --set sm.count=2 --set dram.controllers=2'
protect=hints:faulty=each
compare matmul rf,unit.sp,unit.agu # a mirror of each block runs beside it, under the same number
machine='--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2'
protect=shield:map=random,density=40
compare scan rf,unit,shield.sp # threads on other lanes, warps in parts, and the map itself
protect=heal
compare scan unit,heal.sp,heal.vote.sp,heal.note
machine='--machine turing-rtx2060 --set sm.count=2 --set dram.controllers=2'
protect=secded:all
compare hotspot ibuffer # the word that is put right is another instruction than the one that was found ready
machine='--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2'
protect=secded:rf,shared,l2
compare hotspot rf,shared,l2,ecc.rf
model='adjacent(2)'
compare transpose rf,l2
model=flip protect=none
machine='--machine flexgrip-thesis --set g80.sms=2' # another machine; its block scheduler most of all
compare g80.vecadd bs
in_any_way g80.vecadd bs
compare g80.scalarprod ctl,wu,wp,arb
compare g80.nn fetch,decode,read,execute,write
for model in stuck0 stuck1; do compare g80.vecadd bs,ctl,arb; done
model=flip
for policy in ordered random; do
  machine="--machine flexgrip-thesis --set g80.sms=2 --set dispatch.policy=$policy"
  compare g80.nn bs,ctl
done
machine='--machine flexgrip-thesis' size=small
for model in flip stuck1; do compare g80.nn bs; done # several passes of blocks
machine='--machine fermi-gtx480 --set sm.count=2 --set dram.controllers=2'
model=flip
protect=none size=small each=$((each * 6)) # one block after the other: a wrong store comes before or after the right one
compare transpose rf
