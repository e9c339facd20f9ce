#!/bin/sh
# No machine knows a scheme: no name of a protection (the files of src/protect) stands in src/machine, but in its tests.
names=$(for file in src/protect/*.c; do basename "$file" .c; done | grep -v '^test_\|^null$\|^protect$' | paste -sd '|')
found=$(git ls-files 'src/machine/*' | grep -v '/test_' | xargs grep -niwE "$names|rise|frise|shield|hints|reissue|heal" 2>/dev/null)
[ -z "$found" ] || { echo "$found"; exit 1; }
