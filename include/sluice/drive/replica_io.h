// The copies of a volume's bytes, read and written one by one: for whoever compares or mends them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/drive/block_io.h"
#include "sluice/drive/volume_ref.h"

namespace sluice::drive {

/// Whole blocks by volume address. A stripe has one copy, replica 0. Good while the volume lives. It reaches
/// replicas that are left out too, and nobody records what fails here.
class replica_io {
 public:
  replica_io(const volume_ref& where, block_drives drives, std::uint64_t unit);

  std::uint32_t replicas() const { return where_.replicas(); }
  bool alive(std::uint32_t replica) const { return replicas() == 1 || where_.alive(replica); }
  std::uint32_t block_size() const { return where_.block_size(); }
  std::uint64_t bytes() const { return where_.bytes(); }
  volume_place locate(std::uint64_t byte, std::uint32_t replica) const {
    return where_.locate(byte, replica);
  }
  const std::string& drive_name(std::uint64_t byte, std::uint32_t replica) const {
    return drives_[locate(byte, replica).drive]->name();
  }

  // Each throws error{io_failure} as the drive said it.
  void read(std::uint32_t replica, std::uint64_t first_byte, std::span<std::byte> to) const;
  void write(std::uint32_t replica, std::uint64_t first_byte, std::span<const std::byte> from) const;
  void flush(std::uint32_t replica) const;

 private:
  volume_ref where_;
  block_drives drives_;
  std::uint64_t unit_;
};

}  // namespace sluice::drive
