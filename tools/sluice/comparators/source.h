// The bytes that every comparator moves, as the drives hold them: in host memory that lanes reach, in a file,
// and what each sector of them must be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/source_file.h"
#include "tools/sluice/io_kernel.h"

namespace sluice::tool {

/// Reads `to.size()` bytes of a drive, from `at`.
using drive_reader = std::function<void(std::uint32_t drive, std::uint64_t at, std::span<std::byte> to)>;

class comparison_source {
 public:
  /// Reads the first `each` bytes of each of `drives` drives once. Throws error{unavailable} where the host
  /// lacks the memory.
  comparison_source(backend on, std::uint32_t drives, std::uint64_t each, const drive_reader& read);

  std::uint32_t drives() const { return drives_; }
  std::uint64_t each() const { return each_; }
  /// Drive after drive.
  const memory::buffer& bytes() const { return bytes_; }
  /// Of each sector, for lanes.
  const sector_truth* truth() const { return truth_.lanes_as<sector_truth>(); }

  /// Takes the file for comparators that read one; a scratch file is filled when it is first asked for.
  void use(source_file file) { file_.emplace(std::move(file)); }
  bool has_file() const { return file_.has_value(); }
  /// The drives are files themselves: what is read of them is read where the drives read it.
  bool has_drive_files() const { return file_ && !file_->is_scratch(); }
  /// Open for reads of `block_bytes`.
  source_file& file(std::uint32_t block_bytes);

 private:
  void learn_truth();

  std::uint32_t drives_;
  std::uint64_t each_;
  memory::buffer bytes_, truth_;
  std::optional<source_file> file_;
  bool file_is_filled_ = false;
};

}  // namespace sluice::tool
