#!/bin/sh
# What reaches a terminal: screen.sh REDOUBT JOURNAL_MAKER. Control characters of paths, names and journals are shown, never sent;
# colours only on a terminal, and not with NO_COLOR.
set -eu
redoubt=$(realpath "$1")
maker=$(realpath "$2")
data=$(realpath "$(dirname "$0")/data")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0
fail() {
  echo "screen: FAILED: $*"
  failed=1
}
escape=$(printf '\033')
evil=$(printf 'x\033]0;title\007\302\233y')
shown='x\\x1b\]0;title\\x07\\xc2\\x9by'

# Says the text, in one line, without a control character.
shows() { # ARGUMENTS...
  "$redoubt" "$@" >said 2>&1 </dev/null || true
  grep -q "$shown" said || fail "redoubt $*: not shown: $(cat -v said)"
  if LC_ALL=C grep -q '[[:cntrl:]]' said; then fail "redoubt $*: control characters: $(cat -v said)"; fi
  if LC_ALL=C grep -q "$(printf '\302\233')" said; then fail "redoubt $*: C1: $(cat -v said)"; fi
}
cp "$data/vecadd.ptx" "$evil.ptx"
cp "$data/two.ini" "$evil.ini"
shows run "$evil"
shows run "./$evil"
shows run vecadd --machine "$evil"
shows run vecadd --machine "./$evil"
shows run vecadd --size "$evil"
shows run vecadd "--$evil"
shows run vecadd --param "$evil"
shows run "$evil.ptx" --kernel nosuch
shows run -- "./$evil"
shows check "$evil.ptx"
shows list "$evil"
shows report "$evil.db"
shows merge all.db "$evil.db"
shows replay "$evil.db" 1
shows asm "$evil.sass"
shows "$evil"
"$maker" hostile.db 10 "$evil"
shows report hostile.db
shows compare hostile.db hostile.db
shows report hostile.db --json "$evil.json"
newline=$(printf 'x\ny')
"$redoubt" report "$newline" 2>said && fail "a path with a line feed"
[ "$(wc -l <said)" -eq 1 ] || fail "a path with a line feed is two lines: $(cat said)"

# Cells of CSV that a spreadsheet would compute.
"$maker" formula.db 10 '=1+1'
mkdir tables
"$redoubt" report -q formula.db --csv tables
grep -q "^protection,\"'=1+1\"\$" tables/campaign.csv || fail "CSV: $(grep protection tables/campaign.csv)"
cp "$data/two.ini" ./-two.ini
"$redoubt" run vecadd --size tiny --machine ./-two.ini --csv >said
grep -q "^\"vecadd\",\"'-two\"," said || fail "CSV: $(cut -c 1-60 said)"

# Colours.
command -v script >/dev/null || exit $failed
seen() { # ENVIRONMENT ARGUMENTS: what is written to a terminal
  SHELL=/bin/sh script -qec "env $1 $redoubt $2" /dev/null </dev/null >bytes || true
}
has_colours() { grep -q "$escape\[[0-9;]*m" bytes; }
for arguments in "report nowhere.db" "run vecadd --size tiny" "report formula.db"; do
  seen "-u NO_COLOR TERM=xterm" "$arguments"
  has_colours || fail "no colours on a terminal: $arguments: $(cat -v bytes)"
  for environment in "NO_COLOR=1 TERM=xterm" "-u NO_COLOR TERM=dumb" "-u NO_COLOR -u TERM"; do
    seen "$environment" "$arguments"
    if has_colours; then fail "colours with $environment: $arguments"; fi
  done
  # shellcheck disable=SC2086
  env -u NO_COLOR TERM=xterm "$redoubt" $arguments >bytes 2>&1 || true
  if has_colours; then fail "colours without a terminal: $arguments"; fi
done
for style in --json --csv; do # data are data elsewhere
  seen "-u NO_COLOR TERM=xterm" "run vecadd --size tiny --machine '$evil.ini' $style"
  grep -qi 'x[^]]*1b]0;title[^y]*07[^y]*9by' bytes || fail "run $style: $(cat -v bytes)"
  if grep -q "title$(printf '\007')\|$(printf '\302\233')" bytes; then fail "run $style: control characters on a terminal"; fi
done
seen "NO_COLOR=1 TERM=xterm" "export hostile.db --table campaign"
grep -q "$shown" bytes || fail "export: $(cat -v bytes)"
if grep -q "$escape" bytes; then fail "export: control characters on a terminal"; fi
seen "-u NO_COLOR TERM=xterm" "run vecadd --size tiny --machine fermi-gtx480"
sed "s/$escape\[[0-9;]*m//g" bytes >plain
seen "NO_COLOR=1 TERM=xterm" "run vecadd --size tiny --machine fermi-gtx480"
[ "$(grep -c . plain)" -eq "$(grep -c . bytes)" ] || fail "colours change lines"
exit $failed
