#!/bin/bash
# Every compiler that users may have builds Redoubt, without a warning, and a part of the golden record comes out the same: compilers.sh REDOUBT FOLDER.
# COMPILERS="RELEASE:COMPILER ..." for some of them. Each in a bare system of the Debian release that has it; the oldest and the newest of each kind first.
set -eu
folder=$(mkdir -p "$2" && realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
source=$(realpath "$here/../..")
. "$source/tools/debian.sh"
wanted=${COMPILERS:-bullseye:gcc-9 trixie:gcc-14 bullseye:clang-11 trixie:clang-19 bullseye:gcc-10 bookworm:gcc-11 bookworm:gcc-12 trixie:gcc-13
  bookworm:clang-13 bookworm:clang-14 bookworm:clang-15 bookworm:clang-16 trixie:clang-17}
libraries="libinih-dev libjansson-dev libxxhash-dev libzstd-dev liblz4-dev libsqlite3-dev libiberty-dev libpng-dev"
done="" lacking=""
for one in $wanted; do
  release=${one%%:*} compiler=${one#*:} root=$folder/root
  rm -rf "$root" && mkdir "$root"
  # shellcheck disable=SC2086
  debian_make "$root" "$release" "$folder/$release.tar" libc6-dev make cmake ninja-build pkg-config $libraries || { echo "$release: $why"; exit 1; }
  if ! debian_inside "$root" apt-get install -y --no-install-recommends "$compiler" >"$folder/log" 2>&1; then
    grep -q 'Unable to locate package' "$folder/log" || { tail -n 3 "$folder/log"; exit 1; }
    lacking="$lacking $compiler"
    continue
  fi
  mkdir "$root/redoubt" && git -C "$source" archive HEAD | tar -C "$root/redoubt" -xf -
  debian_inside "$root" sh -ec "cd /redoubt
    cmake -S . -B build -G Ninja -DCMAKE_C_COMPILER=$compiler -DCMAKE_BUILD_TYPE=Release -DREDOUBT_WERROR=ON
    nice cmake --build build -j ${JOBS:-1} --target redoubt" >"$folder/log" 2>&1 || { echo "$one does not build it:"; grep -m 3 -A 4 'error:' "$folder/log"; exit 1; }
  cat >"$folder/redoubt" <<END
#!/bin/sh
exec "$root/lib64/ld-linux-x86-64.so.2" --library-path "$root/lib/x86_64-linux-gnu:$root/usr/lib/x86_64-linux-gnu" "$root/redoubt/build/redoubt" "\$@"
END
  chmod +x "$folder/redoubt"
  "$here/../golden/golden.py" check "$folder/redoubt" '^run .*(--size tiny|\.ptx|\.fp)' -j 1 >"$folder/log" || { tail -n 20 "$folder/log"; exit 1; }
  done="$done, $compiler of $release"
done
[ -n "$done" ] || { echo "none of $wanted is to be had"; exit 1; }
echo "RESULT compilers: built without a warning, numbers as recorded: ${done#, }${lacking:+; not to be had:$lacking}"
