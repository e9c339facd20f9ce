#!/bin/sh
# unchecked.sh REDOUBT PROGRAM FATBINS: a program that looks at no error never ends with exit code 0 when nothing of it ran.
set -eu
redoubt=$1
program=$2
fatbins=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect CODE WORDS COMMAND...: the exit code, a line with those words, and the program's whole output.
expect() {
    code=$1
    words=$2
    shift 2
    got=0
    "$@" >"$scratch/out" 2>"$scratch/err" || got=$?
    cat "$scratch/out" >>"$scratch/err"
    if [ "$got" != "$code" ] || ! grep -q "$words" "$scratch/err" || ! grep -q "^the program's last line$" "$scratch/out"; then
        echo "exit code $got, not $code, or without '$words': $*"
        cat "$scratch/err"
        exit 1
    fi
}

expect 0 "" "$redoubt" run -- "$program" "$fatbins/plain.fatbin"
expect 2 "machine code but no PTX" "$redoubt" run -- "$program" "$fatbins/machine-code.fatbin"
# Whatever way it ends, and whatever way it loads.
expect 0 "" "$redoubt" run -- "$program" "$fatbins/plain.fatbin" quit
expect 2 "nothing of .* ran" "$redoubt" run -- "$program" "$fatbins/machine-code.fatbin" quit
expect 0 "" "$redoubt" run -- "$program" "$fatbins/plain.fatbin" module
expect 2 "machine code but no PTX" "$redoubt" run -- "$program" "$fatbins/machine-code.fatbin" module
head -c 300 "$fatbins/zstd.fatbin" >"$scratch/cut.fatbin"
printf 'XXXX' >"$scratch/none.fatbin"
expect 2 "fat binary of unchecked is damaged" "$redoubt" run -- "$program" "$scratch/cut.fatbin"
expect 2 "fat binary of unchecked is damaged" "$redoubt" run -- "$program" "$scratch/none.fatbin"
# Settings that are not understood: with the library alone, since redoubt checks its options itself.
alone() {
    env LD_LIBRARY_PATH="$(dirname "$redoubt")/cudart" "$@" "$program" "$fatbins/plain.fatbin"
}
expect 0 "" alone
expect 4 "sm.count" alone REDOUBT_SET="sm.count=many"
expect 4 "'sm.count' is not NAME=VALUE" alone REDOUBT_SET="sm.count"
expect 4 "sm.count" alone REDOUBT_SET="sm.count=$(printf '%0300d' 0)many" # of any length
expect 4 "nothing of unchecked ran" alone REDOUBT_PROTECT=nonsense
expect 4 "the campaign's file" alone REDOUBT_SET="machine.model=simt" REDOUBT_CAMPAIGN=/nowhere
