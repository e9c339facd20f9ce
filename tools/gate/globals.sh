#!/bin/sh
# No writable data in library objects: nothing in .data or .bss (constant tables of pointers lie in .data.rel.ro).
# globals.sh BUILD_FOLDER. src/cudart is no library of the layers: the CUDA runtime has process-wide state.
found=$(for library in "$1"/lib*.a; do
  objdump -t "$library" | awk -v library="${library##*/}" '
    /file format/ { object = $1 }
    / O / && ($4 ~ /^\.(data|bss|tdata|tbss)(\.|$)/ || $5 ~ /^\.(data|bss)(\.|$)/) && $0 !~ /\.data\.rel\.ro/ { print library ": " object " " $NF }'
done)
[ -z "$found" ] || { echo "$found"; exit 1; }
