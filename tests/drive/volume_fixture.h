// A shelf of fake drives named fake:0, fake:1, ... under one power supply.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sluice/drive/volume.h"
#include "tests/support/fake_drive.h"
#include "tests/support/refusal.h"

namespace sluice::test {

class shelf {
 public:
  shelf(std::uint32_t count, std::uint64_t bytes) {
    for (std::uint32_t i = 0; i < count; ++i)
      drives_.push_back(std::make_shared<fake_drive>("fake:" + std::to_string(i), bytes, 512, supply_));
  }

  drive::block_drives drives() const { return {drives_.begin(), drives_.end()}; }
  drive::block_drives drives(const std::vector<std::uint32_t>& which) const {
    drive::block_drives some;
    for (const std::uint32_t i : which) some.push_back(drives_[i]);
    return some;
  }
  fake_drive& operator[](std::uint32_t i) { return *drives_[i]; }

  void cut_power_after(std::uint64_t writes) { supply_->blocks_left = writes; }
  /// Every block that was not flushed survives where `survives()` says so.
  template <class Survives>
  void restart(Survives survives) {
    for (const auto& each : drives_) each->restart(survives);
  }
  /// Drives with the same durable bytes, and power of their own.
  shelf copy() const {
    shelf other(0, 0);
    for (const auto& each : drives_)
      other.drives_.push_back(std::make_shared<fake_drive>(*each, other.supply_));
    return other;
  }

 private:
  std::shared_ptr<power> supply_ = std::make_shared<power>();
  std::vector<std::shared_ptr<fake_drive>> drives_;
};

}  // namespace sluice::test
