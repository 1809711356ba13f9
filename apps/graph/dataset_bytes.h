// Moves whole datasets between host memory and a volume, with their checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sluice/drive/volume.h"

namespace sluice::graph {

/// Told how many bytes more have moved.
using byte_progress = std::function<void(std::uint64_t)>;

/// Writes `bytes` into a dataset that was begun, and notes their checksum in it.
void write_dataset(drive::volume& on, drive::dataset& into, std::span<const std::byte> bytes,
                   const byte_progress& progress);
/// Reads it into `to`, of the dataset's size. Throws error{corrupt} where its checksum differs.
void read_dataset(const drive::volume& on, const drive::dataset& of, std::span<std::byte> to,
                  const byte_progress& progress);
/// Copies the bytes of one dataset into another of the same size. Throws error{corrupt} where its checksum
/// differs.
void copy_dataset(const drive::volume& from, const drive::dataset& of, drive::volume& to,
                  drive::dataset& into, const byte_progress& progress);

}  // namespace sluice::graph
