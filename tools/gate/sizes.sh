#!/bin/sh
# Functions of at most 100 lines, files of at most 800 (tables excepted: .def, .inc, and test vectors).
git ls-files 'src/*.[ch]' 'workloads/*.[ch]' | xargs awk '
  FNR == 1 { if (NR > 1 && lines > 800) { print last ": " lines " lines"; bad = 1 } last = FILENAME; start = 0 }
  { lines = FNR }
  /^[A-Za-z_].*\) *\{$/ || (/^    .*\) *\{$/ && open_signature) { start = FNR; name = $0 }
  /^[A-Za-z_][^;{]*[,(]$/ { open_signature = 1; next }
  { open_signature = 0 }
  /^}/ { if (start && FNR - start + 1 > 100) { print FILENAME ":" start ": " FNR - start + 1 " lines: " name; bad = 1 } start = 0 }
  END { if (lines > 800) { print last ": " lines " lines"; bad = 1 } exit bad }'
