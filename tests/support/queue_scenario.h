// One small run of lanes against the strict drive, with oracles: what every schedule of the queue must
// satisfy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/lane/explore.h"
#include "sluice/queue/queue_pair.h"
#include "tests/support/model_drive.h"

namespace sluice::tests {

struct scenario {
  const char* name = "";
  std::uint32_t depth = 2;
  std::uint32_t warps = 2;
  std::uint32_t lanes = 2;
  std::uint32_t rounds = 2;
  bool team = true;           ///< a warp acts as one team; else each lane alone
  bool leaves_early = false;  ///< prefetches: only the last round is waited for
  bool writes = false;
  std::uint32_t first_turn = 0;
  bool may_lose = false;  ///< commands may be lost: aborted and timed-out ones are tried again
  model_drive_options drive = {};
};

/// The worlds in which the queue is explored, and in which its mutants must be caught.
const std::vector<scenario>& all_scenarios();

/// Runs `what` once under the schedule of `how`.
lane::explore::result run_scenario(const scenario& what, lane::explore::options how);

/// Runs `count` seeds from `first` on, of all three policies; the first failure, told with what it takes to
/// replay it.
std::optional<std::string> explore_scenario(const scenario& what, std::uint64_t first, std::uint64_t count);

}  // namespace sluice::tests
