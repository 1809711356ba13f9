// What benchmarks hold each sector against that they read.
#pragma once

#include <cstdint>
#include <span>

#include "sluice/base/bits.h"

namespace sluice::tool {

inline constexpr std::uint32_t sector_bytes = 512;
inline constexpr std::uint32_t sector_words = sector_bytes / 8;

/// What a sector must hold: its first and last word mixed, and all of it mixed.
struct sector_truth {
  std::uint64_t stamp;
  std::uint64_t whole;
};

constexpr std::uint64_t stamp_of(std::uint64_t first, std::uint64_t last) { return mix(first) ^ last; }
constexpr std::uint64_t fold(std::uint64_t sum, std::uint64_t word) {
  return (sum ^ word) * 0x9e3779b97f4a7c15ULL + (sum >> 29);
}
/// Word `k` of sector `s` where the benchmark has filled the drive itself.
constexpr std::uint64_t filled_word(std::uint64_t s, std::uint32_t k) {
  return mix(s * sector_words + k + 1);
}
/// Of a sector's words.
inline sector_truth truth_of(std::span<const std::uint64_t> words) {
  std::uint64_t whole = 0;
  for (const std::uint64_t word : words) whole = fold(whole, word);
  return {stamp_of(words.front(), words.back()), whole};
}

}  // namespace sluice::tool
