#!/bin/sh
# The table of docs/reissue.md says of each workload which kernels reissue covers: reissue.sh REDOUBT PAGE. With --write the page's table is made anew.
set -eu
redoubt=$1
page=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
{
  echo "| workload | kernels | not covered, and why |"
  echo "|---|---|---|"
  for workload in $("$redoubt" list workloads | sed -n 's/^\([a-z0-9]\{1,\}\) .*/\1/p'); do
    "$redoubt" run "$workload" --size tiny --machine fermi-gtx480 --protect reissue --stats table --csv="$scratch/run.csv" >/dev/null 2>"$scratch/notes.txt" || {
      cat "$scratch/notes.txt"
      echo "reissue.sh: $workload fails"
      exit 1
    }
    kernels=$(sed '1d;/^total,/d' "$scratch/run.csv" | cut -d, -f1 | sort -u | wc -l)
    notes=$(sed -n 's/^kernel \([^:]*\): reissue does not cover it: \(.*\)/`\1`: \2/p' "$scratch/notes.txt" | paste -sd ';' | sed 's/;/; /g')
    echo "| $workload | $kernels | ${notes:--} |"
  done
} >"$scratch/table.md"
awk -v table="$scratch/table.md" '/^\| workload \|/ { while ((getline line < table) > 0) print line; skip = 1 } !/^\|/ { skip = 0 } !skip' "$page" >"$scratch/page.md"
[ "${3:-}" != --write ] || cp "$scratch/page.md" "$page"
diff "$page" "$scratch/page.md" || {
  echo "reissue.sh: the table of $page is not current: reissue.sh REDOUBT PAGE --write"
  exit 1
}
