#!/usr/bin/env bash
# Explores schedules nobody has seen, and kills, fails and stresses programs, for so many minutes: `scripts/soak.sh 720`.
# Each round takes other seeds; SLUICE_FIRST_SEED says where to begin. A failure names what takes it up again.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
cd "$SLUICE_ROOT"

minutes=${1:-10}
case $minutes in '' | *[!0-9]*) die "takes minutes: scripts/soak.sh 720" ;; esac
# Schedules of a room and policy, a round: few enough that no round takes much longer than another.
schedules=${SLUICE_SCHEDULES:-20000}
first=${SLUICE_FIRST_SEED:-1}
preset=${SLUICE_PRESET:-host}
programs=(
  "cache_tests */explored.*:*/explored_histories.*"
  "queue_tests */queue_schedules.*"
  "array_tests */volume_store_schedules.*:*/lanes_at_once.*:*/crash.*:import.*:*/each_io.*:never_stuck.*"
)

cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" --target "${programs[@]%% *}" >/dev/null

SECONDS=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
round=0
while [ $SECONDS -lt $((minutes * 60)) ]; do
  for program in "${programs[@]}"; do
    again="SLUICE_FIRST_SEED=$first SLUICE_SCHEDULES=$schedules build/$preset/bin/${program%% *} --gtest_filter='${program#* }'"
    left=$((minutes * 60 - SECONDS))
    [ $left -gt 0 ] || break
    status=0
    SLUICE_FIRST_SEED=$first SLUICE_SCHEDULES=$schedules timeout --kill-after=10 $left \
      "build/$preset/bin/${program%% *}" --gtest_brief=1 --gtest_filter="${program#* }" >"$log" 2>&1 || status=$?
    case $status in
      0) ;;
      124 | 137) [ $SECONDS -ge $((minutes * 60)) ] || die "ended by a signal: $again" ;;
      *)
        cat "$log" >&2
        die "failed: $again"
        ;;
    esac
  done
  first=$((first + schedules))
  round=$((round + 1))
  say "round $round, $((SECONDS / 60)) min: nothing wrong; the next begins at seed $first"
done
