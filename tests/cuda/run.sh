#!/bin/sh
# run.sh REDOUBT SOURCE.cu: build one CUDA program with nvcc and run it on the simulated GPU: with the shared CUDA runtime, and with the
# static one, nvcc's default. Both must print the same and count the same. The source is compiled once and linked twice, which is quick.
# What nvcc makes of it is kept in build-nvcc/ beside the build's folder: every build's tests, with sanitizers or without, run the same programs.
# Further options for nvcc stand in the source's `// nvcc:` line; @ in it is the source's folder.
# Exit code: the program's; 77 (skipped) where there is no nvcc.
set -eu
redoubt=$(realpath "$1")
source=$(realpath "$2")
folder=$(dirname "$source")
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if ! [ -x "$nvcc" ]; then
    echo "no nvcc: skipped"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
options=$(sed -n 's|^// nvcc: ||p' "$source" | sed "s|@|$folder|g")
case $options in
*-arch=* | *-gencode*) ;;
*) options="-arch=sm_75 $options" ;;
esac
link_options=$(printf '%s\n' $options | grep -v '\.cu$' | tr '\n' ' ')
cd "$scratch"
made_of=$({ "$nvcc" --version; echo "$options"; cat "$source" "$folder"/*.h "$folder"/linked/*; } | sha256sum | cut -c 1-16)
kept=$(dirname "$(dirname "$redoubt")")/build-nvcc/$(basename "$source" .cu)-$made_of
if ! [ -d "$kept" ]; then
    # shellcheck disable=SC2086  # the options are words
    "$nvcc" -std=c++17 -c "$source" $options
    mkdir -p "$kept.$$"
    for form in shared static; do
        # shellcheck disable=SC2086
        "$nvcc" -cudart $form -o "$kept.$$/app-$form" ./*.o $link_options
    done
    mv -T "$kept.$$" "$kept" 2>/dev/null || rm -rf "$kept.$$" # another test has been faster
fi
cp "$kept"/app-* .
# A library built with the address sanitizer needs its runtime in the program from the start.
asan=$(ldd "$(dirname "$redoubt")/cudart/libcudart.so.13" | sed -n 's|.*=> \(.*libasan[^ ]*\) .*|\1|p')
for form in shared static; do
    mv app-$form app
    (
        if [ -n "$asan" ]; then
            export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
        fi
        exec "$redoubt" run --json=$form.json -- ./app
    ) >$form.out || { status=$?; cat $form.out; echo "with the $form runtime: exit code $status"; exit $status; }
    sed -i '/seconds/d' $form.json
    if ! grep -q '^PASS$' $form.out; then
        cat $form.out
        echo "with the $form runtime: no PASS"
        exit 1
    fi
done
cat static.out
sed -i '/^kernel  /,$d' shared.out static.out # the table of launches has times; it is compared as JSON
diff shared.out static.out
diff shared.json static.json
# Programs without races print the same however warps take turns.
for turn in 1 64; do
    (
        if [ -n "$asan" ]; then
            export LD_PRELOAD="$asan" ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
        fi
        exec "$redoubt" run --json=turns.json --set functional.interleave=$turn -- ./app
    ) >turns.out 2>turns.err || { status=$?; cat turns.out turns.err; echo "in turns of $turn: exit code $status"; exit $status; }
    sed -i '/^kernel  /,$d' turns.out
    diff shared.out turns.out || { echo "in turns of $turn"; exit 1; }
done
