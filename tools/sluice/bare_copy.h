// The bare limit of raw I/O: the same blocks moved between the same memories, with no queue between.
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "sluice/lane/launch.h"

namespace sluice::tool {

struct bare_limit {
  double blocks_per_second = 0;
  double bytes_per_second = 0;
};

/// On a GPU plain lanes move random blocks of `span_bytes` of pinned host memory; on the CPU plain threads
/// copy them.
bare_limit measure_bare_copy(lane::machine& on, std::uint32_t block_bytes, std::uint64_t span_bytes,
                             bool writes);

/// Bare limits of one machine, each measured when it is first asked for.
class bare_limits {
 public:
  explicit bare_limits(lane::machine& on) : on_(on) {}
  const bare_limit& of(std::uint32_t block_bytes, std::uint64_t span_bytes, bool writes);

 private:
  struct question {
    std::uint32_t block_bytes;
    std::uint64_t span_bytes;
    bool writes;
    friend auto operator<=>(const question&, const question&) = default;
  };
  lane::machine& on_;
  std::map<question, bare_limit> known_;
};

}  // namespace sluice::tool
