#!/bin/sh
# Files that commands write: files.sh REDOUBT JOURNAL_MAKER. No output takes the place of an input; what was there stays until the new
# file is whole, whatever happens; devices, pipes and links work.
set -eu
redoubt=$(realpath "$1")
maker=$(realpath "$2")
data=$(realpath "$(dirname "$0")/data")
sass=$(realpath "$(dirname "$0")/../../workloads/g80/vecadd/kernel.sass")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
failed=0
fail() {
  echo "files: FAILED: $*"
  failed=1
}
no_parts() { # WHEN
  # shellcheck disable=SC2010
  if ls -A | grep '^\.redoubt-'; then fail "$1: a part is left"; fi
}
# The command must refuse, and FILE must stay as it is.
refuses() { # FILE PATTERN ARGUMENTS...
  file=$1 pattern=$2
  shift 2
  cp "$file" before
  code=0
  "$redoubt" "$@" 2>said >/dev/null || code=$?
  [ $code -eq 2 ] || fail "redoubt $*: exit code $code"
  [ "$(wc -l <said)" -eq 1 ] || fail "redoubt $*: more than a line: $(cat said)"
  grep -q "$pattern" said || fail "redoubt $*: expected '$pattern', found '$(cat said)'"
  cmp "$file" before || fail "redoubt $*: $file is another"
  no_parts "redoubt $*"
}

# ---- Inputs
"$maker" a.db 50
ln -s a.db link.db
ln a.db hard.db
mkdir tables
ln -s ../a.db tables/lines.csv
read_by='is read by this command: write to another file'
for name in a.db ./a.db "$folder/a.db" link.db hard.db; do
  for option in -o --csv --json; do refuses a.db "^$name: error: $read_by" report a.db $option "$name"; done
done
refuses a.db "$read_by" report link.db -o hard.db
refuses a.db "$read_by" report a.db --csv tables
"$maker" b.db 50 dmr
refuses b.db "$read_by" report a.db b.db -o b.db
refuses a.db "$read_by" export a.db -o a.db
touch a.db-wal
refuses a.db-wal "$read_by" report a.db --json a.db-wal
rm a.db-wal
refuses a.db "$read_by" replay a.db 1 --json=link.db

cp "$data/vecadd.ptx" "$data/two.ini" "$data/three-cells.pattern" .
printf "[machine]\nmodel = functional\n" >>two.ini
cp "$sass" k.sass
ln -s vecadd.ptx v.link
head -c 400 /dev/zero >in.bin
vecadd() { # ARGUMENTS...: those of a run
  refuses "$@" --grid 2 --block 64 --arg 'a:f32[100]=file:in.bin' --arg 'f32[100]' --arg 'c:f32[100]' --arg u32:100
}
vecadd vecadd.ptx "$read_by" run vecadd.ptx --json=vecadd.ptx
vecadd vecadd.ptx "$read_by" run vecadd.ptx --csv=v.link
vecadd vecadd.ptx "$read_by" run v.link --dump c=vecadd.ptx
vecadd vecadd.ptx "$read_by" run vecadd.ptx --machine fermi-gtx480 --trace vecadd.ptx
vecadd in.bin "$read_by" run vecadd.ptx --dump c=in.bin
vecadd two.ini "$read_by" run vecadd.ptx --machine two.ini --json=two.ini
vecadd vecadd.ptx "$read_by" campaign vecadd.ptx --faults 10 -o vecadd.ptx
refuses three-cells.pattern "$read_by" run vecadd --size tiny --machine fermi-gtx480 --json=three-cells.pattern \
  --fault 'pattern(three-cells.pattern):rf[sm=0,reg=1,lane=1,bit=1]@700'
refuses k.sass "$read_by" asm k.sass -o k.sass
"$redoubt" asm -q k.sass -o k.hex
refuses k.hex "$read_by" disasm k.hex --output=k.hex
refuses k.sass "$read_by" run k.sass --machine flexgrip --gmem-out k.sass
echo 0 >words
refuses words "$read_by" run k.sass --machine flexgrip --gmem-in words --gmem-out ./words
refuses in.bin "$read_by" run --json=in.bin -- ./app in.bin

# The name of a workload or of a machine is no file.
"$redoubt" run -q vecadd --size tiny --json=vecadd --csv=functional >/dev/null || fail "a workload is no file"
"$redoubt" run -q vecadd --size tiny --json=vecadd --csv=functional >/dev/null || fail "a workload is no file that is there"

