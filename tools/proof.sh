#!/bin/sh
# What `make proof` runs: proof.sh REDOUBT PAGE [NAME...]. Every script of tests/proof, or those that are named; PAGE (Markdown) says what they have shown,
# and at which commit. Rows of proofs that are not run now stay. A proof that fails is said on the page too; the others go on.
set -eu
redoubt=$(realpath "$1")
page=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if [ $# -eq 0 ]; then
  for script in "$here"/tests/proof/*.sh; do set -- "$@" "$(basename "$script" .sh)"; done
fi

bad=0
commit=$(git -C "$here" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
: >"$folder/rows"
[ ! -f "$page" ] || sed -n '/^| proof |/d; /^|---/d; /^|/p' "$page" >"$folder/rows"
for name in "$@"; do
  [ "$name" != none ] || continue # the page alone is written anew
  echo "== $name"
  mkdir "$folder/$name"
  grep -v "^| $name |" "$folder/rows" >"$folder/others" || true
  mv "$folder/others" "$folder/rows"
  began=$(date +%s)
  "$here/tests/proof/$name.sh" "$redoubt" "$folder/$name" >"$folder/$name.txt" 2>&1 && code=0 || code=$?
  minutes=$((($(date +%s) - began + 59) / 60))
  cat "$folder/$name.txt"
  if [ "$code" -eq 0 ] && grep -q '^RESULT ' "$folder/$name.txt"; then
    sed -n "s/^RESULT [^:]*: \(.*\)/| $name | \1 | $commit | $minutes |/p" "$folder/$name.txt" >>"$folder/rows"
  else
    echo "FAILED: $name (code $code)"
    echo "| $name | **failed**: $(tail -n 1 "$folder/$name.txt" | tr '|' ' ') | $commit | $minutes |" >>"$folder/rows"
    bad=1
  fi
  rm -rf "${folder:?}/$name"
done
# A table for each commit, the newest first. A commit that this history does not know comes last.
age() { git -C "$here" log -1 --format=%ct "$1" 2>/dev/null || echo 0; }
cut -d '|' -f 4 "$folder/rows" | tr -d ' ' | sort -u | while read -r one; do echo "$(age "$one") $one"; done | sort -rn | cut -d ' ' -f 2 >"$folder/commits"
{
  echo "# Long proofs"
  while read -r one; do
    printf '\nResults of commit `%s`.\n\n| proof | what was shown | commit | minutes |\n|---|---|---|---|\n' "$one"
    grep "| $one | [0-9]* |\$" "$folder/rows" | sort -s -t '|' -k 2,2
  done <"$folder/commits"
  echo
  echo "Made by \`make proof\`. Seeds are those of the scripts in \`tests/proof\`; minutes are those of the machine that made the row. \`make test\` runs a sample of each."
} >"$page"
(cd "$here" && tools/gate/evidence.sh mark) || true # which of these are older; `make gate` says what else is wrong
echo "$page: what was shown"
exit $bad
