// The addition of vectors in memory that lanes reach, with nothing between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "apps/vector_add/element.h"
#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"

namespace sluice::tool {

/// Aligned to 16 bytes.
struct plain_vectors {
  const std::byte* a;
  const std::byte* b;
  std::byte* c;
  std::uint64_t elements;
};

/// By all lanes that the machine has. Loads of 16 bytes, neighbouring lanes beside one another.
std::unique_ptr<lane::running_launch> start_plain_sum(lane::machine& on, vector_add::element of,
                                                      const plain_vectors& vectors);

/// The bare limit of an addition: bytes a second that the same lanes add up over plain memory of that place,
/// over as much as suits a measurement.
double bare_sum_rate(lane::machine& on, vector_add::element of, std::uint64_t elements, memory::place where);

}  // namespace sluice::tool