# The same file twice, there or not yet.
refuses a.db 'is written twice by this command' run --machine fermi-gtx480 --fault 'flip:rf[sm=0]@7' --output x --json=x -- ./app x
refuses a.db 'is written twice by this command' report a.db --csv x --json ./x
refuses a.db 'is written twice by this command' report a.db -o new --json "$folder/new"
[ ! -e x ] && [ ! -e new ] || fail "something was written"
"$redoubt" report -q a.db --csv /dev/null --json /dev/null -o /dev/null || fail "/dev/null thrice"

# Shards.
shard() { # I
  "$redoubt" campaign vecadd -q --size tiny --machine fermi-gtx480 --set sm.count=1 --faults 20 --shard "$1/2" -o "s$1.db" >/dev/null 2>&1
}
shard 0
shard 1
refuses s0.db "$read_by" merge s0.db s0.db s1.db
refuses s1.db "$read_by" merge ./s1.db s0.db s1.db
refuses s0.db 'not all shards\|shard' merge all.db s0.db
[ ! -e all.db ] || fail "a journal is left of a merge that failed"
"$redoubt" merge all.db s0.db s1.db 2>said || fail "merge: $(cat said)"
[ "$(cat said)" = "merged 2 shards into all.db" ] || fail "merge: $(cat said)"
"$redoubt" merge -q again.db s0.db s1.db 2>said || fail "merge: $(cat said)"
[ ! -s said ] || fail "merge --quiet: $(cat said)"
"$redoubt" report all.db >all.txt && "$redoubt" report again.db >again.txt && cmp all.txt again.txt
no_parts merge

# ---- What is written, and what is said
"$redoubt" report a.db -o page.html 2>said
[ "$(cat said)" = "wrote page.html" ] || fail "report -o: $(cat said)"
"$redoubt" report a.db --csv a.csv --json a.json 2>said
[ "$(tr '\n' ' ' <said)" = "wrote a.csv wrote a.json " ] || fail "report --csv --json: $(cat said)"
rm tables/lines.csv
"$redoubt" report a.db --csv tables 2>said
grep -qx 'wrote [0-9]* tables into tables' said || fail "report --csv FOLDER: $(cat said)"
"$redoubt" report a.db --quiet -o page.html --csv a.csv --json a.json >said 2>&1
[ ! -s said ] || fail "report --quiet: $(cat said)"
"$redoubt" export a.db -o exported.csv 2>said
[ "$(cat said)" = "wrote exported.csv" ] && cmp exported.csv a.csv || fail "export: $(cat said)"
"$redoubt" export a.db 2>said | cmp - a.csv || fail "export to a pipe: $(cat said)"
"$redoubt" asm k.sass -o k.hex 2>said
[ "$(cat said)" = "wrote k.hex" ] || fail "asm: $(cat said)"
"$redoubt" run vecadd --size tiny --machine fermi-gtx480 --trace t.json --json=r.json 2>said >table
[ "$(sort said | tr '\n' ' ')" = "wrote r.json wrote t.json " ] || fail "run: $(cat said)"
"$redoubt" run vecadd --size tiny --machine fermi-gtx480 --trace f.json --fault 'flip:rf[sm=0,reg=1,lane=1,bit=1]@700' 2>said >table
[ "$(cat said)" = "wrote f.json" ] && grep -q 'flip:rf' f.json || fail "run --fault --trace: $(cat said)"
refuses f.json 'no fault model' run vecadd --size tiny --machine fermi-gtx480 --trace f.json --fault 'flop:rf[sm=0]@7'
refuses f.json 'cannot be written' run vecadd --size tiny --machine fermi-gtx480 --trace /dev/full --fault 'flip:rf[sm=0,reg=1,lane=1,bit=1]@700'
tail -c 3 t.json | grep -q '[]}]' || fail "the trace has no end"

# Links stay links, permissions stay.
touch real.csv
chmod 640 real.csv
ln -s real.csv to.csv
ln -s missing.csv dangling.csv
"$redoubt" report a.db -q --csv to.csv && "$redoubt" report a.db -q --csv dangling.csv
[ -L to.csv ] && cmp real.csv a.csv || fail "a link was not followed"
[ -L dangling.csv ] && cmp missing.csv a.csv || fail "a link to nothing was not followed"
[ "$(stat -c %a real.csv)" = 640 ] || fail "the permissions are others: $(stat -c %a real.csv)"
name=$(printf '%0250d' 0)
"$redoubt" report a.db -q --csv "$name" && cmp "$name" a.csv || fail "a long name"

