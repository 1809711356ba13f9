#!/usr/bin/env bash
# The bars of a machine without a GPU, measured and written to OUT.json. Builds the host preset's tool where it is not
# there; asks for fio. Leaves the machine as it is: reads go past the page cache, nothing is dropped.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$SLUICE_ROOT"

main() {
  [ $# -eq 1 ] || die "usage: scripts/bench-host.sh OUT.json"
  command -v fio >/dev/null || die "needs fio to compare with: apt-get install fio"
  local out
  out=$(realpath "$1")
  say "bench-host: building build/host/bin/sluice"
  { cmake --preset host && cmake --build --preset host --target sluice --parallel "$(nproc)"; } >&2
  python3 scripts/bench_host.py build/host/bin/sluice "$out"
}

main "$@"
