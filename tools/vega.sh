#!/bin/sh
# Fetches Vega, which draws the charts of the report page, with npm: vega.sh FILE. Does nothing when the file is there.
set -eu
file=$1
version=5.33.0
[ -s "$file" ] && exit 0
folder=$(dirname "$file")
mkdir -p "$folder"
work=$(mktemp -d "$folder/vega.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --silent "vega@$version" >/dev/null && tar -xzf "vega-$version.tgz" package/build/vega.min.js)
mv "$work/package/build/vega.min.js" "$file"
