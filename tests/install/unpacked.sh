# A tarball, unpacked by a user without rights in a bare Debian: . unpacked.sh (after debian.sh), then unpacked ROOT TARBALL PROGRAMS... The programs are
# CUDA programs: gemm13 (cuBLAS) and generation13. What must work anywhere (works.sh), the demo, and faults in a CUDA program.
unpacked() { # ROOT TARBALL PROGRAMS...
  unpacked_root=$1 unpacked_tarball=$2
  shift 2
  unpacked_here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
  debian_add_user "$unpacked_root"
  cp "$unpacked_tarball" "$unpacked_root/home/user/redoubt.tar.gz"
  cp "$unpacked_here/works.sh" "$unpacked_here/../../tools/demo.sh" "$@" "$unpacked_root/home/user/"
  chown -R 1000:1000 "$unpacked_root/home/user"
  cat >"$unpacked_root/home/user/check.sh" <<'INSIDE'
cd /home/user || exit 1
[ "$(id -u)" != 0 ] || exit 1
mkdir "a folder" tmp && export TMPDIR="$HOME/tmp"
tar -C "a folder" -xzf redoubt.tar.gz && mv "a folder"/redoubt-* "a folder/redoubt" || exit 1
. ./works.sh
works "$HOME/a folder/redoubt"
PATH="$HOME/a folder/redoubt/bin:$PATH"
[ -z "$(ldd "a folder/redoubt/bin/redoubt" "a folder/redoubt/lib/redoubt/cudart/"* | grep 'not found')" ] || fail "a library is missing"
mkdir demo && ln -s "$HOME/a folder/redoubt/bin/redoubt" demo/redoubt
sh demo.sh demo/redoubt >demo.txt 2>&1 && grep -q '^\$ redoubt compare' demo.txt && [ -n "$(find demo -name '*.html')" ] || fail "the demo: $(tail -n 3 demo.txt)"
[ "$(redoubt run -q -- ./generation13)" = PASS ] || fail "a CUDA program does not find its library"
redoubt campaign -q --machine fermi-gtx480 --set sm.count=2 --structure rf --window kernel:cublas_sgemm --faults 60 -o cuda.db -- ./gemm13 >cuda.txt 2>&1 ||
  fail "a campaign on a CUDA program: $(tail -n 3 cuda.txt)"
redoubt report -q cuda.db --csv cuda.csv
[ "$(grep -c ',cublas_sgemm,' cuda.csv)" = 60 ] || fail "faults in a CUDA program: $(head -n 3 cuda.csv)"
exit $failed
INSIDE
  debian_as_user "$unpacked_root" sh /home/user/check.sh
}
