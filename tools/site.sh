#!/bin/sh
# Builds the site of docs/ with MkDocs: site.sh FOLDER. A link that leads nowhere is an error.
set -eu
folder=$(realpath -m "$1")
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mkdocs build --strict --clean --site-dir "$folder" >"$log" 2>&1 || { grep -v '^INFO' "$log" >&2; exit 1; }
echo "The site: $folder/index.html. For its search: python3 -m http.server -d $folder"
