#!/bin/sh
# Every C file is as clang-format leaves it.
git ls-files -z 'src/*.[ch]' 'src/*.inc' 'workloads/*.[ch]' 'tests/*.[ch]' 'bench/*.[ch]' |
  xargs -0 clang-format --dry-run -Werror
