// What a stamped drive holds, so that anybody can tell whether a block is the one that was asked for.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"

namespace sluice::emulator {

/// The `n`-th 8-byte word of a drive that was opened with `from=stamps`.
constexpr std::uint64_t stamped_word(std::uint64_t n) { return mix(n + 1); }

}  // namespace sluice::emulator
