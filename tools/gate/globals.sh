#!/bin/sh
# No writable data in library objects: nm's D, B and C symbols. globals.sh BUILD_FOLDER
# src/cudart is the one exception: the CUDA runtime's interface has process-wide state.
found=$(for library in "$1"/lib*.a; do
  nm -A "$library" 2>/dev/null | grep -E ' [BbDdC] ' | grep -vE ' [bd] (__compound_literal|\.)'
done)
[ -z "$found" ] || { echo "$found"; exit 1; }
