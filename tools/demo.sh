#!/bin/sh
# What `make demo` shows: what single-bit upsets in the register file do to two programs, without and with ECC, and the report page.
set -eu
redoubt=$1
folder=$(dirname "$redoubt")/demo
faults=2000
mkdir -p "$folder"
for workload in scalarprod matmul; do
  rm -f "$folder/$workload.db" "$folder/$workload-ecc.db"
  set -- campaign "$workload" --size small --machine fermi-gtx480 --structure rf --faults $faults
  echo "\$ redoubt $* -o $folder/$workload.db"
  "$redoubt" "$@" -o "$folder/$workload.db"
  echo
  echo "\$ redoubt $* --protect secded:rf -o $folder/$workload-ecc.db"
  "$redoubt" "$@" --protect secded:rf -o "$folder/$workload-ecc.db"
  echo
  echo "\$ redoubt compare $folder/$workload.db $folder/$workload-ecc.db"
  "$redoubt" compare "$folder/$workload.db" "$folder/$workload-ecc.db"
  echo
done
"$redoubt" report "$folder/matmul.db" -o "$folder/matmul.html" >/dev/null
echo "The same as a page with charts: $folder/matmul.html (open it in a browser)"
