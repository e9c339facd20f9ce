#!/bin/sh
# The script behind the charts is made of Debian's files; where they are missing the build goes on and says so: vega.sh VEGA_FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
make=$here/../../tools/vega.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

mkdir "$folder/none"
"$make" "$folder/none" "$folder/vega.js" 2>"$folder/said" || { echo "vega: FAILED: a build without Vega must go on"; exit 1; }
[ -e "$folder/vega.js" ] && [ ! -s "$folder/vega.js" ] || { echo "vega: FAILED: without Vega the script must be empty"; exit 1; }
[ "$(wc -l <"$folder/said")" -eq 1 ] && grep -q 'apt-get install libjs-vega' "$folder/said" ||
  { echo "vega: FAILED: one line must say what is missing:"; cat "$folder/said"; exit 1; }

[ -r "$1/vega-view.min.js" ] || { echo "vega: skipped, no Vega in $1"; exit 77; }
"$make" "$1" "$folder/vega.js"
grep -q 'globalThis.vega = ' "$folder/vega.js" || { echo "vega: FAILED: nothing was made of $1"; exit 1; }
# One part missing is as good as none: half a Vega draws nothing.
cp "$1"/vega-*.min.js "$folder/none"
rm "$folder/none/vega-scale.min.js"
"$make" "$folder/none" "$folder/vega.js" 2>/dev/null
[ ! -s "$folder/vega.js" ] || { echo "vega: FAILED: a Vega without its scales was taken"; exit 1; }
