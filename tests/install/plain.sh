#!/bin/bash
# A build by somebody without root, without apt-get and without the libraries: plain.sh SOURCE. Plain `make` never calls apt-get, and what is missing
# is named at once, all of it, with its package on each distribution.
set -u
source=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
  echo "plain: FAILED: $*"
  failed=1
}
mkdir "$folder/bin" "$folder/none"
for program in apt-get sudo dpkg-query; do
  printf '#!/bin/sh\necho %s "$@" >>"%s/called"\nexit 1\n' $program "$folder" >"$folder/bin/$program"
  chmod +x "$folder/bin/$program"
done
export PATH="$folder/bin:$PATH"
unset CC

# `make` in a copy, where pkg-config knows nothing.
cp -r "$source/CMakeLists.txt" "$source/Makefile" "$source/cmake" "$source/tools" "$folder/" || exit 1
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=$folder/none make -C "$folder" >"$folder/log" 2>&1 && fail "make is content without libraries"
for line in 'sqlite3: Debian, Ubuntu: libsqlite3-dev; Fedora, Rocky: sqlite-devel; Arch: sqlite' 'jansson: .*libjansson-dev;' 'inih: .*libinih-dev;' \
  'libzstd: .*libzstd-dev;' 'liblz4: .*liblz4-dev;' 'libxxhash: .*libxxhash-dev;' 'libpng: .*libpng-dev;' PKG_CONFIG_PATH; do
  grep -q "$line" "$folder/log" || fail "it does not say '$line': $(cat "$folder/log")"
done
# Without CMake, or with one that is too old.
mkdir "$folder/few"
for program in sh dirname sed sort head printf; do ln -s "$(command -v $program)" "$folder/few/$program"; done
said=$(PATH="$folder/few" "$folder/tools/configure.sh" 2>&1) && fail "no CMake, and no complaint"
case $said in 'CMake is missing'*) ;; *) fail "without CMake: $said" ;; esac
printf '#!/bin/sh\necho cmake version 3.9.1\n' >"$folder/few/cmake" && chmod +x "$folder/few/cmake"
said=$(PATH="$folder/few" "$folder/tools/configure.sh" 2>&1) && fail "an old CMake, and no complaint"
case $said in 'CMake 3.9.1 is too old: 3.18 is needed.'*) ;; *) fail "an old CMake: $said" ;; esac
[ ! -e "$folder/called" ] || fail "make calls $(cat "$folder/called")"
# For users warnings are no errors: what they have is a newer compiler than ours.
grep -q Werror "$source/tools/configure.sh" && fail "-Werror for users"

# The notes of a release: what is missing is said; when nothing is, they hold the changes, what is stable, and checksums that fit.
mkdir "$folder/docs" "$folder/out" && cp "$source/docs/install.md" "$folder/docs/"
printf '# Changes\n\n## 9.8.7 (unreleased)\n- A new thing.\n\n## 9.8.6\n- An old thing.\n' >"$folder/CHANGELOG.md"
"$folder/tools/release.sh" 9.8.7 "$folder/out" >/dev/null 2>"$folder/log" && fail "a release without files"
for line in "is to become '## 9.8.7'" 'CMakeLists.txt says another version: 0' 'no files: make dist'; do grep -q "$line" "$folder/log" || fail "the release does not say '$line': $(cat "$folder/log")"; done
sed -i 's/ (unreleased)//' "$folder/CHANGELOG.md"
sed -i 's/^project(redoubt VERSION [^ ]*/project(redoubt VERSION 9.8.7/' "$folder/CMakeLists.txt"
echo tarball >"$folder/out/redoubt.tar.gz" && (cd "$folder/out" && sha256sum redoubt.tar.gz >SHA256SUMS)
"$folder/tools/release.sh" 9.8.7 "$folder/out" >"$folder/log" 2>&1 || fail "the release: $(cat "$folder/log")"
grep -q '^Then: git tag -a v9.8.7 ' "$folder/log" || fail "the release does not say how to set the tag"
for line in '^# Redoubt 9.8.7$' '^- A new thing.$' '^- Stable from ' '^[0-9a-f]\{64\}  redoubt.tar.gz$'; do grep -q "$line" "$folder/out/redoubt-9.8.7-notes.md" || fail "notes without $line"; done
grep -q 'An old thing\|^## Releases' "$folder/out/redoubt-9.8.7-notes.md" && fail "notes with what is not theirs"
echo other >"$folder/out/redoubt.tar.gz"
"$folder/tools/release.sh" 9.8.7 "$folder/out" >"$folder/log" 2>&1 && fail "a release with a file that does not fit its checksum"
[ "$failed" = 0 ] && echo "plain: make names what is missing, and installs nothing"
exit $failed
