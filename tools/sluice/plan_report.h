// What a plan says, for people and for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/emulator/sizing.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

/// One model, and what it takes of it.
struct planned_drive {
  emulator::drive_model model;
  emulator::drive_plan plan;
};

struct plan_report {
  emulator::workload wanted;
  emulator::surroundings around;
  std::string prices;                 ///< whose they are, DRAM's included
  std::vector<planned_drive> rows{};  ///< one, or all models where the user named none

  /// The keys of design §9: of the only row, or of the cheapest a GB of those that reach the most, with
  /// `rows`.
  json as_json() const;
  std::string as_text() const;

 private:
  const planned_drive& best() const;
  json row_json(const planned_drive& row) const;
  std::string wanted_text() const;
  std::string table() const;
  std::string explained(const planned_drive& row) const;
  std::string limit_text(const emulator::drive_plan& plan) const;
  std::string price_text(const planned_drive& row) const;
};

}  // namespace sluice::tool
