#!/usr/bin/env bash
# Builds and runs every test, stage by stage, within a time limit. `scripts/test.sh host asan` runs only these two.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$SLUICE_ROOT"

# All stages, in the order in which they find faults soonest.
stages=(format rooms host schedules asan tsan host-clang fuzz tidy cuda)
# The whole run's limit. A test may take `test_seconds`.
limit_minutes=${SLUICE_TEST_MINUTES:-55}
test_seconds=300
jobs=$(nproc)

# The project's own files under the given folders (those that exist) whose names end so: `sources 'cc|cu' src tools`.
sources() {
  local folder ends=$1
  for folder in "${@:2}"; do
    [ ! -d "$folder" ] || find "$folder" -type f -regextype posix-extended -regex ".*\.($ends)"
  done
}

# Style tools say different things from version to version: the tree is held to the one of Debian 12.
is_version_14() { "$1" --version | grep -q 'version 14\.' || { say "the check is made with $1 14"; return 1; }; }

build() { cmake --preset "$1" && cmake --build --preset "$1" --parallel "$jobs"; }

run_tests() { ctest --preset "$1" --parallel "$jobs" --timeout "$test_seconds" "${@:2}"; }

# Each stage is a function of its own name. One that cannot run here says why and returns `cannot`.
cannot=77

stage_format() {
  is_version_14 clang-format || return $cannot
  sources 'h|cuh|cc|cu' include src tests benchmarks apps tools examples | xargs clang-format --dry-run -Werror
}

stage_rooms() { python3 scripts/check_rooms.py; }

stage_host() { build host && run_tests host; }

# The explorers of queue, cache and array, with as many schedules a policy and room as CI owes.
stage_schedules() { build host && SLUICE_SCHEDULES=20000 run_tests host -R '/(queue_schedules|volume_store_schedules|explored|explored_histories)\.'; }

stage_asan() { build asan && run_tests asan; }

# Tests whose code has one thread are left to the others: here they would take a fifth of the time, and there is nothing to find.
stage_tsan() { build tsan && run_tests tsan -E '^(volume_crash|text_graph)\.'; }

stage_host-clang() { build host-clang && run_tests host-clang; }

stage_fuzz() { build fuzz && run_tests fuzz -L fuzz; }

# A target's files together: alone, each would have clang-tidy look through all that it includes again. The tests' own sources are left to
# the compilers: GoogleTest's macros would take most of the time.
stage_tidy() {
  is_version_14 clang-tidy || return $cannot
  cmake --preset tidy >/dev/null
  sed -n 's/^ *"file": "\([^"]*\)".*/\1/p' build/tidy/compile_commands.json |
    xargs -P "$jobs" -n 1 clang-tidy --quiet --checks=-bugprone-suspicious-include -p build/tidy 2> >(grep -v 'warnings generated' >&2)
}

# Compiles what nvcc compiles, and runs the tests that need no GPU to say something about the compiled code.
stage_cuda() {
  local toolkit
  toolkit=$(cuda_toolkit)
  [ -n "$toolkit" ] || { say "no CUDA toolkit of version 13 or later"; return $cannot; }
  CUDACXX=$toolkit/bin/nvcc build cuda && run_tests cuda -L compile
}

running=
trap '[ -z "$running" ] || kill "$running" 2>/dev/null; exit 130' INT TERM

known() { printf '%s\n' "${stages[@]}" | grep -qx -- "$1"; }

main() {
  if [ "${1:-}" = --stage ]; then
    "stage_$2"
    return
  fi
  local stage start=$SECONDS began left status report=() passed=0 failed=0 skipped=0
  for stage in "$@"; do known "$stage" || die "no stage '$stage': there are ${stages[*]}"; done
  [ $# -gt 0 ] || set -- "${stages[@]}"
  "$SLUICE_ROOT/scripts/setup.sh"
  for stage in "$@"; do
    printf '\n=== %s\n' "$stage"
    began=$SECONDS status=0 left=$((limit_minutes * 60 - (SECONDS - start)))
    # A process group of its own: the time limit, and Ctrl-C, end all that the stage has started.
    timeout --kill-after=10 $((left > 0 ? left : 1)) "$SLUICE_ROOT/scripts/test.sh" --stage "$stage" &
    running=$!
    wait "$running" || status=$?
    case $status in
      0) passed=$((passed + 1)) status="passed" ;;
      $cannot) skipped=$((skipped + 1)) status="skipped" ;;
      124 | 137) failed=$((failed + 1)) status="FAILED: over the limit of $limit_minutes minutes for all" ;;
      *) failed=$((failed + 1)) status="FAILED" ;;
    esac
    report+=("$(printf '%-12s %5d s  %s' "$stage" $((SECONDS - began)) "$status")")
  done
  printf '\n=== all stages, %d s\n' $((SECONDS - start))
  printf '%s\n' "${report[@]}"
  printf 'stages: %d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ]
}

main "$@"
