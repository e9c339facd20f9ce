#!/bin/sh
# Reissue lets no fault of the fragment cores through: fragment.sh REDOUBT FOLDER [FAULTS]. Half of the faults strike a program that waits for textures,
# half one whose fragments take different ways; a quarter as many strike pairs of cores in lockstep. Then a quarter as many strike the fragment queue, the contexts and the crossbars, and as many every structure
# that there is, unprotected: the simulator survives.
set -eu
redoubt=$(realpath "$1")
folder=$2
faults=${3:-20000}
mkdir -p "$folder"
cd "$folder"
rm -f cores-*.db queues.db every.db
cores=temp,half,input,output,loop,call,loop.depth,call.depth,pc,code,place,copy,status,texel,current
half=$((faults / 2))

# Rows "outcome,faults" of a campaign: its name, its protection, its faults, its structures, then options.
campaign() {
  name=$1
  "$redoubt" campaign "$5" --machine sheaffer-2007 --protect "$2" --faults "$3" --structure "$4" -o "$name.db" -q $6 >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report "$name.db" --csv "$name.csv" -q >/dev/null
}
count() { awk -F , -v wanted="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "outcome") at = i } NR > 1 && $at ~ "^" wanted { n++ } END { print n + 0 }' "$2"; }

textures="--domain 32x32 --texture 0=random:32x32 --texture 1=random:32x32"
campaign cores-jacobi reissue:points=1024 $half $cores jacobi.fp "$textures"
campaign cores-mandelbrot reissue:points=256 $((faults - half)) $cores mandelbrot.fp "--domain 16x16"
campaign cores-lockstep reissue:points=1024,lockstep $((faults / 4)) $cores jacobi.fp "$textures --set fragment.cache_pipelines=2"
campaign cores-plain none $((half / 10 + 50)) $cores jacobi.fp "$textures"
campaign queues none $((faults / 4)) fqueue,fqueue.valid,fqueue.head,fqueue.tail,status,place,pc,xbar.address,xbar.from,xbar.miss,xbar.ring,reply.from,reply.miss,rbar,rbar.place,rbar.ring,rop.ring jacobi.fp "$textures"
campaign every none $((faults / 4)) all jacobi.fp "$textures"

sdc=$(($(count sdc cores-jacobi.csv) + $(count sdc cores-mandelbrot.csv)))
corrected=$(($(count corrected cores-jacobi.csv) + $(count corrected cores-mandelbrot.csv)))
due=$(($(count due cores-jacobi.csv) + $(count due cores-mandelbrot.csv) + $(count timeout cores-jacobi.csv) + $(count timeout cores-mandelbrot.csv) + $(count hang cores-jacobi.csv) + $(count hang cores-mandelbrot.csv)))
plain=$(count sdc cores-plain.csv)
internal=$(count internal queues.csv)
echo "RESULT fragment: $faults transients in fragment cores under reissue: $sdc wrong results, $corrected put right by issuing points again, $due ended early or late; unprotected $plain of $((half / 10 + 50)) are wrong"
echo "RESULT fragment-queues: $((faults / 4)) flips of fragment queue, contexts and crossbars: $internal internal errors"
paired=$(count sdc cores-lockstep.csv)
echo "RESULT fragment-lockstep: $((faults / 4)) transients in pairs of cores in lockstep: $paired wrong results, $(count corrected cores-lockstep.csv) put right by issuing points again"
every=$(count internal every.csv)
structures=$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "structure") at = i } NR > 1 { seen[$at] = 1 } END { for (i in seen) n++; print n + 0 }' every.csv)
echo "RESULT fragment-every: $((faults / 4)) flips of all $structures structures, program store, order of cache lines, memory and control among them: $every internal errors"
[ "$paired" -eq 0 ] && [ "$(count corrected cores-lockstep.csv)" -gt 0 ] && [ "$every" -eq 0 ] && [ "$structures" -gt 60 ] && [ "$sdc" -eq 0 ] && [ "$corrected" -gt 0 ] && [ "$plain" -gt 0 ] && [ "$internal" -eq 0 ]
