#!/bin/sh
# Rules that are scripts: run.sh BUILD_FOLDER. Each check prints what breaks it; all are run.
set -u
cd "$(dirname "$0")/../.."
build=$1
failed=0
check() {
  name=$1
  shift
  if output=$("$@" 2>&1); then
    echo "gate: $name: ok${output:+ ($output)}"
  else
    printf 'gate: %s: FAILED\n%s\n' "$name" "$output"
    failed=1
  fi
}
check format tools/gate/format.sh
check layers tools/gate/layers.sh
check schemes tools/gate/schemes.sh
check sizes tools/gate/sizes.sh
check globals tools/gate/globals.sh "$build"
check calls tools/gate/calls.sh "$build"
check headers tools/gate/headers.sh
check docs tools/gate/docs.sh "$build"
check evidence tools/gate/evidence.sh
exit $failed
