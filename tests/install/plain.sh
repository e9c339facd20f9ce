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
[ "$failed" = 0 ] && echo "plain: make names what is missing, and installs nothing"
exit $failed
