// The numbers everyone passes around, each with a type of its own so that they cannot be swapped by mistake.
// Equality is written out: nvcc forgets to define the one that a defaulted operator<=> implies.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace sluice {

/// A logical block of a drive's namespace, counted from 0. Unit: the drive's block size.
struct lba {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(lba, lba) = default;
  friend constexpr bool operator==(lba, lba) = default;
};

/// A page of a volume, counted from 0. Unit: the cache's page size.
struct page_id {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(page_id, page_id) = default;
  friend constexpr bool operator==(page_id, page_id) = default;
};

/// A frame of a cache, counted from 0.
struct frame_id {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(frame_id, frame_id) = default;
  friend constexpr bool operator==(frame_id, frame_id) = default;
};

/// An address as a drive's DMA engine sees it: an IOVA for a real SSD, a CPU address for a software
/// controller.
struct bus_address {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(bus_address, bus_address) = default;
  friend constexpr bool operator==(bus_address, bus_address) = default;
  friend constexpr bus_address operator+(bus_address a, std::uint64_t bytes) { return {a.value + bytes}; }
};

/// Where lanes run.
enum class backend : std::uint8_t { cpu, cuda };

inline constexpr std::uint64_t KiB = std::uint64_t{1} << 10;
inline constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t GiB = std::uint64_t{1} << 30;

/// Bytes that two writers must not share: a cache line of the CPU, a sector group of the GPU's L2.
inline constexpr std::size_t line_bytes = 128;

}  // namespace sluice
