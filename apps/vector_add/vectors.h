// Three vectors on a volume, one behind the other: A, B and their sum C. Written and read by the host.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "apps/vector_add/element.h"
#include "sluice/base/bits.h"
#include "sluice/drive/volume.h"

namespace sluice::vector_add {

inline constexpr std::uint64_t most_elements = std::uint64_t{1} << 32;

/// Each vector begins at a multiple of the largest page, so that no page holds elements of two.
struct vectors {
  element of = element::u32;
  std::uint64_t elements = 0;    ///< of each
  std::uint64_t first_byte = 0;  ///< of A in the volume, a multiple of the largest page

  constexpr std::uint64_t bytes_each() const { return elements * element_bytes(of); }
  constexpr std::uint64_t stride() const { return align_up(bytes_each(), drive::largest_page); }
  constexpr std::uint64_t a() const { return first_byte; }
  constexpr std::uint64_t b() const { return a() + stride(); }
  constexpr std::uint64_t c() const { return b() + stride(); }
  /// Of the volume that they take in all.
  constexpr std::uint64_t bytes() const { return 3 * stride(); }
  /// That an addition moves at least: A and B are read, C is written.
  constexpr std::uint64_t bytes_needed() const { return 3 * bytes_each(); }
};

/// Told how many bytes more have moved; may throw to end it.
using byte_progress = std::function<void(std::uint64_t)>;

/// Throws error{bad_input} where there are no elements, too many, or more than the volume takes.
void need_room(const drive::volume& on, const vectors& of);
/// Writes A and B as `seed` has them.
void write_operands(drive::volume& on, const vectors& of, std::uint64_t seed,
                    const byte_progress& progress = {});
/// Sets every bit of C and of what lies behind it up to the largest page: no sum of an earlier run is left.
void spoil_sums(drive::volume& on, const vectors& of, const byte_progress& progress = {});
/// The first thing that is wrong with the vectors as they lie on the drives, or nothing: every element of A
/// and B as it was written, every element of C their sum to the last bit, and what lies behind C as
/// spoil_sums() left it.
std::optional<std::string> fault_of_sums(const drive::volume& on, const vectors& of, std::uint64_t seed,
                                         const byte_progress& progress = {});

}  // namespace sluice::vector_add
