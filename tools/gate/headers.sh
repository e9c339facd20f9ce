#!/bin/sh
# Every header compiles alone.
bad=0
for header in $(git ls-files 'src/*.h'); do
  printf '#include "%s"\n' "${header#src/}" |
    gcc -std=gnu17 -D_GNU_SOURCE -Isrc -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-const-variable -fsyntax-only -x c - || { echo "$header does not stand alone"; bad=1; }
done
exit $bad
