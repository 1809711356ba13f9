// The values of features, and which of them a host may change.
#pragma once

#include <array>
#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/nvme/features.h"

namespace sluice::controller {

class feature_set {
 public:
  explicit feature_set(bool write_cache) : write_cache_(write_cache) { reset(); }

  /// Values after a controller reset.
  void reset();
  static bool knows(std::uint32_t identifier, bool write_cache);
  /// Set Features (NVMe Base 2.0, 5.27). Number of Queues is granted elsewhere.
  status set(std::uint32_t identifier, std::uint32_t value);
  /// Get Features (5.15): DW0 of the answer.
  status get(std::uint32_t identifier, std::uint32_t select, std::uint32_t& value) const;
  void store(nvme::feature which, std::uint32_t value) { now_[static_cast<std::size_t>(which)] = value; }
  std::uint32_t value(nvme::feature which) const { return now_[static_cast<std::size_t>(which)]; }

 private:
  static constexpr std::size_t identifiers = 12;
  std::array<std::uint32_t, identifiers> now_{}, initial_{};
  bool write_cache_;
};

}  // namespace sluice::controller
