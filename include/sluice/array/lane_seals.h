// The seals of a volume in lanes' memory, for one cache: what its lanes check and note.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/array/seal_marks.h"
#include "sluice/array/seal_ref.h"
#include "sluice/memory/buffer.h"

namespace sluice {

/// Owns the table behind seal_ref, and the sums where pages are checked: 4 bytes a unit.
class lane_seals {
 public:
  /// Throws error{bad_input} where pages shall be checked and a dataset is sealed by larger units.
  lane_seals(const drive::volume& of, std::shared_ptr<const seal_marks> marks, bool checks,
             std::uint32_t page_bytes);

  seal_ref ref() const;
  /// Pages that came and were not what they should be, from any replica. Exact while no kernel runs.
  std::uint64_t mismatches() const;

 private:
  std::shared_ptr<const seal_marks> marks_;
  bool checks_;
  std::vector<memory::buffer> sums_;
  memory::buffer table_;
};

}  // namespace sluice
