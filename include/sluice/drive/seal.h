// What a volume remembers of a sealed dataset: where the checksums of its units lie, and whether they count.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/drive/volume_ref.h"

namespace sluice::drive {

inline constexpr std::uint32_t usual_seal_unit = 4096;

/// A dataset's seal, as the manifest has it. Its record is a run of the volume: a CRC32C of each unit of the
/// dataset, then a bit for each, set where the unit was written since; see docs/design/0008-seals.md.
struct seal {
  std::uint32_t unit = usual_seal_unit;  ///< bytes that a sum covers: a power of two, a block to largest_page
  std::uint64_t first_byte = 0;          ///< of the record, a multiple of largest_page
  std::uint32_t sums_checksum = 0;       ///< CRC32C of all sums
  std::uint32_t written_checksum = 0;    ///< of the words of the bits
  bool being_written = false;            ///< somebody writes, or was killed: the seal covers nothing

  friend bool operator==(const seal&, const seal&) = default;
};

/// How a record is laid out.
struct seal_shape {
  std::uint64_t units = 0;
  std::uint64_t sums_bytes = 0;     ///< padded to whole blocks
  std::uint64_t written_bytes = 0;  ///< likewise; bit u is bit u mod 32 of word u / 32

  constexpr seal_shape(std::uint64_t dataset_bytes, std::uint32_t unit, std::uint32_t block_size)
      : units(divide_up(dataset_bytes, unit)),
        sums_bytes(align_up(units * sizeof(std::uint32_t), block_size)),
        written_bytes(align_up(written_words() * sizeof(std::uint32_t), block_size)) {}

  constexpr std::uint64_t written_words() const { return divide_up(units, 32); }
  constexpr std::uint64_t bytes() const { return sums_bytes + written_bytes; }
};

}  // namespace sluice::drive
