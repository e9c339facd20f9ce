# What must work wherever Redoubt is installed: . works.sh, then works PREFIX. Runs in an empty environment, in a scratch folder.
# Sets failed=1 and says what is wrong.
failed=0
fail() {
  echo "install: FAILED: $*"
  failed=1
}

works() { # PREFIX
  prefix=$1
  scratch=$(mktemp -d)
  clean() { (cd "$scratch" && env -i HOME="$scratch" PATH="$prefix/bin:/usr/bin:/bin" LC_ALL=C "$@"); }
  [ "$(clean which redoubt)" = "$prefix/bin/redoubt" ] || fail "redoubt is not found"
  clean redoubt version | grep -q '^redoubt [0-9]' || fail "redoubt version"
  clean redoubt run vecadd --size tiny -q >/dev/null || fail "redoubt run vecadd"
  clean redoubt campaign scalarprod --size tiny --machine fermi-gtx480 --structure rf --faults 50 -o a.db -q >/dev/null 2>&1 || fail "a campaign"
  clean redoubt report a.db -o page.html -q || fail "a report"
  [ "$(wc -c <"$scratch/page.html")" -gt 100000 ] || fail "the page has no charts"
  clean redoubt reproduce flexgrip --quick >/dev/null 2>&1 || fail "the study"
  # A machine file of the user's own, from one that is installed.
  cp "$prefix/share/redoubt/machines/fermi-gtx480.ini" "$scratch/mine.ini" || fail "machine files"
  clean redoubt run vecadd --size tiny --machine mine.ini -q >/dev/null || fail "a machine file"
  clean redoubt check "$prefix/share/redoubt/workloads/matmul/kernel.ptx" >/dev/null || fail "the workloads' PTX"
  for file in share/man/man1/redoubt.1 share/man/man1/redoubt-campaign.1 share/bash-completion/completions/redoubt \
    share/fish/vendor_completions.d/redoubt.fish include/redoubt.h lib/libredoubt.so.0 lib/redoubt/cudart/libcudart.so.13 \
    lib/redoubt/cudart/libcuda.so.1 share/redoubt/studies/rise/study.ini share/doc/redoubt/copyright share/doc/redoubt/README.md; do
    [ -e "$prefix/$file" ] || fail "$file is missing"
  done
  rm -rf "$scratch"
}