# Descriptors, pipes and devices are written as they are.
"$redoubt" report a.db --csv /dev/stdout >out.csv 2>said && cmp out.csv a.csv || fail "/dev/stdout"
{ echo before; "$redoubt" report a.db --csv /dev/stdout; echo after; } >out.csv
[ "$(head -1 out.csv)$(tail -1 out.csv)" = beforeafter ] || fail "/dev/stdout in the middle of a file: $(head -1 out.csv) $(tail -1 out.csv)"
"$redoubt" report a.db --csv /dev/fd/3 3>out.csv && cmp out.csv a.csv || fail "/dev/fd/3"
"$redoubt" report a.db --csv /proc/self/fd/1 | cmp - a.csv || fail "a pipe"
mkfifo fifo
cat fifo >out.csv &
"$redoubt" report a.db --csv fifo
wait
[ -p fifo ] && cmp out.csv a.csv || fail "a named pipe"
[ ! -s said ] || fail "says that it wrote a descriptor: $(cat said)"

# ---- Failures leave what was there
refuses a.csv 'page.html/x: error: cannot be written: Not a directory' report a.db -o page.html/x
refuses a.csv 'tables: error: cannot be written: Is a directory' report a.db -o tables
refuses a.csv 'cannot be written: No space left on device' run vecadd --size tiny --json=/dev/full
refuses a.csv 'cannot be written: No space left on device' run vecadd --size tiny --dump c=/dev/full
refuses a.csv 'cannot be written: No space left on device' asm k.sass -o /dev/full
cp a.db bad.db
dd if=/dev/urandom of=bad.db bs=1024 seek=8 count=400 conv=notrunc 2>/dev/null
refuses a.csv 'damaged\|not a journal' report bad.db --csv a.csv
"$maker" many.db 20000
cp a.csv before
code=0
(ulimit -f 100 && "$redoubt" report many.db --csv a.csv) >/dev/null 2>said || code=$?
[ $code -eq 2 ] || fail "a file that is too large: exit code $code"
[ "$(cat said)" = "a.csv: error: cannot be written: File too large" ] || fail "a file that is too large: $(cat said)"
cmp a.csv before || fail "a file that is too large"
no_parts "a file that is too large"

# A signal ends the command: what was begun is removed. The trace of a long run is being written all the time.
stopped_by() { # SIGNAL CODE
  echo old >long.json
  env --default-signal "$redoubt" run matmul --size large --machine fermi-gtx480 --trace long.json >said 2>&1 &
  tries=0
  until find . -name '.redoubt-*-long.json' -size +0 | grep -q .; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { fail "no part is written: $(cat said)"; break; }
    sleep 0.1
  done
  kill "-$1" $!
  code=0
  wait $! 2>/dev/null || code=$?
  [ $code -eq "$2" ] || fail "$1: exit code $code"
  [ "$(cat long.json)" = old ] || fail "$1: the old file is gone"
  no_parts "$1"
}
stopped_by INT 130
stopped_by TERM 143
stopped_by HUP 129

# replay finds the program of a PTX file by its hash: here, where the campaign was started, beside the journal; else it says where it looked.
mkdir -p began there elsewhere
cp "$data"/vecadd.ptx began/k.ptx
(cd began && "$redoubt" campaign k.ptx --grid 2 --block 64 --arg a:f32[100]=ramp --arg b:f32[100]=ones --arg c:f32[100] --arg u32:100 \
  --machine fermi-gtx480 --set sm.count=2 --faults 20 -q -o k.db >/dev/null)
replays() { # WHAT SAYS: from another folder
  code=0
  (cd elsewhere && "$redoubt" replay ../there/k.db 3 --json=out.json) >said 2>&1 || code=$?
  [ $code -eq "$3" ] || fail "replay, $1: exit code $code: $(cat said)"
  grep -q "$2" said || fail "replay, $1: $(cat said)"
}
mv began/k.db there/k.db
replays "where the campaign was started" "^the program is not here: .*/began/k.ptx is taken" 0
[ -s elsewhere/out.json ] && [ ! -e began/out.json ] || fail "replay: the JSON is not where it was wanted"
sed 's/add\(.*\)f32/sub\1f32/' began/k.ptx >elsewhere/k.ptx
replays "another file of that name is here" "^the program is not here: .*/began/k.ptx is taken" 0
rm elsewhere/k.ptx
mv began/k.ptx there/k.ptx
replays "beside the journal" "^the program is not here: ../there/k.ptx is taken" 0
mv there/k.ptx gone.ptx
replays "nowhere" "the campaign's program 'k.ptx' is not found; looked for k.ptx, .*/began/k.ptx, ../there/k.ptx" 2
cp gone.ptx elsewhere/k.ptx
replays "here" "^the journal says the same" 0
exit $failed
