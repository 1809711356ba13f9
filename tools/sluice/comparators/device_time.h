// How long a block device itself took for its reads, as the kernel counts it.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::tool {

/// What a device had done since the machine started (Documentation/block/stat.rst).
struct device_reads {
  std::uint64_t reads = 0;
  std::uint64_t ticks_ms = 0;  ///< that reads waited for the device, summed over them
};

/// The block device that an open file lies on.
class device_time {
 public:
  explicit device_time(int fd);

  /// Why nothing is known; empty where it is.
  const std::string& unknown() const { return unknown_; }
  device_reads now() const;

 private:
  std::string path_, unknown_;
};

}  // namespace sluice::tool
