// How many schedules a test explores: few where a person waits, many in CI, any number at night.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace sluice::tests {

/// Schedules of each of `scenarios` scenarios, a policy: their sum is what the environment's SLUICE_SCHEDULES
/// says, or a quick number.
inline std::uint64_t schedules_each(std::size_t scenarios) {
  constexpr std::uint64_t quick = 4000;
  const char* text = std::getenv("SLUICE_SCHEDULES");
  const std::uint64_t all = text != nullptr ? std::strtoull(text, nullptr, 10) : quick;
  return (all + scenarios - 1) / scenarios;
}

/// Rounds of a stress test: `quick` of them, or as many times more as the environment's SLUICE_ROUNDS says.
inline std::uint64_t rounds(std::uint64_t quick) {
  const char* text = std::getenv("SLUICE_ROUNDS");
  return text != nullptr ? quick * std::strtoull(text, nullptr, 10) : quick;
}

}  // namespace sluice::tests
