// What drives hold, as the raw I/O benchmark knows it: bytes that it wrote itself, or sums of what it read.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/array/storage.h"
#include "tools/sluice/sector_truth.h"

namespace sluice::tool {

/// The first `span_bytes` of each of the drives, over the host's queues.
class drive_contents {
 public:
  drive_contents(storage& drives, std::uint32_t count, std::uint64_t span_bytes)
      : storage_(drives), count_(count), span_(span_bytes) {}

  /// Reads each drive once. Of each sector, drive after drive.
  std::vector<sector_truth> learn() const;
  /// Writes filled_word() everywhere.
  void fill() const;

 private:
  template <class Act>
  void for_each_part(Act&& act) const;

  storage& storage_;
  std::uint32_t count_;
  std::uint64_t span_;
};

}  // namespace sluice::tool
