// A run of a volume, cut where units end: what lies between two cuts lies on one drive.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::drive {

/// Calls `act(first_byte, offset, count)` for each part of `bytes` that lies in one unit.
template <class Act>
void by_unit(std::uint64_t first_byte, std::uint64_t bytes, std::uint64_t unit, Act act) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = first_byte + done;
    const std::uint64_t count = std::min(bytes - done, unit - at % unit);
    act(at, done, count);
    done += count;
  }
}

}  // namespace sluice::drive
