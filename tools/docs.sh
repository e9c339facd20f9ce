#!/bin/sh
# Writes the generated pages: docs.sh REDOUBT FOLDER
set -eu
redoubt=$1
folder=$2
for page in instructions parameters statistics study-keys; do
  "$redoubt" list "$page" --markdown >"$folder/$page.md"
done
