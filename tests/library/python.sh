#!/bin/sh
# The library from Python: python.sh BUILD. The binding's own tests, and the example as it stands.
set -eu
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "python: skipped, no Python"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export REDOUBT_LIBRARY="$build/libredoubt.so.0" PYTHONPATH="$here/../../python" PYTHONDONTWRITEBYTECODE=1 TMPDIR="$folder"
python3 "$here/test_binding.py" "$build/redoubt"
sed -n '/^```python$/,/^```$/p' "$here/../../docs/library.md" | sed '1d;$d' >"$folder/page.py"
(cd "$folder" && python3 page.py >page.out) && grep -q '^rf Share(' "$folder/page.out" || { echo "python: the example of docs/library.md fails"; exit 1; }
cd "$folder"
python3 "$here/../../examples/campaign.py" 300 >out
grep -q '^sdc  ' out
grep -q '^harmful faults by byte' out
