// Host access to the bytes of one drive: what a volume needs to keep its manifest, and an importer to write
// data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice::drive {

/// Moves whole blocks between host memory and one drive. Any host thread may call; one call at a time
/// suffices.
class block_io {
 public:
  virtual ~block_io() = default;

  virtual const std::string& name() const = 0;  ///< the drive's URI, for messages
  virtual std::uint64_t bytes() const = 0;      ///< capacity
  virtual std::uint32_t block_size()
      const = 0;  ///< a power of two from 512; every offset and size is a multiple

  // Each waits until the drive has answered, and throws error{io_failure} naming the drive, the LBA and the
  // status.
  virtual void read(std::uint64_t first_byte, std::span<std::byte> to) = 0;
  virtual void write(std::uint64_t first_byte, std::span<const std::byte> from) = 0;
  /// After it returns, all that was written before lasts.
  virtual void flush() = 0;
};

using block_drives = std::vector<std::shared_ptr<block_io>>;

}  // namespace sluice::drive
