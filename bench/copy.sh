#!/bin/sh
# What a copy of the machine costs: copy.sh BUILD
# BUILD is a folder with Redoubt's libraries; the source beside it gives the headers.
set -eu
build=$1
here=$(dirname "$0")
program=$(mktemp)
trap 'rm -f "$program"' EXIT
lib() { for name; do printf '%s/lib%s.a ' "$build" "$name"; done; }
# shellcheck disable=SC2046
cc -D_GNU_SOURCE -std=gnu17 -O2 -I"$here/../src" -I"$build/generated" "$here/copy.c" -o "$program" \
  $(lib workloads device workloads machine sass shader) -lzstd $(lib protect observe hook ptx config program isa base) -lxxhash -linih -lm
for subject in 'matmul fermi-gtx480 tiny' 'matmul fermi-gtx480 small' 'scalarprod fermi-gtx480 small' 'hotspot fermi-gtx480 small'; do
  # shellcheck disable=SC2086
  "$program" $subject 50 64
done
