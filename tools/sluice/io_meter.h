// What the lanes of the raw I/O benchmark count beside their commands: latencies, and the rate over time.
#pragma once

#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/io_bench.h"

namespace sluice::tool {

class io_meter {
 public:
  /// For a pass of so many seconds by lanes of that kind.
  io_meter(backend lanes, double seconds);

  void clear();
  /// Fills the counters into what the lanes are told.
  void tell(io_job& job) const;

  latency_summary latencies() const;
  /// Takes the commands and the time of `result` from the steady state on, where it was reached: without the
  /// start, and without the end, in which fewer and fewer lanes are left.
  void keep_steady_part(io_bench_result& result) const;

 private:
  double seconds_;
  std::uint32_t slice_shift_;
  memory::buffer latencies_, slices_;
};

}  // namespace sluice::tool
