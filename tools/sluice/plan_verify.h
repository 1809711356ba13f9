// Runs a plan on emulated drives: what it promises against what lanes measure.
#pragma once

#include <cstdint>
#include <string>

#include "tools/sluice/plan_report.h"

namespace sluice::tool {

struct verified_plan {
  double promised = 0, measured = 0;  ///< accesses a second
  std::uint64_t lanes = 0;
  std::uint64_t issued = 0, served = 0;
  std::string drives;   ///< the URI of each
  std::string machine;  ///< whose lanes they were

  double ratio() const { return measured / promised; }
  json as_json() const;
  std::string as_text() const;
};

/// Emulates the plan's drives with their media in host memory, so that the link bears what it would, and runs
/// lanes on them as long as `seconds`. Throws error{unavailable} for more drives than one machine emulates,
/// error{wrong_answer} where a block was not what was written.
verified_plan verify_plan(lane::machine& on, const planned_drive& row, const emulator::workload& wanted,
                          double seconds);

}  // namespace sluice::tool
