#!/usr/bin/env bash
# The bars of a machine with a GPU, measured and written to OUT.json. Takes build/cuda as it is where its tool is there (it may
# have been built elsewhere), else builds it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

main() {
  if [ $# -lt 1 ]; then
    echo "usage: scripts/bench-gpu.sh OUT.json [PART...]" >&2
    exit 2
  fi
  local out
  out=$(realpath "$1")
  if [ ! -x build/cuda/bin/sluice ]; then
    echo "bench-gpu: building build/cuda/bin/sluice" >&2
    { cmake --preset cuda && cmake --build --preset cuda --target sluice --parallel "$(nproc)"; } >&2
  fi
  shift
  exec python3 scripts/bench_gpu.py build/cuda/bin/sluice "$out" "$@"
}

main "$@"
