#!/bin/sh
# Studies as a user meets them: study.sh REDOUBT. Cells are run once, whatever stops them; results do not depend on how they were run;
# claims are judged; wrong files get one line with the place; the page draws in Chromium.
set -eu
redoubt=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../campaign/wait.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$here"/made-up.ini "$here"/published.csv "$folder"
cd "$folder"
fail() {
  echo "study: FAILED: $*"
  exit 1
}

"$redoubt" study made-up.ini -o one -j1 -q >one.txt
for pattern in '^time: agrees$' '^Intervals at 95%' '^  tolerance 50%$' '^each: agrees in part$' '^avf: differs$' '^area: cannot be compared$' '4 claims: 1 agrees, 1 agrees in part, 1 differs, 1 cannot be compared; 7 cells'; do
  grep -q "$pattern" one.txt || { cat one.txt; fail "no '$pattern'"; }
done
cmp one.txt one/study.txt
results() { ls "$1"/cells/*.json "$1"/cells/*.db 2>/dev/null | wc -l; }
[ "$(results one)" -eq 7 ] || fail "not 7 cells"
[ "$(wc -l <one/all.csv)" -eq 3 ] || fail "all.csv"
grep -q '^1,1,1' one/wrong.csv || { cat one/wrong.csv; fail "wrong.csv"; }

# Cells that are there are not run again; one that is lost is.
before=$(stat -c '%Y %i %n' one/cells/*)
"$redoubt" study made-up.ini -o one -q >again.txt
cmp one.txt again.txt
[ "$before" = "$(stat -c '%Y %i %n' one/cells/*)" ] || fail "a cell was run again"
rm "$(ls one/cells/*.json | head -1)"
"$redoubt" study made-up.ini -o one -q >again.txt
cmp one.txt again.txt

# A result that is not its cell's own is said, and run again: what is found does not change.
again() { # what was done to a result
  "$redoubt" study made-up.ini -o one -q >again.txt 2>misfit.txt || fail "$1: $(cat misfit.txt)"
  [ "$(grep -c 'cannot be taken for the result of its cell: .*; the cell is run again' misfit.txt)" -eq 1 ] || fail "$1 is not said: $(cat misfit.txt)"
  cmp one.txt again.txt || fail "$1 is taken for the cell's result"
}
first=$(ls one/cells/*.json | head -1) second=$(ls one/cells/*.json | tail -1) journal=$(ls one/cells/*.db)
cp "$second" "$first"
again "another run's result"
cp "$second" "$first"
cp "$second.seal" "$first.seal"
again "another run's result with its seal"
sed -i '0,/"cycles": /s//"cycles": 9/' "$first"
again "an edited cycle count of a run"
rm "$first.seal"
again "a result without a seal"
printf '{' >"$first.seal"
again "a damaged seal"
sql() { python3 -c "import sqlite3, sys; base = sqlite3.connect(sys.argv[1]); base.execute(sys.argv[2]); base.commit()" "$journal" "$1"; }
sql "UPDATE launches SET cycles = cycles + 1"
again "an edited cycle count of a campaign"
sql "UPDATE faults SET outcome = 'sdc' WHERE id = 7"
again "an edited outcome"
sql "UPDATE meta SET value = '0' WHERE key = 'complete'"
again "a journal that was marked as unfinished"
truncate -s -8192 "$journal"
again "a journal that was cut off"
truncate -s 100 "$journal"
again "a journal of which the beginning is left"
"$redoubt" campaign vecadd --machine gt200-rise --size tiny --faults 500 --structure rf --set sm.count=2 -o other.db -q >/dev/null
cp other.db "$journal"
again "another campaign's journal"
cp other.db "$journal"
rm "$journal.seal"
again "another campaign's journal without a seal"
python3 -c "import sqlite3; base = sqlite3.connect('other.db'); base.execute(\"UPDATE meta SET value = '0' WHERE key = 'complete'\"); base.commit()"
cp other.db "$journal"
rm "$journal.seal"
again "another campaign's unfinished journal"
sql "VACUUM" # other bytes, the same rows
"$redoubt" study made-up.ini -o one -q >again.txt 2>misfit.txt
cmp one.txt again.txt
[ ! -s misfit.txt ] || fail "other bytes of SQLite: $(cat misfit.txt)"

# Shards into one folder, then all of it; two processes.
"$redoubt" study made-up.ini -o two -q --shard 1/2
[ "$(results two)" -eq 3 ] || fail "shard 1/2 has $(results two) cells"
"$redoubt" study made-up.ini -o two --list | grep -q '^7 cells, 3 of them done; .* with [0-9]* processes$' || fail "--list"
"$redoubt" study made-up.ini -o two -q --shard 0/2 >two.txt # the last shard shows all
cmp one.txt two.txt
for file in study.json index.html all.csv bars.csv; do cmp "one/$file" "two/$file"; done

# Killed in the middle, it goes on.
"$redoubt" study made-up.ini -o three -q -j1 >/dev/null 2>&1 &
pid=$!
while [ "$(results three)" -lt 3 ]; do kill -0 $pid 2>/dev/null || break; done
kill -9 $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
"$redoubt" study made-up.ini -o three -q >three.txt
cmp one.txt three.txt

# Two at one time on one folder: nothing is run twice, and who has to wait says so.
sed 's/^faults = 3000/faults = 300/; s/--structure unit.sp,rf/--structure unit.sp,rf --no-prune --no-snapshot/' made-up.ini >slow.ini
"$redoubt" study slow.ini -o slow -q -j1 >slow.txt
"$redoubt" study slow.ini -o pair -j1 >left.txt 2>left.err &
left=$!
within_a_minute test -e pair/cells/"$(basename slow/cells/*.db)" || fail "the campaign has not begun"
"$redoubt" study slow.ini -o pair -j1 >right.txt 2>right.err || fail "the second of two studies: $(cat right.err)"
wait $left || fail "the first of two studies: $(cat left.err)"
grep -q 'pair: another study is at work there; waiting for 1 of its cells' right.err || fail "it does not say that it waits: $(cat right.err)"
cmp slow.txt left.txt
cmp slow.txt right.txt
for i in 1 2 3; do # both begin everything
  rm -rf pair
  "$redoubt" study made-up.ini -o pair -q >left.txt 2>left.err &
  left=$!
  "$redoubt" study made-up.ini -o pair -q >right.txt 2>right.err || fail "one of two studies: $(cat right.err)"
  wait $left || fail "one of two studies: $(cat left.err)"
  cmp one.txt left.txt
  cmp one.txt right.txt
done

# The quick form says so, and is kept apart.
"$redoubt" study made-up.ini --quick -q >quick.txt
grep -q '^Quick form' quick.txt || fail "--quick is not said"
[ -e study-quick/index.html ] || fail "no folder study-quick"
# ... and it judges nothing, anywhere. The words of findings stand in the page's script; what the page shows is looked at below.
judgement='agree|differ|not decided|cannot be compared'
if grep -E "$judgement" quick.txt study-quick/*.csv study-quick/study.json; then fail "the quick form judges"; fi
[ "$(grep -c ': not judged' quick.txt)" -eq 4 ] || { cat quick.txt; fail "a claim is missing"; }
grep -q '4 claims: 4 not judged; 7 cells' quick.txt || { cat quick.txt; fail "the sum of claims"; }
grep -q '^ *vecadd  *[0-9.]*$' quick.txt || { cat quick.txt; fail "no value in the quick form"; }

# A cell that fails is named with its command and what it said.
sed 's/--protect dmr/--max-instructions 100/' made-up.ini >bad.ini
if "$redoubt" study bad.ini -o bad -q 2>bad.txt; then fail "a wrong cell passes"; fi
grep -q "\[run twice\] failed: redoubt run vecadd .*--max-instructions 100" bad.txt || { cat bad.txt; fail "the failed cell"; }
grep -q 'goes on where it stopped' bad.txt || fail "no word of how to go on"

# A command of any length is run to its last word, which is the one that counts here.
{
  printf '[study]\ntitle = long\n[run short]\ntargets = vecadd\nmachines = gt200-rise\nsize = tiny\noptions = --set sm.count=8\n'
  printf '[run long]\ntargets = vecadd\nmachines = gt200-rise\nsize = tiny\noptions =\n'
  for i in $(seq 600); do echo '  --set=sm.count=2'; done
  printf '  --set sm.count=8\n[table wide]\ntitle = wide\nsql = SELECT 1 AS c1\n'
  for i in $(seq 2 70); do echo "  , $i AS c$i"; done
  printf '[table same]\ntitle = same\nsql = SELECT short.cycles = long.cycles AS same FROM short, long\n'
} >long.ini
"$redoubt" study long.ini -o long -q >/dev/null
grep -q ' c70$' long/study.txt || fail "the last column of a wide table is lost"
grep -q '^1$' long/same.csv || fail "the last option of a long command is lost: $(cat long/same.csv)"

# A folder with something else in it is left alone; so is a result that is wrong.
if "$redoubt" study made-up.ini -o . -q 2>bad.txt; then fail "writes into a folder of the user's"; fi
grep -q 'holds no results of a study' bad.txt || { cat bad.txt; fail "-o ."; }
[ ! -e study.db ] || fail "study.db was written"
mkdir empty
"$redoubt" study made-up.ini -o empty -q --list >/dev/null || fail "an empty folder"

wrong() { # sed expression, message
  sed "$1" made-up.ini >bad.ini
  if "$redoubt" study bad.ini -o one -q >/dev/null 2>bad.txt; then fail "'$1' passes"; fi
  grep -q "$2" bad.txt || { cat bad.txt; fail "'$1'"; }
}
# What no cell could run is known before the first one runs.
wrong 's/--protect dmr/--protet dmr/' "bad.ini:11: error: \[run twice\] cannot be run: redoubt run vecadd .*--protet dmr"
wrong 's/--protect dmr/--protect no-such-thing/' "there is no protection 'no-such-thing'"
wrong 's/^machines = gt200-rise/machines = gt200/' "no machine 'gt200'; did you mean 'gt200-rise'"
wrong 's/^targets = vecadd$/targets = vecad/' "bad.ini:21: error: \[campaign strikes\] cannot be run"
wrong 's/^faults = 3000/faults = many/' 'faults many: must be a whole number'
wrong 's/^published = 0.5/published = about half/' "bad.ini:[0-9]*: error: \[claim avf\]: a published number is written"
wrong 's/^tolerance = 0.05/tolerance = small/' "bad.ini:[0-9]*: error: \[claim avf\]: a tolerance is written"
wrong 's/FROM slow$/FROM missing/' 'no such table: missing'
# SQL that would take all time or all memory is refused before the first cell runs.
forever='WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)'
big=': string or blob too big: a value may have 100000 bytes'
wrong 's/SELECT \* FROM slow$/SELECT zeroblob(900000000)/' "bad.ini:[0-9]*: error: \[table all\]$big"
wrong 's/SELECT name, value - 1 AS value FROM slow/SELECT zeroblob(900000000) AS value/' "bad.ini:[0-9]*: error: \[claim time\]$big"
wrong 's/SELECT target AS name, 1.0/SELECT zeroblob(900000000) AS name, 1.0/' "bad.ini:[0-9]*: error: \[measure slow\]$big"
wrong 's/SELECT name, value - 1 AS value FROM slow/SELECT zeroblob(900000000 + value) AS value FROM slow/' "bad.ini:[0-9]*: error: \[claim time\]$big"
wrong "s|SELECT \* FROM slow\$|$forever SELECT count(*) FROM c|" 'bad.ini:[0-9]*: error: \[table all\]: interrupted after 2 s of processor time'
wrong "s|SELECT \* FROM slow\$|$forever SELECT x, hex(zeroblob(49000)) FROM c|" "\[table all\]: 'sql' gives more than 256 MB"
wrong 's/SELECT \* FROM slow/DROP TABLE base/' "'sql' is one SELECT"
wrong 's/kind = heat/kind = pie/' "a chart's kind is"
wrong 's/cycles AS value FROM swept/cycles AS number FROM swept/' "gives no column 'value'"
# Mistakes are found before the first cell runs.
sed 's/^sql = SELECT \* FROM slow/sql = SELECT * FRM slow/' made-up.ini >bad.ini
if "$redoubt" study bad.ini -o unrun -q 2>bad.txt; then fail "wrong SQL passes"; fi
grep -q 'bad.ini:[0-9]*: error: \[table all\]: near' bad.txt || { cat bad.txt; fail "wrong SQL is not named"; }
[ ! -e unrun ] || fail "cells were run before wrong SQL was found"
wrong 's/^options = --protect dmr/options = --protect dmr --size small/' "\[run twice\]: '--size' in 'options': write it as the key 'size'"
for study in $("$redoubt" reproduce | grep -o '^[a-z][^ ]*'); do
  "$redoubt" reproduce "$study" --list >/dev/null || fail "$study is refused"
done
if "$redoubt" study none.ini 2>bad.txt; then fail "a study that is not there"; fi
grep -q 'none.ini' bad.txt || fail "none.ini is not named"
"$redoubt" reproduce | grep -q '^rise  ' || fail "reproduce lists no rise"
if "$redoubt" reproduce rice 2>bad.txt; then fail "reproduce rice"; fi
grep -q "did you mean 'rise'" bad.txt || { cat bad.txt; fail "rice"; }

# All studies: every claim of the papers is in the index. One cell of each study is enough to see that; the rest is left to others.
"$redoubt" reproduce all --quick -o all -q --shard 0/100000 >all.txt || { cat all.txt; fail "reproduce all"; }
grep -q '^Quick form' all.txt || fail "the index does not say that it is quick"
for file in index.html claims.csv claims.md; do [ -s "all/$file" ] || fail "no all/$file"; done
for claim in rise.full.time hints.speedup sheaffer.hit shield.worst flexgrip.avf.sms; do grep -q ",$claim," all/claims.csv || fail "no $claim in the index"; done
"$redoubt" reproduce all --quick -o all --list >list.txt
grep -q '^done .* s  redoubt ' list.txt || fail "reproduce all --list: $(grep '^done' list.txt)"
if "$redoubt" reproduce all --quick -o /usr -q 2>bad.txt; then fail "reproduce all writes into a folder of others"; fi
grep -q 'holds no results of a study' bad.txt || { cat bad.txt; fail "-o /usr"; }

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || exit 0
dom() { # page: what the browser makes of it, in dom.html
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update \
    --disable-sync --disable-dev-shm-usage --user-data-dir="$folder/profile" --enable-logging=stderr --virtual-time-budget=8000 --dump-dom \
    "file://$folder/$1" >dom.html 2>log
  if grep CONSOLE log; then fail "the console of $1 is not silent"; fi
}
dom all/index.html
grep -q 'sheaffer.hit' dom.html || fail "no claims on the index page"
dom one/index.html
[ "$(grep -o 'data-drawn="chart"' dom.html | wc -l)" -eq 4 ] || fail "not four charts"
grep -q 'agrees in part' dom.html || fail "no findings on the page"
dom study-quick/index.html
badges() { grep -o 'class="finding"[^>]*>[^<]*' dom.html | sed 's/.*>//' | sort | uniq -c | tr -s ' '; }
[ "$(badges)" = " 8 not judged" ] || fail "findings on the page of the quick form: $(badges)"
if grep -o ' rows agree<' dom.html; then fail "the page of the quick form judges"; fi
