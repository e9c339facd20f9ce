#!/bin/sh
# A folder of src/ includes only what lies below it (docs/architecture.md); folders side by side never meet.
for file in $(git ls-files 'src/*.[ch]' 'src/*.inc' 'src/*.def' 'workloads/*.[ch]'); do
  sed -n 's/^ *# *include "\([a-z0-9_]*\)\/.*/\1/p' "$file" | sort -u | sed "s|^|$file |"
done | awk '
  BEGIN {
    below["base"] = "base"
    below["isa"] = below["base"] " isa"
    below["program"] = below["isa"] " program"
    below["ptx"] = below["program"] " ptx"
    below["sass"] = below["program"] " sass"
    below["shader"] = below["isa"] " shader"
    below["config"] = below["program"] " config"
    below["hook"] = below["config"] " hook"
    below["machine"] = below["hook"] " sass shader machine"
    below["protect"] = below["hook"] " protect"
    below["observe"] = below["hook"] " observe"
    below["ace"] = below["hook"] " ace"
    below["fault"] = below["hook"] " fault"
    below["power"] = below["hook"] " power"
    below["device"] = below["machine"] " ptx protect observe ace power device"
    below["journal"] = below["base"] " journal"
    below["campaign"] = below["device"] " fault journal campaign"
    below["settle"] = below["campaign"] " settle"
    below["explain"] = below["campaign"] " explain"
    below["app"] = below["settle"] " explain app"
    below["cluster"] = below["journal"] " cluster"
    below["report"] = below["journal"] " report"
    below["study"] = below["report"] " study"
    below["cudart"] = below["app"] " cudart"
    below["libraries"] = "libraries"
    below["cli"] = below["app"] " report study cluster cli"
    below["lib"] = below["settle"] " explain lib"
    below["workloads"] = below["device"]
  }
  {
    split($1, part, "/")
    folder = part[1] == "src" ? part[2] : part[1]
    if (!(folder in below)) { print $1 ": folder " folder " has no place in tools/gate/layers.sh"; bad = 1; next }
    if (index(" " below[folder] " ", " " $2 " ") == 0) { print $1 ": " folder " must not include " $2; bad = 1 }
  }
  END { exit bad }'
