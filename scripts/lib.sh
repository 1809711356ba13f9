# Words that the scripts share: where the tree is, how they speak, and how they become root. Sourced, never run.

SLUICE_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly SLUICE_ROOT

say() { printf '%s\n' "$*" >&2; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Runs a command as root: as it is, or through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root for '$1': run it as root, or install sudo"
  fi
}

# The folder of a CUDA toolkit that is new enough (13 or later), or nothing.
cuda_toolkit() {
  local nvcc home
  for home in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda; do
    nvcc=$home/bin/nvcc
    [ -n "$home" ] && [ -x "$nvcc" ] && new_enough_nvcc "$nvcc" && printf '%s\n' "$home" && return
  done
  nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc") && new_enough_nvcc "$nvcc" && dirname "$(dirname "$nvcc")"
  return 0
}

new_enough_nvcc() {
  local release
  release=$("$1" --version 2>/dev/null | sed -n 's/.*release \([0-9]*\)\..*/\1/p')
  [ "${release:-0}" -ge 13 ]
}

# True where a GPU answers.
has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }
