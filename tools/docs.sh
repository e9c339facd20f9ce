#!/bin/sh
# Writes the generated pages: docs.sh REDOUBT FOLDER
set -eu
redoubt=$1
folder=$2
for page in instructions parameters statistics study-keys; do
  "$redoubt" list "$page" --markdown >"$folder/$page.md"
done
# Pages that are written by hand, but for a table.
table=$(mktemp)
trap 'rm -f "$table"' EXIT
with_table() { # PAGE WHAT FIRST_COLUMN
  "$redoubt" list "$2" --markdown >"$table"
  awk -v table="$table" -v head="| $3 |" '
    index($0, head) == 1 { while ((getline line < table) > 0) print line; skip = 1 }
    !/^\|/ { skip = 0 }
    !skip' "docs/$1.md" >"$table.page"
  mv "$table.page" "$folder/$1.md"
}
with_table hooks events event
with_table power power power.
"$redoubt" manual --markdown >"$folder/commands.md"
