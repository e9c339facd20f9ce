#!/bin/sh
# Makes the one script that draws the charts of the pages, out of Debian's libjs-vega: vega.sh FOLDER OUTPUT
# The folder holds a file for each part of Vega. Only the parts that the charts need are taken, dependencies first.
# A folder without them is no error: the script is then empty, and the pages say what is missing.
set -eu
folder=$1
output=$2
parts="util time format loader canvas expression event-selector statistics scale dataflow scenegraph selection functions runtime
  transforms view-transforms encode view parser"

work=$output.part
trap 'rm -f "$work"' EXIT
mkdir -p "$(dirname "$output")"
for part in $parts; do
  [ -r "$folder/vega-$part.min.js" ] && continue
  echo "No Vega in $folder: the pages of reports will have tables but no charts. For charts: apt-get install libjs-vega, and build again." >&2
  : >"$work"
  cmp -s "$work" "$output" || mv "$work" "$output"
  exit 0
done

{
  # Each file is a CommonJS module. vega-functions asks for vega-selection by its old name.
  echo '(function () {'
  echo 'const made = {}, require = (name) => made[name === "vega-selections" ? "vega-selection" : name];'
  for part in $parts; do
    echo "(function (exports, module) {"
    sed '/^\/\/# sourceMappingURL=/d' "$folder/vega-$part.min.js"
    echo "}).call(globalThis, made[\"vega-$part\"] = {}, {});"
  done
  echo 'Object.assign(made["vega-dataflow"].transforms, made["vega-transforms"], made["vega-view-transforms"], made["vega-encode"]);'
  echo 'globalThis.vega = {View: made["vega-view"].View, parse: made["vega-parser"].parse};'
  echo '})();'
} >"$work"
cmp -s "$work" "$output" || mv "$work" "$output"
