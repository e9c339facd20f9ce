#!/bin/sh
# The pages: docs.sh BUILD. No link leads nowhere, the site is built without a warning, its search works, pictures are small.
set -eu
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "docs: skipped, no Python"; exit 77; }
for picture in "$here"/../../docs/pictures/*; do
  [ "$(wc -c <"$picture")" -lt 150000 ] || { echo "docs: FAILED: $picture is larger than 150 KB"; exit 1; }
done
command -v mkdocs >/dev/null || { python3 "$here/links.py"; echo "docs: the site was left out, no mkdocs"; exit 0; }
"$here/../../tools/site.sh" "$build/site" >/dev/null
python3 "$here/links.py" "$build/site"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -z "$browser" ] || python3 "$here/site.py" "$build/site" "$browser"
