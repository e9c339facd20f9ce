#!/bin/sh
# The report page in Chromium: page.sh REDOUBT JOURNAL_MAKER [unread]. Charts are drawn, search, filters, sorting, paging and copying
# work by events, it fits a desktop and a phone, prints, and the console stays silent; also for no faults, and for odd texts.
# unread: pages are written, and not looked at (sanitizers see the program, not the browser).
set -eu
redoubt=$(realpath "$1")
maker=$(realpath "$2")
unread=${3:-}
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser$unread" ] || { echo "page: skipped, no Chromium"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

fail() {
  echo "page: FAILED: $*"
  failed=1
}

browse() { # URL-FILE OPTIONS...: to $folder/out; what the console says is a failure. A browser that hangs on a busy machine has a second try.
  file=$1
  shift
  for try in 1 2; do
    rm -rf "$folder/profile"
    code=0
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
      --disable-component-update --disable-sync --disable-dev-shm-usage --user-data-dir="$folder/profile" --enable-logging=stderr \
      --virtual-time-budget=8000 --window-size=1280,900 "$@" "file://$file" >"$folder/out" 2>"$folder/log" || code=$?
    [ $code -eq 124 ] && [ $try -eq 1 ] || break
  done
  [ $code -eq 0 ] || fail "$file: the browser ended with $code"
  grep 'CONSOLE' "$folder/log" && fail "$file: the console is not silent"
  return 0
}

expect() { # KEY VALUE: the value is a pattern of grep
  grep -q "^FOUND $1=$2\$" "$folder/out" || fail "$name: expected $1=$2, found '$(grep "^FOUND $1=" "$folder/out" || echo nothing)'"
}

page() { # NAME FAULTS [odd]: makes journal and page, runs page-test.js in it
  name=$1
  shift
  [ -e "$folder/$name.db" ] || "$maker" "$folder/$name.db" "$@"
  "$redoubt" report -q "$folder/$name.db" -o "$folder/$name.html" 2>/dev/null || [ $? -eq 5 ] # unfinished
  { sed '/^<\/body>$/,$d' "$folder/$name.html"; echo '<script>'; cat "$here/page-test.js"; echo '</script></body></html>'; } >"$folder/$name-test.html"
  browse "$folder/$name-test.html" --dump-dom
  expect ready yes
  expect page.wide true
}

if [ -n "$unread" ]; then
  browse() { :; }
  expect() { :; }
  fail() { :; }
  : >"$folder/out"
  : >"$folder/many.pdf"
fi

# The numbers below follow from journal_maker's draws; csv says the same without the page.
page many 3000
sdc=$("$redoubt" report -q "$folder/many.db" --csv "$folder/many.csv" && grep -c ',sdc,' "$folder/many.csv")
hits=$(grep -c ',second_kernel,.*bit=1\]' "$folder/many.csv")
for chart in fit avf outcomes time breakdown; do
  expect chart.$chart chart
  expect marks.$chart '[1-9][0-9]*'
  expect fits.$chart true
done
expect title 'made-up on fermi-gtx480'
expect sentence true
expect cards 7 # SDC, DUE and AVF; SDC with other orders of additions; two FITs; settled early
expect by.pattern 'block+column+row+scattered+single'
expect by.bit 32
expect saved 2
expect source source
expect source.hot true
expect unfinished ''
expect table.all '3,000 faults fit\.'
expect table.rows 50
expect filter.group 'sdc+sdc-critical+sdc-tolerable'
expect filter.count "$sdc faults fit\\."
expect filter.structure true
expect filter.reset '3,000 faults fit\.'
expect search.hits true
expect search.count "$hits faults fit\\."
expect sort.up 0,1,2
expect sort.down 2999,2998,2997
expect sort.aria descending
expect page.second 50,51,52
expect page.label 'Page 2 of 60'
expect page.first 0,1,2
expect replay "redoubt replay $folder/many.db 0"
expect copied "\\(Copied\\|redoubt replay $folder/many.db 0\\)" # without a hand at the mouse the clipboard may be refused: then it is shown

