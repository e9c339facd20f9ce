#!/bin/bash
# make install into a folder, and the tree moved elsewhere: tree.sh BUILD. The program, its CUDA library, the library with
# pkg-config and the Python binding work from there in an empty environment. What make uninstall leaves is what was there before.
set -u
build=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/works.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

install=$here/../../tools/install.sh
uninstall=$here/../../tools/uninstall.sh
"$install" "$build" /opt/redoubt "$folder/destination" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
[ "$(ls "$folder/destination")" = opt ] || fail "something is outside of the prefix: $(ls "$folder/destination")"
mv "$folder/destination/opt/redoubt" "$folder/tree with a space" # nothing may remember where it was built or put
tree=$folder/tree
mv "$folder/tree with a space" "$tree"
works "$tree"

# A CUDA program gets the installed library, not that of the build.
said=$(env -i HOME="$folder" PATH="$tree/bin:/usr/bin:/bin" LD_DEBUG=libs redoubt run -q -- "$build/generation13" 2>&1 >/dev/null | grep 'calling init.*libcudart')
case $said in *"$tree/bin/../lib/redoubt/cudart/libcudart.so.13"*) ;; *) fail "CUDA programs: $said" ;; esac
# So does one that uses cuBLAS, and the library for static runtimes is there: it is loaded without a complaint of the dynamic linker's.
said=$(env -i HOME="$folder" PATH="$tree/bin:/usr/bin:/bin" LD_DEBUG=libs redoubt run -q -- "$build/blas13" 2>&1 >/dev/null)
case $said in *"calling init: $tree/bin/../lib/redoubt/cudart/libcublas.so.13"*) ;; *) fail "cuBLAS is not that of the tree" ;; esac
case $said in *"cannot be loaded as audit interface"*) fail "the library for static runtimes is missing" ;; esac

# A program in C, with pkg-config.
if command -v pkg-config >/dev/null; then
  flags=$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --cflags --libs redoubt) || fail "pkg-config"
  [ "$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --modversion redoubt)" = "$("$tree/bin/redoubt" version | cut -d ' ' -f 2)" ] || fail "another version"
  # shellcheck disable=SC2086
  gcc -Wall -Wextra -Wpedantic -Werror -std=c11 "$tree/share/redoubt/examples/inject.c" $flags -o "$folder/inject" || fail "the example does not compile"
  env -i LD_LIBRARY_PATH="$tree/lib" "$folder/inject" >"$folder/out" || fail "the example fails"
  grep -q '^sdc-critical: ' "$folder/out" || fail "the example says: $(cat "$folder/out")"
  printf '#include <redoubt.h>\n' | g++ -x c++ -fsyntax-only -Wall -Wextra -Werror -I"$tree/include" - 2>/dev/null ||
    ! command -v g++ >/dev/null || fail "the header is no C++"
fi
[ -z "$(nm -D --defined-only "$tree/lib/libredoubt.so.0" | grep -v ' redoubt_[a-z_]*@@REDOUBT_1$' | grep -v ' A REDOUBT_1$')" ] || fail "the library shows more than its interface"

if command -v python3 >/dev/null; then
  packages=$(dirname "$(find "$tree/lib" -name redoubt.py)")
  env -i PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$packages" python3 -c '
import redoubt
assert redoubt.Machine("functional").workload("vecadd").run().passed' || fail "Python"
fi

# Twice into a prefix that others use too, then out of it: folders of others stay, even empty ones; nothing of ours does.
prefix="$folder/a prefix"
mkdir -p "$prefix/bin" "$prefix/lib/empty" "$prefix/share/man/man1"
echo other >"$prefix/share/man/man1/other.1"
(cd "$prefix" && find . | sort) >"$folder/before"
"$install" "$build" "$prefix" || fail "make install"
touch "$prefix/share/redoubt/machines/of-an-older-version.ini"
echo ./share/redoubt/machines/of-an-older-version.ini >>"$prefix/share/redoubt/installed"
"$install" "$build" "$prefix" || fail "make install over an older one"
[ ! -e "$prefix/share/redoubt/machines/of-an-older-version.ini" ] || fail "a file of the older version stays"
[ ! -x /usr/bin/python3 ] || PYTHONPATH=$(dirname "$(find "$prefix/lib" -name redoubt.py)") /usr/bin/python3 -c 'import redoubt' || fail "Python in the prefix"
"$uninstall" "$prefix" || fail "make uninstall"
(cd "$prefix" && find . | sort) | diff "$folder/before" - || fail "make uninstall leaves (>) or takes (<) the above"
"$uninstall" "$prefix" 2>"$folder/log" && fail "a second uninstall finds something"
grep -q '^Nothing of Redoubt is installed below' "$folder/log" || fail "a second uninstall says: $(cat "$folder/log")"
exit $failed
