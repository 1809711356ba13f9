// A drive model as residents use it: integers, looked up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sluice/emulator/drive_model.h"
#include "sluice/lane/hd.h"

namespace sluice::emulator {

/// Ticks of a drive's clock in a nanosecond.
inline constexpr unsigned tick_shift = 10;

/// How long commands take, and when their answers are due.
struct service_times {
  static constexpr std::uint32_t sector_bytes = 512, classes = 8;
  struct one_way {
    std::uint64_t by_sectors[classes] = {};  ///< ticks that 1, 2, ... 8 sectors keep the drive busy
    std::uint64_t a_sector = 0;              ///< ticks a sector at the drive's bandwidth
    std::uint64_t latency_ns = 0;            ///< from fetch to answer of a command alone
  };
  bool any = false;  ///< false: as fast as it goes
  one_way read, write;
  std::uint64_t jitter_ns = 0;  ///< added to each answer, even from 0 to this

  SLUICE_HD std::uint64_t busy(bool writes, std::uint64_t bytes) const {
    const one_way& way = writes ? write : read;
    const std::uint64_t sectors = bytes / sector_bytes;
    const std::uint64_t by_class =
        way.by_sectors[(sectors < classes ? (sectors > 0 ? sectors : 1) : classes) - 1];
    const std::uint64_t by_bytes = sectors * way.a_sector;
    return by_class > by_bytes ? by_class : by_bytes;
  }
  /// When a command's answer is due, counted from when the drive begins with it.
  SLUICE_HD std::uint64_t latency(bool writes) const { return writes ? write.latency_ns : read.latency_ns; }
};

/// `overhead_ns`: what a command takes from its submission to its answer's arrival on a drive without a
/// model: the answer is due so much earlier, that lanes see the model's latency.
service_times service_times_of(const drive_model& model, std::uint64_t overhead_ns, std::uint64_t jitter_ns);

}  // namespace sluice::emulator
