#!/usr/bin/env bash
# Installs what a build of Sluice needs on Debian 12 or Ubuntu 24.04. A second run finds all there and does nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

packages=(
  ca-certificates cmake ninja-build g++ ccache pkg-config python3
  clang clang-tidy clang-format llvm
  libcli11-dev libfmt-dev nlohmann-json3-dev liburing-dev libboost-context-dev
  libgtest-dev libgmock-dev libbenchmark-dev spin
)

missing_packages() {
  local there
  there=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null | sed -n 's/ installed$//p' || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(printf '%s\n' "$there" | sort -u)
}

install_packages() {
  local missing log
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  say "setup: installing ${missing[*]}"
  log=$(mktemp)
  if ! { as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 update &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
      install --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "apt-get could not install the packages: $(grep -m1 '^E: ' "$log" || echo "the log is $log")"
  fi
  rm -f "$log"
}

# clang's sanitizer and fuzzer runtimes lie in a package that carries clang's version in its name.
install_clang_runtime() {
  local major
  major=$(clang -dumpversion | cut -d. -f1)
  install_packages "libclang-rt-$major-dev"
}

check_cmake() {
  local version
  version=$(cmake --version | sed -n '1s/.* //p')
  printf '3.25\n%s\n' "$version" | sort -V -C || die "cmake is $version: Sluice needs 3.25 or later (Debian 12, Ubuntu 24.04)"
}

# Unpacks the pinned libcu++ wheel to .deps/cccl. pip refuses a file whose hash is not the one in cccl.txt.
fetch_libcudacxx() {
  local deps=$SLUICE_ROOT/.deps/cccl pin=$SLUICE_ROOT/scripts/cccl.txt work
  cmp -s "$pin" "$deps/pin.txt" && return
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
  say "setup: fetching the libcu++ headers ($(sed -n 's/^\(nvidia[^ ]*\).*/\1/p' "$pin"))"
  mkdir -p "$SLUICE_ROOT/.deps"
  work=$(mktemp -d "$SLUICE_ROOT/.deps/XXXXXX")
  trap 'rm -rf "$work"' EXIT
  python3 -m pip download -q --no-deps --only-binary=:all: --platform manylinux2014_x86_64 --require-hashes \
    -d "$work" -r "$pin" >&2 || die "the libcu++ wheel could not be fetched: install a CUDA toolkit (13 or later), or allow pip its index"
  python3 -m zipfile -e "$work"/*.whl "$work/wheel"
  rm -rf "$deps"
  mkdir "$deps"
  mv "$work"/wheel/nvidia/*/include/cccl "$deps/include"
  cp "$pin" "$deps/pin.txt"
  rm -rf "$work"
  trap - EXIT
}

main() {
  [ $# -eq 0 ] || die "takes no arguments"
  command -v apt-get >/dev/null || die "knows only apt-get: on this system install by hand what its package list names"
  install_packages "${packages[@]}"
  install_clang_runtime
  check_cmake
  local toolkit
  toolkit=$(cuda_toolkit)
  if [ -n "$toolkit" ] && [ -e "$toolkit/include/cccl/cuda/atomic" ]; then
    say "setup: ready (CUDA toolkit in $toolkit)"
  else
    fetch_libcudacxx
    say "setup: ready (no CUDA toolkit of version 13 or later: CPU backend only)"
  fi
}

main "$@"
