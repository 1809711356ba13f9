// How many schedules a test explores: few where a person waits, many in CI, any number at night.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace sluice::tests {

/// A number from the environment.
inline std::uint64_t told(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Schedules of each of `scenarios` scenarios, a policy: their sum is what the environment's SLUICE_SCHEDULES
/// says, or a quick number.
inline std::uint64_t schedules_each(std::size_t scenarios) {
  constexpr std::uint64_t quick = 4000;
  return (told("SLUICE_SCHEDULES", quick) + scenarios - 1) / scenarios;
}

/// Rounds of a stress test: `quick` of them, or as many times more as the environment's SLUICE_ROUNDS says.
inline std::uint64_t rounds(std::uint64_t quick) { return quick * told("SLUICE_ROUNDS", 1); }

/// Seeds, of schedules and of dice, are counted from here: those of another night are others.
inline std::uint64_t first_seed() { return told("SLUICE_FIRST_SEED", 1); }

}  // namespace sluice::tests
