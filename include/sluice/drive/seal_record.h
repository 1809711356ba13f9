// The record of a dataset's seal as it lies on the volume: its sums, and which of them count no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/drive/manifest.h"
#include "sluice/drive/replica_io.h"
#include "sluice/drive/seal.h"

namespace sluice::drive {

/// Reads a record in parts, from a replica whose copy is whole.
class seal_record {
 public:
  /// `of` is sealed. Looks at live replicas only. Reads the whole record once, of each replica until one is
  /// whole.
  seal_record(replica_io from, const dataset& of);

  /// False where the seal covers nothing: it is being written, or no copy of its record fits its checksums.
  bool counts() const { return source_ != none; }
  /// The replica that it reads, where it counts.
  std::uint32_t source() const { return source_; }
  const seal_shape& shape() const { return shape_; }
  /// True where that replica's copy fits the checksums.
  bool is_whole(std::uint32_t replica) const;

  /// Sums of units from `first` on. `first` is a multiple of step(), and so is the number, but at the end.
  void sums(std::uint64_t first, std::span<std::uint32_t> to) const;
  /// Units whose sums lie in whole blocks.
  std::uint64_t step() const { return from_.block_size() / sizeof(std::uint32_t); }
  /// A bit a unit: set where it was written since the dataset was sealed. All set where nothing counts.
  const std::vector<std::uint32_t>& written() const { return written_; }
  bool covers(std::uint64_t unit) const { return ((written_[unit / 32] >> (unit % 32)) & 1) == 0; }

 private:
  friend class volume;  // knows of units that were written and are not in the record yet
  static constexpr std::uint32_t none = ~0U;

  std::uint32_t sums_checksum(std::uint32_t replica) const;
  std::vector<std::uint32_t> read_written(std::uint32_t replica) const;

  replica_io from_;
  seal seal_;
  seal_shape shape_;
  std::uint32_t source_ = none;
  std::vector<std::uint32_t> written_;
};

}  // namespace sluice::drive
