// The life of one slot of a submission ring in one 64-bit word: whose turn it is, how far it is, how it
// ended.
#pragma once

#include <cstdint>

#include "sluice/base/status.h"

namespace sluice::queue {

enum class slot_state : std::uint32_t {
  free = 0,       ///< may be filled by the ticket of this turn
  in_flight = 1,  ///< filled and marked; the drive has it, or is about to
  done = 2,       ///< answered; its continuation waits to be claimed
  claimed = 3,    ///< somebody runs its continuation
};

/// Bits 63:32 turn (ticket ÷ depth, low 32 bits), 31:4 status bits, 3:0 state.
class slot_word {
 public:
  constexpr slot_word() = default;
  constexpr explicit slot_word(std::uint64_t bits) : bits_(bits) {}
  constexpr slot_word(std::uint32_t turn, slot_state state, status code = {})
      : bits_((std::uint64_t{turn} << 32) | (std::uint64_t{code.bits()} << 4) |
              static_cast<std::uint32_t>(state)) {}

  constexpr std::uint32_t turn() const { return static_cast<std::uint32_t>(bits_ >> 32); }
  constexpr slot_state state() const { return static_cast<slot_state>(bits_ & 0xfU); }
  constexpr status code() const {
    return status::from_bits(static_cast<std::uint32_t>(bits_ & 0xfffffff0U) >> 4);
  }
  constexpr std::uint64_t bits() const { return bits_; }
  constexpr bool is(std::uint32_t turn, slot_state state) const {
    return this->turn() == turn && this->state() == state;
  }

 private:
  std::uint64_t bits_ = 0;
};

/// True where turn `a` comes before turn `b`; right across the wrap of the 32-bit count, since turns in use
/// lie close together.
constexpr bool before(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; }

}  // namespace sluice::queue
