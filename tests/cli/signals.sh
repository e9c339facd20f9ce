#!/bin/sh
# SIGTERM and SIGHUP end every command as Ctrl-C does, at once and with all its processes: signals.sh REDOUBT. Of campaigns, which have
# something to lose: tests/campaign/interrupt.sh.
set -eu
redoubt=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
  echo "signals: FAILED: $*"
  exit 1
}
within_a_minute() { # COMMAND...: until it succeeds
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || return 1
    sleep 0.1
  done
}
have_ended() { # those in the file processes
  for process in $(cat processes); do
    case $(ps -o stat= -p "$process" || true) in
    '' | Z*) ;;
    *) return 1 ;;
    esac
  done
}
has_begun() { [ "$(ps -o comm= -p "$1")" = redoubt ]; }

for signal in INT:130 TERM:143 HUP:129; do
  env --default-signal "$redoubt" run matmul --size large --machine fermi-gtx480 >said 2>&1 &
  within_a_minute has_begun $! || fail "run does not begin"
  kill "-${signal%:*}" $!
  code=0
  wait $! 2>/dev/null || code=$?
  [ $code -eq "${signal#*:}" ] || fail "run ended by ${signal%:*}: exit code $code: $(cat said)"

  rm -rf results
  env --default-signal "$redoubt" reproduce flexgrip -o results -j 2 >said 2>&1 &
  within_a_minute pgrep -P $! >processes || fail "reproduce starts no processes: $(cat said)"
  kill "-${signal%:*}" $!
  code=0
  wait $! 2>/dev/null || code=$?
  [ $code -eq "${signal#*:}" ] || fail "reproduce ended by ${signal%:*}: exit code $code: $(cat said)"
  within_a_minute have_ended || fail "${signal%:*}: processes outlive their command"
done
