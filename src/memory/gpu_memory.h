// The few calls by which buffers reach GPU memory. In a build without CUDA each throws error{unavailable}.
#pragma once

#include <cstddef>

namespace sluice::memory {

/// GPU memory, aligned to 256 bytes at least, zeroed.
std::byte* allocate_device(std::size_t bytes);
void free_device(std::byte* memory) noexcept;

/// Makes host memory reachable by GPU lanes, and says at which address.
std::byte* pin_host(std::byte* memory, std::size_t bytes);
void unpin_host(std::byte* memory) noexcept;

/// Copies between host and GPU memory on a stream of their own: done on return, also while a kernel runs.
void copy_to_device(std::byte* to, const std::byte* from, std::size_t bytes);
void copy_from_device(std::byte* to, const std::byte* from, std::size_t bytes);

}  // namespace sluice::memory
