// Moves bytes between media and memory that lanes read and write at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sluice/lane/hd.h"

namespace sluice::controller {

/// Copies like a DMA engine. Optimistic readers may look at the target meanwhile and throw away what they saw
/// (design section 5); on x86 plain stores keep the order they need. ThreadSanitizer is told by making each
/// word a release store.
inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
#if SLUICE_TSAN
  const auto aligned = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 8 == 0; };
  if (aligned(to) && aligned(from)) {
    for (; bytes >= 8; bytes -= 8, to += 8, from += 8) {
      const std::uint64_t word =
          __atomic_load_n(reinterpret_cast<const std::uint64_t*>(from), __ATOMIC_RELAXED);
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELEASE);
    }
  }
  for (; bytes > 0; --bytes, ++to, ++from)
    __atomic_store_n(reinterpret_cast<unsigned char*>(to),
                     __atomic_load_n(reinterpret_cast<const unsigned char*>(from), __ATOMIC_RELAXED),
                     __ATOMIC_RELEASE);
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace sluice::controller
