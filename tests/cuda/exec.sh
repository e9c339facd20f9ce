#!/bin/sh
# A program that becomes another one, or closes the library's descriptors: what was simulated is shown, what was not is said:
# exec.sh REDOUBT PROGRAM FATBIN, the program of tests/campaign/processes.c
set -eu
redoubt=$(realpath "$1")
program=$(realpath "$2")
fatbin=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "exec: FAILED: $*"
  cat out
  exit 1
}
expect() { # CODE LAUNCHES LINES COMMAND...: exit code, launches in the table, lines that something was not simulated
  wanted=$1 launches=$2 lines=$3
  shift 3
  code=0
  timeout -k 2 60 "$redoubt" run -- "$@" >out 2>&1 </dev/null || code=$?
  [ "$code" = "$wanted" ] || fail "exit code $code: $*"
  [ "$(grep -c '^scale ' out)" = "$launches" ] || fail "not $launches launches: $*"
  [ "$(grep -c '^redoubt: .* that Redoubt.s libraries are not in: what that one did was not simulated' out)" = "$lines" ] || fail "not $lines lines: $*"
}
expect 0 1 0 "$program" "$fatbin" plain
expect 0 2 0 "$program" "$fatbin" exec
expect 2 1 1 "$program" "$fatbin" exec-empty
expect 0 1 0 sh -c "exec '$program' '$fatbin' plain"
expect 0 1 0 sh -c "'$program' '$fatbin' plain; exec true"
expect 2 1 1 sh -c "'$program' '$fatbin' plain; exec env -i true"
expect 3 1 1 sh -c "'$program' '$fatbin' plain; exec env -i sh -c 'exit 3'"
expect 0 2 0 "$program" "$fatbin" spawn
expect 0 2 0 "$program" "$fatbin" vfork
expect 0 2 0 "$program" "$fatbin" clone
# Whoever starts redoubt may ignore the signal by which its libraries mark a program.
timeout -k 2 60 "$program" "$fatbin" ignore "$redoubt" run -- "$program" "$fatbin" plain >out 2>&1 </dev/null || fail "a signal that is ignored"
for how in close close-all; do
  rm -f own.txt
  expect 0 1 0 "$program" "$fatbin" $how
  [ "$(cat own.txt)" = "only this" ] || fail "$how: the program's own file has something else"
done
