#!/bin/bash
# Manual pages and completions: completion.sh REDOUBT. Every option of every command is in its page, troff takes the pages without a
# warning, and bash, zsh and fish complete commands, options and values. A shell that is not installed is left out.
set -u
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
fail() {
  echo "completion: FAILED: $*"
  failed=1
}

"$redoubt" manual --folder "$folder/pages" || fail "manual --folder"
commands=$("$redoubt" help | sed -n 's/^  redoubt \([a-z]*\) .*/\1/p' | grep -v '^help$' | sort -u)
commands=$(for command in $commands; do [ -e "$folder/pages/redoubt-$command.1" ] && echo "$command" || echo "completion: no page of $command" >&2; done)
[ "$(echo "$commands" | wc -w)" -ge 13 ] || fail "pages of these commands alone: $commands"

for command in $commands; do
  sed 's/\\-/-/g; s/\\f[BIR]//g' "$folder/pages/redoubt-$command.1" >"$folder/plain"
  for option in $("$redoubt" "$command" --help | grep -o '^  \(-., \)\?--[a-z-]*' | grep -o -- '--.*'); do
    grep -q -- "$option" "$folder/plain" || fail "redoubt-$command.1 lacks $option"
  done
  cmp -s <("$redoubt" manual "$command") "$folder/pages/redoubt-$command.1" || fail "manual $command is not the file of --folder"
done
if command -v groff >/dev/null; then
  for page in "$folder"/pages/*.1; do
    said=$(groff -man -ww -z -Tutf8 "$page" 2>&1)
    [ -z "$said" ] || fail "${page##*/}: $said"
  done
  grep -q "redoubt.-campaign" "$folder/pages/redoubt.1" || fail "redoubt.1 does not lead to redoubt-campaign"
fi

# ---- bash ----
# shellcheck source=/dev/null
. "$folder/pages/redoubt.bash"
bash_case() { # EXPECTED WORDS...: the last is being typed
  local expected=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _redoubt 2>/dev/null
  [ "${COMPREPLY[*]}" = "$expected" ] || fail "bash: '$*' gives '${COMPREPLY[*]}', not '$expected'"
}
cd "$folder" || exit 1
touch 'my gpu.ini' fermi-mine.ini a.db
bash_case 'campaign' redoubt cam
bash_case 'report reproduce replay' redoubt re
bash_case '--machine' redoubt run --mach
bash_case '--machine' redoubt campaign matmul --mach
bash_case 'fermi-gtx480 fermi-mine.ini' redoubt run --machine fermi
bash_case 'fermi-gtx480' redoubt list structures --machine = fermi-g
bash_case 'my gpu.ini' redoubt run --machine my
bash_case 'rf,unit.sp' redoubt campaign --structure rf,unit.sp
bash_case 'matmul' redoubt run matm
bash_case '@hints' redoubt run @hi
bash_case 'structures' redoubt list str
bash_case 'a.db' redoubt report a
bash_case 'a.db' redoubt run -- ./app a
bash_case '' redoubt campaign --faults 1
bash_case 'rise' redoubt reproduce ri
bash_case 'bash' redoubt manual --completion b
bash_case 'compare' redoubt help comp

# ---- fish ----
if command -v fish >/dev/null; then
  fish_case() { # EXPECTED LINE
    local found
    found=$(HOME=$folder fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$folder/pages/redoubt.fish" "$2" 2>&1 | cut -f 1 | sort | tr '\n' ' ')
    [ "${found% }" = "$1" ] || fail "fish: '$2' gives '${found% }', not '$1'"
  }
  fish_case 'campaign' 'redoubt cam'
  fish_case '--machine' 'redoubt campaign matmul --mach'
  fish_case 'fermi-gtx480 fermi-mine.ini' 'redoubt run --machine fermi'
  fish_case 'rf,unit.sp' 'redoubt campaign --structure rf,unit.sp'
  fish_case 'structures' 'redoubt list str'
  fish_case 'bash' 'redoubt manual --completion b'
fi

# ---- zsh: needs a terminal of its own ----
if command -v zsh >/dev/null; then
  cat >"$folder/in-zsh" <<'END'
zmodload zsh/zpty
zpty shell "cd $1; exec zsh -f -i"
zpty -w shell "PS1='> '; unsetopt zle_bracketed_paste; autoload -U compinit && compinit -u -D; . $1/pages/_redoubt; echo rea''dy"
zpty -r shell line '*ready*'
for ((i = 2; i < $#; i += 2)); do
  zpty -w -n shell "${argv[i]}"$'\t'
  zpty -r shell line "*${argv[i + 1]}*"
  zpty -w -n shell $'\C-u'
done
echo "all completed"
END
  said=$(HOME=$folder timeout 30 zsh -f "$folder/in-zsh" "$folder" 'redoubt camp' 'campaign' 'redoubt run --mach' '--machine' \
    'redoubt run --machine fermi-g' 'fermi-gtx480' 'redoubt campaign --structure rf,unit.sf' 'unit.sfu' 'redoubt list struct' 'structures' \
    'redoubt run matm' 'matmul' 2>&1)
  [ "$said" = "all completed" ] || fail "zsh: $said"
fi
exit $failed
