#!/bin/sh
# Runs a table of command lines: run.sh REDOUBT FILE.cases
#   $ ARGUMENTS      run redoubt with them, in data/ ($out is a scratch folder)
#   = CODE           the exit code
#   > PATTERN        the first line of its output and errors, as a shell pattern
#   ~ PATTERN        some line of them
#   ! PATTERN        no line of them
set -u
# shellcheck disable=SC2034 # used by eval
redoubt=$(realpath "$1")
cases=$(realpath "$2")
cd "$(dirname "$0")/data" || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export out
failed=0 count=0 command=

fail() {
  echo "redoubt $command"
  echo "  $1"
  sed 's/^/    | /' "$out/log" | head -20
  failed=$((failed + 1))
}

matches() { # TEXT PATTERN
  # shellcheck disable=SC2254 # a pattern is wanted
  case $1 in $2) return 0 ;; esac
  return 1
}

has_line() { # PATTERN
  while IFS= read -r text; do
    matches "$text" "$1" && return 0
  done <"$out/log"
  return 1
}

while IFS= read -r line; do
  rest=${line#??}
  case $line in
  '$' | '$ '*)
    command=${rest#$}
    count=$((count + 1))
    # A table's commands may quote and use $out, as in a shell.
    eval "\"\$redoubt\" $command" >"$out/log" 2>&1 </dev/null
    code=$?
    ;;
  '= '*) [ "$code" -eq "$rest" ] || fail "exit code $code, expected $rest" ;;
  '> '*) matches "$(head -n 1 "$out/log")" "$rest" || fail "first line is not: $rest" ;;
  '~ '*) has_line "$rest" || fail "no line is: $rest" ;;
  '! '*) if has_line "$rest"; then fail "a line is: $rest"; fi ;;
  '#'* | '') ;;
  *)
    echo "$cases: not understood: $line"
    exit 1
    ;;
  esac
done <"$cases"
echo "$count commands, $failed failures"
[ "$failed" -eq 0 ] && [ "$count" -gt 0 ]