# The same page as wide as a phone. Headless windows are never that narrow; a frame is.
name=phone
cat >"$folder/phone.html" <<END
<!doctype html><meta charset="utf-8"><script>addEventListener("message", (event) => {
  const list = document.createElement("pre");
  list.textContent = event.data;
  document.body.append(list);
});</script><body><iframe src="many-test.html" style="width:375px;height:800px;border:0"></iframe></body>
END
browse "$folder/phone.html" --dump-dom
expect page.wide true
for chart in fit avf outcomes time breakdown; do expect fits.$chart true; done
expect sort.down 2999,2998,2997

page none 0
for chart in fit avf outcomes time breakdown; do expect chart.$chart empty; done
expect table.all 'No faults yet\.'

page one 1
expect chart.avf chart
expect table.all '1 fault fits\.'

# Unfinished: counts, and no shares.
page part 5000 none 1200 || true
for chart in fit avf outcomes time breakdown; do expect chart.$chart empty; done
expect unfinished 'unfinished: 1200 of 5000 faults, biased.*'
expect table.all '1,200 faults fit\.'

page odd 300 odd
expect title '&lt;/script&gt;&lt;b&gt;odd&lt;/b&gt; on fermi-gtx480'
expect chart.outcomes chart
grep -q 'alert(1)&lt;/script&gt; "quoted"' "$folder/out" || fail "odd: the note is not shown as it is"

name=print
browse "$folder/many.html" --print-to-pdf="$folder/many.pdf"
[ "$(head -c 5 "$folder/many.pdf")" = '%PDF-' ] || fail "it does not print"

# Several journals: a chart for each measure, a bar for each column.
name=matrix
"$maker" "$folder/other.db" 2000 secded:rf
"$redoubt" report -q "$folder/many.db" "$folder/other.db" -o "$folder/matrix.html"
browse "$folder/matrix.html" --dump-dom
grep -q 'data-ready="yes"' "$folder/out" || fail "the matrix is not drawn"
[ "$(grep -o 'data-drawn="chart"' "$folder/out" | wc -l)" -eq 3 ] || fail "the matrix has $(grep -o 'data-drawn="chart"' "$folder/out" | wc -l) charts"

# Figures for a safety case.
name=fmeda
"$redoubt" fmeda -q "$folder/many.db" "$folder/other.db" --page "$folder/fmeda.html"
browse "$folder/fmeda.html" --dump-dom
grep -q 'data-ready="yes"' "$folder/out" || fail "the FMEDA is not drawn"
grep -q 'FMEDA: made-up on fermi-gtx480' "$folder/out" || fail "the FMEDA has no title"
for text in SPFM PMHF 'wrong output' 'secded:rf' 'no mechanism' withheld blocking 'No campaign has permanent faults'; do grep -q "$text" "$folder/out" || fail "the FMEDA does not show '$text'"; done

# A program that was built without Vega: the page says what is missing, and all else is there.
name=no-vega
awk '/<script>/ && !cut { sub(/<script>.*/, "<script>"); cut = 1; print; if (!/<\/script>/) skip = 1; next }
  skip && /<\/script>/ { sub(/.*<\/script>/, "</script>"); skip = 0 } !skip' "$folder/many-test.html" >"$folder/no-vega.html"
[ "$(wc -c <"$folder/no-vega.html")" -lt "$(($(wc -c <"$folder/many-test.html") - 100000))" ] || fail "Vega is still in no-vega.html"
browse "$folder/no-vega.html" --dump-dom
expect ready yes
for chart in fit avf outcomes time breakdown; do expect chart.$chart empty; done
expect table.all '3,000 faults fit\.'
[ "$(grep -c 'built without Vega.*libjs-vega' "$folder/out")" -ge 5 ] || fail "the page does not say that Vega is missing"

# Nothing is fetched from elsewhere.
sed '/<script>/,/<\/script>/d' "$folder/many.html" | grep -E '(src|href)="?(https?:)?//' && fail "the page refers to the network"

# A real campaign.
name=real
"$redoubt" campaign scalarprod --size tiny --machine fermi-gtx480 --structure rf,unit.sp,unit.agu --faults 300 -o "$folder/real.db" >/dev/null 2>&1
page real
expect title 'scalarprod on fermi-gtx480'
expect cards 7 # two FITs, of rf alone, and that units are in none
grep -q 'struck, and in no FIT here: unit.sp, unit.agu' "$folder/out" || fail "the page does not say which structures have no rate"
expect source.rows '[1-9][0-9]*'
expect source.all '[1-9][0-9]*'
expect table.all '300 faults fit\.'
exit $failed
