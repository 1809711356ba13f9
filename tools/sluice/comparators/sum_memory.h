// Three vectors in memory, host or GPU: A and B as a seed has them, and sums that are held against plain C++.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/vector_add/vectors.h"
#include "sluice/memory/buffer.h"

namespace sluice::tool {

class sum_memory {
 public:
  /// A and B filled. Throws error{unavailable} where there is no such memory left.
  sum_memory(backend on, memory::place where, const vector_add::vectors& of, std::uint64_t seed);

  // For lanes, and for the CPU where it is host memory.
  std::byte* a() const { return bytes_.lanes() + of_.a(); }
  std::byte* b() const { return bytes_.lanes() + of_.b(); }
  std::byte* c() const { return bytes_.lanes() + of_.c(); }
  const std::byte* host_a() const { return bytes_.host() + of_.a(); }
  const std::byte* host_b() const { return bytes_.host() + of_.b(); }
  std::byte* host_c() const { return bytes_.host() + of_.c(); }

  /// No sum of an earlier trial is left.
  void spoil_sums();
  /// Throws error{wrong_answer} for the first sum that is not what plain C++ has; `by`: whose it is.
  void need_right(const char* by) const;

 private:
  vector_add::vectors of_;
  std::uint64_t seed_;
  memory::buffer bytes_;
};

}  // namespace sluice::tool
