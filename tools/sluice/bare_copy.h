// The bare limit of raw I/O: the same blocks moved between the same memories, with no queue between.
#pragma once

#include <compare>
#include <cstdint>
#include <map>

#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"

namespace sluice::tool {

struct bare_limit {
  double blocks_per_second = 0;
  double bytes_per_second = 0;
};

/// Which blocks, between which memories.
struct bare_question {
  std::uint32_t block_bytes;
  std::uint64_t span_bytes;
  std::uint32_t writes_in_1024;  ///< blocks; the others are read
  memory::place media;           ///< pinned or device memory, on a GPU
  friend auto operator<=>(const bare_question&, const bare_question&) = default;
};

/// On a GPU plain lanes move random blocks of the span; on the CPU plain threads copy them.
bare_limit measure_bare_copy(lane::machine& on, const bare_question& what);

/// Bare limits of one machine, each measured when it is first asked for.
class bare_limits {
 public:
  explicit bare_limits(lane::machine& on) : on_(on) {}
  const bare_limit& of(const bare_question& what);

 private:
  lane::machine& on_;
  std::map<bare_question, bare_limit> known_;
};

}  // namespace sluice::tool
