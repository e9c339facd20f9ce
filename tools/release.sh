#!/bin/sh
# `make release`: release.sh VERSION OUT. What a release needs, in OUT: notes of it (Markdown, from CHANGELOG.md), and what `make dist` has put there, with
# checksums. It changes nothing in the source and sets no tag: it says which lines are still to be changed, and the commands that a person then types.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
version=$1 out=$2
mkdir -p "$out"
notes=$out/redoubt-$version-notes.md
bad=0
say() {
  echo "release: $*" >&2
  bad=1
}
case $version in *[!0-9.]* | '') echo "release: '$version' is no version; three numbers are needed, such as 0.2.0" >&2; exit 2 ;; esac

section() { awk -v head="## $1" '/^## / { on = index($0 " ", head " ") == 1; next } on' "$here/CHANGELOG.md"; }
heading=$(sed -n 's/^## \([^ ]*\) (unreleased)$/\1 (unreleased)/p' "$here/CHANGELOG.md" | head -n 1)
body=$(section "$version")
[ -z "$heading" ] || say "CHANGELOG.md: the heading '## $heading' is to become '## $version'"
[ -n "$body" ] || body=$(section "$heading")
[ -n "$body" ] || say "CHANGELOG.md has no section '## $version'"
grep -q "^project(redoubt VERSION $version " "$here/CMakeLists.txt" || say "CMakeLists.txt says another version: $(sed -n 's/^project(redoubt VERSION \([^ ]*\).*/\1/p' "$here/CMakeLists.txt")"
[ -z "$(git -C "$here" status --porcelain 2>/dev/null)" ] || say "the checkout has changes that are not committed"
[ -z "$(git -C "$here" tag -l "v$version" 2>/dev/null)" ] || say "the tag v$version is there already"

{
  printf '# Redoubt %s\n\n' "$version"
  sed -n '/^## What is stable$/,/^## /{/^## What is stable$/p;/^## /!p}' "$here/docs/install.md"
  printf '## Changes\n%s\n' "$body"
  if [ -f "$out/SHA256SUMS" ]; then
    printf '\n## Files\n\nEach tarball holds the list of what is inside (`share/doc/redoubt/sbom.spdx.json`) and its licences.\n\n```\n'
    (cd "$out" && sha256sum -c SHA256SUMS >/dev/null 2>&1) || say "SHA256SUMS does not fit the files beside it: make dist again"
    cat "$out/SHA256SUMS"
    printf '```\n'
  fi
} >"$notes"
[ -f "$out/SHA256SUMS" ] || say "no files: make dist ARCHITECTURES='x86_64 aarch64' first"
echo "$notes"
[ $bad = 0 ] || exit 1
echo "Then: git tag -a v$version -F $notes && git push origin v$version"
