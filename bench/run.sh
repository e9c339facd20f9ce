#!/bin/sh
# Every bench, one after the other: run.sh REDOUBT. Fails at the end when a goal was missed.
cd "$(dirname "$0")/.." || exit 2
redoubt=$1
missed=""
for name in functional texture simt gpgpusim campaign journal reproduce startup; do
  [ -x "bench/$name.sh" ] || continue
  printf '\n== %s\n' "$name"
  "bench/$name.sh" "$redoubt" || missed="$missed $name"
done
[ -z "$missed" ] || { printf '\nGoals missed in:%s\n' "$missed"; exit 1; }
