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
[ ! -f "$page" ] || sed -n '/^|---/,$ { /^|---/d; /^|/p }' "$page" >"$folder/rows"
for name in "$@"; do
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
{
  echo "# Long proofs"
  echo
  echo "Made by \`make proof\`. Seeds are those of the scripts in \`tests/proof\`; minutes are those of the machine that made the row. \`make test\` runs a sample of each."
  echo
  echo "| proof | what was shown | commit | minutes |"
  echo "|---|---|---|---|"
  sort -s -t '|' -k 2,2 "$folder/rows"
} >"$page"
echo "$page: what was shown"
exit $bad
