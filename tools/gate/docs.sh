#!/bin/sh
# The generated pages of docs/ are what the program prints now: docs.sh BUILD_FOLDER
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
tools/docs.sh "$1/redoubt" "$fresh" || exit 1
for page in "$fresh"/*.md; do
  diff -u "docs/${page##*/}" "$page" || { echo "docs/${page##*/} is stale: run 'make docs'"; exit 1; }
done
