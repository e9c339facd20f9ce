#!/bin/sh
# Every page of evidence says of which commit its results are, and whether results have moved since then: evidence.sh [check|mark]
# A page that holds measured results has one of two sentences at its head, a page of several runs (docs/proof.md) one before each table:
#   Results of commit `0123456789ab`.
#   Older results, of commit `0123456789ab` or before: results may have moved since then, see [golden.md](develop/golden.md).
# The first is right if no commit after that one has moved a result: the one that is last added a row to docs/develop/golden.md, whose third column does
# not begin with "no result". `mark` writes the sentence that is right. Outside a clone, and in a shallow one, this is not known: nothing is checked.
set -eu
what=${1:-check}
golden=docs/develop/golden.md
# Pages without measured results: texts, generated tables, and examples that tests run.
plain="actions architecture campaigns cluster commands cuda decisions faults functional howto/cuda howto/gpu howto/scheme howto/study develop/golden index install
  instructions issue-plan journal libraries library parameters protections ptx running safety sass simt statistics studies study-keys tutorial workloads"
skip() { echo "not checked: $*"; exit 0; }
bad=0
wrong() { echo "$*"; bad=1; }

[ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = "" ] || skip "this is no clone"
[ "$(git rev-parse --is-shallow-repository)" = false ] || skip "this clone is shallow"

# The commit that moved a result last; nothing: it is not committed yet.
record=$(grep '^| 20' $golden | awk -F '|' '$4 !~ /^ *no result/ { name = $3 } END { gsub(/ /, "", name); print name }')
[ -n "$record" ] || { echo "$golden: no row names a record"; exit 1; }
moved=$(git log -m --first-parent --format=%H -S"| $record |" -- $golden | tail -n 1)
moved=$(git log --format=%H -S"| $record |" -- $golden | tail -n 1 | grep . || echo "$moved")

is_known() { git merge-base --is-ancestor "$1" HEAD 2>/dev/null; }
is_current() { [ -n "$moved" ] && git merge-base --is-ancestor "$moved" "$1"; }
sentence() { # PAGE COMMIT: the right one
  case $1 in docs/*/*) link=../develop/golden.md ;; *) link=develop/golden.md ;; esac
  if is_current "$2"; then echo "Results of commit \`$2\`."
  else echo "Older results, of commit \`$2\` or before: results may have moved since then, see [golden.md]($link)."
  fi
}
said() { sed -nE 's/^(Results of|Older results, of) commit `([0-9a-f]{7,40})`.*/\2/p' "$1"; }

for page in docs/*.md docs/*/*.md; do
  name=${page#docs/} name=${name%.md}
  is_plain=0
  for one in $plain; do [ "$one" != "$name" ] || is_plain=1; done
  commits=$(said "$page")
  if [ $is_plain = 1 ]; then
    [ -z "$commits" ] || wrong "$page: names a commit of results, but tools/gate/evidence.sh has it as a page without"
    continue
  fi
  [ -n "$commits" ] || { wrong "$page: holds results and does not say of which commit (or it has none: tools/gate/evidence.sh, 'plain')"; continue; }
  sed -n '1,8p' "$page" >.evidence.$$ && head=$(said .evidence.$$)
  rm -f .evidence.$$
  [ -n "$head" ] || wrong "$page: says of which commit its results are, but not within its first lines"
  [ "$name" = proof ] || [ "$(echo "$commits" | wc -l)" = 1 ] || wrong "$page: names several commits: $(echo $commits)"
  for commit in $commits; do
    is_known "$commit" || { wrong "$page: commit $commit is not in this history"; continue; }
    right=$(sentence "$page" "$commit")
    grep -qxF "$right" "$page" && continue
    if [ "$what" = mark ]; then
      CHOSEN=$commit RIGHT=$right awk '/^(Results of|Older results, of) commit `/ && index($0, "`" ENVIRON["CHOSEN"] "`") { $0 = ENVIRON["RIGHT"] } { print }' "$page" >"$page.new"
      mv "$page.new" "$page"
      echo "$page: $right"
    else
      wrong "$page: must say: $right ('tools/gate/evidence.sh mark' writes it)"
    fi
  done
done

# A row of docs/proof.md stands below the sentence with its commit.
awk -F '|' '/^(Results of|Older results, of) commit `/ { split($0, part, "`"); commit = part[2] }
  /^\|/ && !/^\| proof |^\|---/ { gsub(/ /, "", $4); if ($4 != commit) { print "docs/proof.md: a row of commit " $4 " stands below " commit; bad = 1 } }
  END { exit bad }' docs/proof.md || bad=1
exit $bad
