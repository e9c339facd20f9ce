#!/bin/sh
# Studies as a user meets them: study.sh REDOUBT. Cells are run once, whatever stops them; results do not depend on how they were run;
# claims are judged; wrong files get one line with the place; the page draws in Chromium.
set -eu
redoubt=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
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
[ "$(ls one/cells | wc -l)" -eq 7 ] || fail "not 7 cells"
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

# Shards into one folder, then all of it; two processes.
"$redoubt" study made-up.ini -o two -q --shard 1/2
[ "$(ls two/cells | wc -l)" -eq 3 ] || fail "shard 1/2 has $(ls two/cells | wc -l) cells"
"$redoubt" study made-up.ini -o two --list | grep -q '^7 cells, 3 of them done; .* with [0-9]* processes$' || fail "--list"
"$redoubt" study made-up.ini -o two -q --shard 0/2 >two.txt # the last shard shows all
cmp one.txt two.txt
for file in study.json index.html all.csv bars.csv; do cmp "one/$file" "two/$file"; done

# Killed in the middle, it goes on.
"$redoubt" study made-up.ini -o three -q -j1 >/dev/null 2>&1 &
pid=$!
while [ ! -e three/cells ] || [ "$(ls three/cells | wc -l)" -lt 3 ]; do kill -0 $pid 2>/dev/null || break; done
kill -9 $pid 2>/dev/null || true
wait $pid 2>/dev/null || true
"$redoubt" study made-up.ini -o three -q >three.txt
cmp one.txt three.txt

# The quick form says so, and is kept apart.
"$redoubt" study made-up.ini --quick -q >quick.txt
grep -q '^Quick form' quick.txt || fail "--quick is not said"
[ -e study-quick/index.html ] || fail "no folder study-quick"

# A cell that fails is named with its command and what it said.
sed 's/--protect dmr/--max-instructions 100/' made-up.ini >bad.ini
if "$redoubt" study bad.ini -o bad -q 2>bad.txt; then fail "a wrong cell passes"; fi
grep -q "\[run twice\] failed: redoubt run vecadd .*--max-instructions 100" bad.txt || { cat bad.txt; fail "the failed cell"; }
grep -q 'goes on where it stopped' bad.txt || fail "no word of how to go on"

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
