#!/bin/sh
# Writes the generated pages: docs.sh REDOUBT FOLDER
set -eu
redoubt=$1
folder=$2
for page in instructions parameters statistics study-keys; do
  "$redoubt" list "$page" --markdown >"$folder/$page.md"
done
# docs/hooks.md is written by hand, but for its table of events.
table=$(mktemp)
trap 'rm -f "$table"' EXIT
"$redoubt" list events --markdown >"$table"
awk -v table="$table" '
  /^\| event \|/ { while ((getline line < table) > 0) print line; skip = 1 }
  !/^\|/ { skip = 0 }
  !skip' docs/hooks.md >"$table.page"
mv "$table.page" "$folder/hooks.md"
"$redoubt" manual --markdown >"$folder/commands.md"
