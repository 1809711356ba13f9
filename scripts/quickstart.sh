#!/usr/bin/env bash
# Sluice's main job on real input: how far is every Debian package from libc6? Sets up, builds, and runs by itself.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$SLUICE_ROOT"

work=build/quickstart
drives=("file:$work/drive0.img" "file:$work/drive1.img")

choose_preset() {
  local toolkit
  toolkit=$(cuda_toolkit)
  preset=host
  if [ -n "$toolkit" ] && has_gpu; then
    preset=cuda
    export CUDACXX=$toolkit/bin/nvcc
  fi
}

build_tool() {
  say "quickstart: building build/$preset/bin/sluice"
  cmake --preset "$preset" >"$work/build.log" &&
    cmake --build --preset "$preset" --target sluice --parallel "$(nproc)" >>"$work/build.log" 2>&1 ||
    { tail -n 20 "$work/build.log" >&2; die "the build failed: the log is $work/build.log"; }
}

# The whole archive where it can be had; else the graph is of the packages that this machine knows of.
fetch_package_lists() {
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null && return
  say "quickstart: fetching apt's package lists"
  as_root apt-get -q update >"$work/apt.log" 2>&1 || say "quickstart: apt-get update failed ($work/apt.log): going on without"
}

run() {
  say "\$ sluice $*"
  "build/$preset/bin/sluice" "$@"
}

main() {
  [ $# -eq 0 ] || die "takes no arguments"
  scripts/setup.sh
  rm -rf "$work"
  mkdir -p "$work"
  choose_preset
  build_tool
  local began=$SECONDS
  fetch_package_lists
  say "quickstart: making a graph of this machine's Debian packages"
  python3 scripts/debian_graph.py "$work"
  run graph import "$work/packages.el" --names "$work/packages.names" --to "${drives[0]}" --to "${drives[1]}" --layout stripe
  run graph bfs --graph "${drives[0]}" --graph "${drives[1]}" --source-name libc6 --verify
  say "quickstart: done, $((SECONDS - began)) s after the build"
}

main "$@"
