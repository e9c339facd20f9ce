#!/bin/sh
# page.sh REDOUBT: docs/workloads.md has a row for every workload, with its summary, what papers call it and its sets, as the program
# tells them, and the block shapes of its launches.
set -eu
redoubt=$(realpath "$1")
cd "$(dirname "$0")/../.."
page=docs/workloads.md
failed=0
fail() {
  echo "$page: $1"
  failed=1
}

for name in $("$redoubt" list workloads | awk '/^[a-z]/ && !/^g80\./ { print $1 }'); do
  row=$(grep "^| \`$name\` |" "$page") || { fail "no row for $name"; continue; }
  listed=$("$redoubt" list workloads "$name")
  summary=$(echo "$listed" | sed -n "1s/^$name *//p")
  papers=$(echo "$listed" | sed -n 's/^    papers *//p')
  # shellcheck disable=SC2016 # backquotes of markdown
  sets=$(echo "$listed" | sed -n 's/^    sets *//p' | sed 's/@[a-z.]*/`&`/g')
  case $row in
  "| \`$name\` | $summary | "*" | $papers | $sets |") ;;
  *) fail "the row of $name should begin with '$summary' and end with '$papers | $sets'" ;;
  esac
  shapes=$("$redoubt" run "$name" --size small --stats table -v | awk 'NR > 1 && $3 ~ /^[0-9]/ && $1 != "total" { print $3 }' | sort -u)
  for shape in $shapes; do
    told=$(echo "$shape" | sed 's/x/ x /g; s/^1$/one thread/')
    case $row in *" of $told"[\ ,\;:]*) ;; *) fail "the row of $name names no blocks 'of $told'" ;; esac
  done
done
for name in $("$redoubt" list workloads | awk '/^g80\./ { print $1 }'); do
  grep -qF "| \`$name\` | $("$redoubt" list workloads "$name" | sed -n "1s/^$name *//p") |" "$page" || fail "no row for $name with its summary"
done
exit $failed
