#!/bin/sh
# Only src/cli prints, exits or looks at the world: calls.sh BUILD_FOLDER
# Simulations of a campaign are processes of their own, which end in settle/simulate.c, settle/trial.c, campaign/order.c, explain/explain.c and app/{app,process,fork}.c.
found=$(for library in "$1"/lib*.a; do
  case $library in */libcli.a) continue ;; esac
  nm -A --undefined-only "$library" 2>/dev/null |
    grep -E ' U (exit|_exit|abort|printf|__printf_chk|fprintf|__fprintf_chk|vprintf|puts|putchar|perror|getenv|secure_getenv|system|time|rand|srand|random)(@.*)?$' |
    grep -v '\(campaign\.a:order\|settle\.a:\(simulate\|trial\)\|explain\.a:explain\|app\.a:\(app\|process\|fork\)\)\.c\.o: *U _exit$'
done)
[ -z "$found" ] || { echo "$found"; exit 1; }
# One place starts processes. The library inside a CUDA program forks that program itself, between two of its instructions: app/fork.c.
found=$(nm -A --undefined-only "$1"/lib*.a 2>/dev/null | grep -E ' U (fork|vfork|posix_spawnp?|popen)(@.*)?$' |
  grep -v '\(base\.a:process\|app\.a:fork\)\.c\.o:')
[ -z "$found" ] || { echo "$found"; exit 1; }
