#!/bin/sh
# The gate on evidence finds pages whose results are not of the commit that they seem to be of: evidence.sh. In a repository of its own, made of this one's docs.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
gate=$here/tools/gate/evidence.sh
command -v git >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t
fail() { echo "evidence: FAILED: $*"; cat out.txt; exit 1; }
passes() { "$gate" >out.txt 2>&1 || fail "$1"; }
finds() { # WHAT LINE: the gate fails, and says this line
  ! "$gate" >out.txt 2>&1 || fail "$1 is not found"
  grep -qF -- "$2" out.txt || fail "$1: no line '$2'"
}
row() { printf '| 2026-01-0%s | %s | %s | a cause | a commit |\n' "$1" "$2" "$3" >>docs/develop/golden.md; }
commit() { git add -A && git commit -q --allow-empty -m "$1" && git rev-parse --short=12 HEAD; }

# Without a history nothing is known, and nothing fails.
cp -r "$here/docs" docs
passes "a folder that is no clone"
grep -q '^not checked: ' out.txt || fail "it does not say that nothing was checked"

sed -i '/^| 20/d' docs/develop/golden.md
row 1 aaaaaaaa "all"
git init -q .
old=$(commit "results a")
row 2 bbbbbbbb "cycles"
new=$(commit "results b")
for page in docs/*.md docs/*/*.md; do sed -i -E 's/^(Results of|Older results, of) commit `[0-9a-f]+`.*/Results of commit `'"$new"'`./' "$page"; done
awk -F '|' -v new="$new" '/^\| [a-z-]+ \|.*\| [0-9]+ \|$/ { $4 = " " new " "; gsub(/ *\| */, "|"); OFS = "|" } { print }' OFS='|' docs/proof.md >proof && mv proof docs/proof.md
later=$(commit "pages of today")
passes "pages of the last results"

# Not the last results, and a sentence that is no longer so.
sed -i "s/$new/$old/" docs/rise.md
finds "older results" "docs/rise.md: must say: Older results, of commit \`$old\` or before: results may have moved since then, see [golden.md](develop/golden.md)."
"$gate" mark >out.txt || fail "mark"
passes "what mark has written"
grep -q "^Older results, of commit .$old. or before" docs/rise.md || fail "mark writes something else: $(head -4 docs/rise.md)"
sed -i "s/$old/$later/" docs/rise.md
finds "a page that was made anew and still says that it is older" "docs/rise.md: must say: Results of commit \`$later\`."
"$gate" mark >out.txt
passes "mark of a page that was made anew"

# Results that move make every page older, already before they are committed; rows that move none do not.
row 3 cccccccc "no result: how the record is written"
passes "a row that moves no result"
commit "the record's form" >/dev/null
passes "a row that moves no result, committed"
cp docs/develop/golden.md keep
row 4 dddddddd "cycles"
finds "results that are about to move" "docs/claims.md: must say: Older results, of commit \`$new\`"
commit "results d" >/dev/null
finds "results that have moved" "docs/claims.md: must say: Older results, of commit \`$new\`"
git reset -q --hard HEAD~1

# Pages that say nothing, too much, too late, or what cannot be.
sed -i '/^Results of commit/d' docs/shield.md
finds "a page of results without a commit" "docs/shield.md: holds results and does not say of which commit"
git checkout -q docs/shield.md
echo "# New" >docs/new.md
finds "a new page that nobody has looked at" "docs/new.md: holds results and does not say of which commit"
rm docs/new.md
printf '\nResults of commit `%s`.\n' "$old" >>docs/hints.md
finds "two commits on a page" "docs/hints.md: names several commits"
git checkout -q docs/hints.md
{ grep -v '^Results of commit' docs/hints.md && printf '\nResults of commit `%s`.\n' "$new"; } >late && mv late docs/hints.md
finds "a sentence at the end" "docs/hints.md: says of which commit its results are, but not within its first lines"
git checkout -q docs/hints.md
sed -i "s/$new/0123456789ab/" docs/claims.md
finds "a commit that is not there" "docs/claims.md: commit 0123456789ab is not in this history"
git checkout -q docs/claims.md
sed -i "0,/| $new |/s/| $new |/| $old |/; 0,/|$new|/s/|$new|/|$old|/" docs/proof.md
finds "a row below another commit's sentence" "docs/proof.md: a row of commit $old stands below $new"
git checkout -q docs/proof.md
passes "the pages as they were"

# A shallow clone does not know.
git clone -q --depth 1 "file://$folder" shallow
cd shallow
"$gate" >../out.txt 2>&1 || { cd ..; fail "a shallow clone"; }
grep -q '^not checked: this clone is shallow' ../out.txt || { cd ..; fail "a shallow clone"; }
echo "evidence: the gate finds what was planted"
