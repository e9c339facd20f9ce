#!/bin/sh
# Runs the kernels of a PTX file and compares what they leave in memory: run.sh REDOUBT FILE.ptx
# Directives are comments of the file; each `run:` starts a case, the others belong to the last one.
#   // run: ARGUMENTS             redoubt run FILE ARGUMENTS, three times: with all registers, 24 and 16
#   // expect: out[4] = 7 8 9     array `out` holds these from element 4 on (`out = ...`: from 0 on)
#   // expect: out[0..31] = 7     all of them hold 7
#   // near: out[2] = 0.5 1e-6    within this absolute distance
#   // print: TEXT                the lines that the kernel prints are these, in order
#   // exit: CODE                 the exit code (0 when not given)
#   // error: PATTERN             some line matches this shell pattern
#   // registers: ALL             only with all registers (matrix tuples need more than 24)
set -u
# shellcheck disable=SC2034 # used by eval
redoubt=$(realpath "$1")
file=$(realpath "$2")
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0 count=0

# One folder of directives per case: args, checks, print, exit, error, registers.
awk -v out="$out" '
  function put(name, text) { print text > (out "/" cases "." name) }
  /^\/\/ [a-z]+: ?/ {
    key = $2; sub(":", "", key); text = $0; sub("^// [a-z]+: ?", "", text)
    if (key == "run") { cases++; put("args", text) }
    else if (key == "expect" || key == "near") put("checks", key " " text)
    else if (key == "print" || key == "exit" || key == "error" || key == "registers") put(key, text)
  }
  END { print cases + 0 > (out "/cases") }' "$file"
cases=$(cat "$out/cases")

fail() {
  echo "redoubt run $(basename "$file") $arguments"
  printf '%s\n' "$1" | sed 's/^/  /' | head -8
  failed=$((failed + 1))
}

# The lines of the log that differ from the checks.
compare() { # CHECKS LOG
  awk '
    FILENAME == ARGV[1] {
      if ($2 == "=" && $1 ~ /^[A-Za-z_0-9]+\[[0-9]+\]$/) { if (!($1 in got)) got[$1] = $3 }
      next
    }
    function differ(place, want) {
      if (!(place in got)) { print place " was not printed"; return }
      if (kind == "near") {
        delta = got[place] - want; if (delta < 0) delta = -delta
        if (!(delta <= within) || got[place] ~ /nan|inf/) print place " = " got[place] ", expected " want " within " within
      } else if (got[place] != want) print place " = " got[place] ", expected " want
    }
    {
      kind = $1; name = $2; first = 0; last = -1; within = $5 + 0
      if (match(name, /\[.*\]/)) {
        range = substr(name, RSTART + 1, RLENGTH - 2); name = substr(name, 1, RSTART - 1)
        first = range + 0; if (split(range, ends, "[.][.]") == 2) last = ends[2] + 0
      }
      if (last >= 0) for (i = first; i <= last; i++) differ(name "[" i "]", $4)
      else for (i = 4; i <= (kind == "near" ? 4 : NF); i++) differ(name "[" (first + i - 4) "]", $i)
    }' "$2" "$1"
}

check_case() {
  wanted_code=$(cat "$case.exit" 2>/dev/null || echo 0)
  [ "$code" -eq "$wanted_code" ] || fail "exit code $code, expected $wanted_code
$(head -5 "$out/log")"
  if [ -f "$case.checks" ]; then
    differences=$(compare "$case.checks" "$out/log")
    [ -z "$differences" ] || fail "$differences"
  fi
  if [ -f "$case.print" ]; then
    lines=$(wc -l <"$case.print")
    head -n "$lines" "$out/log" | cmp -s - "$case.print" || fail "prints:
$(head -n "$lines" "$out/log")"
  fi
  if [ -f "$case.error" ]; then
    pattern=$(cat "$case.error")
    found=0
    while IFS= read -r text; do
      # shellcheck disable=SC2254 # a pattern is wanted
      case $text in $pattern) found=1 ;; esac
    done <"$out/log"
    [ "$found" -eq 1 ] || fail "no line is: $pattern
$(head -5 "$out/log")"
  fi
}

number=1
while [ "$number" -le "$cases" ]; do
  case=$out/$number
  dumps=$(sed -n 's/^[a-z]* \([A-Za-z_0-9]*\).*/--dump \1/p' "$case.checks" 2>/dev/null | sort -u | tr '\n' ' ')
  limits='255 24 16'
  [ -f "$case.registers" ] && limits=255
  for limit in $limits; do
    arguments="$(cat "$case.args") $dumps--max-registers $limit"
    count=$((count + 1))
    eval "\"\$redoubt\" run \"\$file\" $arguments" >"$out/log" 2>&1 </dev/null
    code=$?
    check_case
  done
  number=$((number + 1))
done
echo "$count runs, $failed failures"
[ "$failed" -eq 0 ] && [ "$count" -gt 0 ]
