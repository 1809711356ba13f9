// A line of copies between host memory and lanes' memory, one behind the other: by a GPU's copy engine, or on
// the CPU backend by the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "sluice/lane/launch.h"

namespace sluice::tool {

/// One thread at a time uses a line. Copies on it wait for no kernel.
class copy_line {
 public:
  virtual ~copy_line() = default;
  /// Puts a copy on the line, either way; what lies on the host is pinned, and `from` stays as it is until
  /// the copy has arrived.
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;
  /// Puts many copies from the host, of `bytes` each, on the line by one call. False where the machine has no
  /// such call.
  virtual bool copy_batch(std::span<std::byte* const> to, std::span<const std::byte* const> from,
                          std::size_t bytes) = 0;
  /// Writes a word of lanes' memory behind what is on the line: whoever acquires it sees what was copied
  /// before.
  virtual void tell(std::uint32_t& word, std::uint32_t value) = 0;
  /// Marks the place behind what is on the line; each of the marks can be set again.
  virtual void mark(std::size_t which) = 0;
  /// True once everything before that mark has arrived: lanes that are told of it see it.
  virtual bool reached(std::size_t which) = 0;
  /// What is started on `on` from now on comes after that mark.
  virtual void hold(lane::machine& on, std::size_t which) = 0;
  /// Waits until everything has arrived.
  virtual void wait() = 0;
};

/// With that many marks.
std::unique_ptr<copy_line> open_copy_line(backend on, std::size_t marks);

}  // namespace sluice::tool
