// Decides, for each command, which fault of the plan it suffers: the same command of the same queue always
// the same.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/drive/faults.h"
#include "sluice/lane/hd.h"

namespace sluice::controller {

class fault_dice {
 public:
  explicit fault_dice(const drive::fault_plan& plan) : plan_(plan), any_(plan.any()) {}

  SLUICE_HD const drive::fault_plan& plan() const { return plan_; }
  SLUICE_HD bool any() const { return any_; }

  /// `nth`: how many commands the queue identifier has seen before, over all queues that bore it.
  SLUICE_HD bool drops(std::uint16_t queue, std::uint64_t nth) const {
    return roll(queue, nth, 1) < plan_.drop_rate || nth == plan_.drop_at;
  }
  SLUICE_HD bool tears(std::uint16_t queue, std::uint64_t nth) const {
    return roll(queue, nth, 2) < plan_.tear_rate;
  }
  SLUICE_HD bool fails(std::uint16_t queue, std::uint64_t nth) const {
    return roll(queue, nth, 3) < plan_.error_rate || nth == plan_.error_at;
  }
  /// True for a command that touches the plan's error range.
  SLUICE_HD bool fails_at(std::uint64_t first, std::uint64_t blocks) const {
    return plan_.error_lba && first <= plan_.error_lba->last.value &&
           first + blocks > plan_.error_lba->first.value;
  }

 private:
  /// Even in [0, 1).
  SLUICE_HD double roll(std::uint16_t queue, std::uint64_t nth, std::uint64_t salt) const {
    const std::uint64_t drawn = mix(mix(plan_.seed * 0x9e3779b97f4a7c15ULL + salt) ^ mix(nth << 16 | queue));
    return static_cast<double>(drawn >> 11) * 0x1p-53;
  }

  drive::fault_plan plan_;
  bool any_;
};

}  // namespace sluice::controller
