#!/bin/sh
# The example of docs/journal.md runs, and its tables name every column and key that there is: docs.sh JOURNAL_MAKER
set -eu
maker=$(realpath "$1")
cd "$(dirname "$0")/../.."
command -v python3 >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "docs: FAILED: $*"
  exit 1
}
sed -n '/^```python$/,/^```$/p' docs/journal.md | sed '1d;$d' >"$folder/example.py"
"$maker" "$folder/a.db" 3000
"$maker" "$folder/part.db" 3000 none 100
python3 "$folder/example.py" "$folder/a.db" >"$folder/out" || fail "the example: $(cat "$folder/out")"
[ "$(grep -c '%' "$folder/out")" -eq 32 ] || fail "not a row for each bit: $(cat "$folder/out")"
python3 "$folder/example.py" "$folder/part.db" >"$folder/out" 2>&1 && fail "the example takes an unfinished journal"
sed -n 's/^COLUMN(\([a-z_]*\), \([A-Z ]*\), "\(.*\)")$/| `\1` | \2 | \3 |/p' src/journal/fault.def >"$folder/rows"
sed -n 's/^NOTE([A-Z_]*, "\([^"]*\)", "\(.*\)")$/| `\1` | \2 |/p' src/journal/note.def >>"$folder/rows"
[ "$(wc -l <"$folder/rows")" -gt 30 ] || fail "no columns found"
while IFS= read -r row; do grep -qF "$row" docs/journal.md || fail "docs/journal.md lacks: $row"; done <"$folder/rows"
