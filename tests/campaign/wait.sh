# For tests that wait for other processes: . "$(dirname "$0")/wait.sh"
within_a_minute() { # COMMAND...: until it succeeds
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || return 1
    sleep 0.1
  done
}
