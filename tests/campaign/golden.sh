#!/bin/sh
# Runs without faults that campaigns on files share: golden.sh REDOUBT
# A PTX file, G80 code and a fragment program: without --golden, with it, and with it once more, the faults are the same to the byte; the run is made once. A file that has
# changed, be it the program or an input, is another run.
set -eu
redoubt=$(realpath "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

settle() { # name options...
  name=$1
  shift
  rm -f "$name.db"
  "$redoubt" campaign "$@" --faults 40 -j1 -o "$name.db" >"$name.out" 2>&1 || {
    cat "$name.out"
    exit 1
  }
  "$redoubt" report -q "$name.db" --csv "$name.csv"
}

runs() { # what is kept, with the identity of each file
  find golden -type f -printf '%i %f ' | sort
}

check() { # what options...
  what=$1
  shift
  rm -rf golden
  settle plain "$@"
  settle first "$@" --golden golden
  before=$(runs)
  settle second "$@" --golden golden
  if [ "$(runs)" != "$before" ] || [ "$(find golden -type f | wc -l)" != 1 ]; then
    echo "$what: the run is not shared"
    exit 1
  fi
  cmp plain.csv first.csv
  cmp plain.csv second.csv
}

changed() { # what options...
  what=$1
  shift
  settle third "$@" --golden golden
  settle plain "$@"
  if [ "$(find golden -type f | wc -l)" != 2 ]; then
    echo "$what: a file that has changed is not another run"
    exit 1
  fi
  cmp plain.csv third.csv
}

small="--machine fermi-gtx480 --set sm.count=1 --set dram.controllers=1"
cp "$root/tests/cli/data/vecadd.ptx" .
ptx="vecadd.ptx --grid 1 --block 64 --arg a:f32[64]=ramp --arg b:f32[64]=ones --arg c:f32[64] --arg u32:64 $small --structure rf,pred"
# shellcheck disable=SC2086 # options
check ptx $ptx
sed -i 's|add\(.*\)f32|sub\1f32|' vecadd.ptx
# shellcheck disable=SC2086
changed ptx $ptx

cp "$root/workloads/g80/vecadd/kernel.sass" .
head -c 128 "$root/README.md" >memory.bin
g80="kernel.sass --machine flexgrip-thesis --grid 1 --block 32 --arg a:u32[32]=file:memory.bin --arg b:u32[32]=ones --arg c:u32[32] --arg 32 --structure bs,wu"
# shellcheck disable=SC2086
check g80 $g80
tail -c 128 "$root/README.md" >memory.bin
# shellcheck disable=SC2086
changed g80 $g80

cp "$root/workloads/fragment/jacobi.fp" .
fragment="jacobi.fp --domain 4x4 --texture 0=random:8x8 --texture 1=random:8x8 --machine sheaffer-2007 --structure all"
# shellcheck disable=SC2086
check fragment $fragment
sed -i '2a # changed' jacobi.fp
# shellcheck disable=SC2086
changed fragment $fragment

# A file is read once: a campaign is of one program, whatever becomes of its file meanwhile. Here it can be read once only.
mkfifo once.sass
cat "$root/workloads/g80/vecadd/kernel.sass" >once.sass &
# shellcheck disable=SC2086
settle once once.sass ${g80#kernel.sass}
# shellcheck disable=SC2086
settle plain $g80
cmp plain.csv once.csv
