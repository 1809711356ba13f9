// The words by which lanes share a queue pair. They live where lanes are: in GPU memory, or in host memory on
// the CPU backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/types.h"

namespace sluice::queue {

/// Set in the ticket word while the queue takes no more commands.
inline constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;

/// Who may reap, and how far reaping has come, in one word: so that the position passes from holder to holder
/// without a fence. Bits 1:0 state, 63:2 completions reaped, counted like tickets.
class completion_gate {
 public:
  enum class state : std::uint64_t {
    open = 0,
    held = 1,
    lost = 2,  ///< taken for good by whoever failed the queue; opened again by its re-creation
  };
  constexpr completion_gate(std::uint64_t head, state s)
      : bits_((head << 2) | static_cast<std::uint64_t>(s)) {}
  constexpr explicit completion_gate(std::uint64_t bits) : bits_(bits) {}
  constexpr std::uint64_t head() const { return bits_ >> 2; }
  constexpr bool is(state s) const { return (bits_ & 3U) == static_cast<std::uint64_t>(s); }
  constexpr completion_gate with(state s) const { return {head(), s}; }
  constexpr std::uint64_t bits() const { return bits_; }

 private:
  std::uint64_t bits_;
};

/// One group of words a line, by who writes them.
struct queue_words {
  /// Tickets handed out so far, and closed_bit. A ticket is a debt: its slot is filled, or its team arrives
  /// without it. What is added while closed_bit is set means nothing.
  alignas(line_bytes) std::uint64_t ticket;
  /// 31:0 teams that marked since the combiner looked; 63:32 tickets that arrived (marked, or left unfilled),
  /// modulo 2^32.
  alignas(line_bytes) std::uint64_t pending;
  /// Tickets that the drive was told of. Written by the combiner only.
  std::uint64_t tail;
  /// See completion_gate.
  alignas(line_bytes) std::uint64_t gate;
  /// The turn at which the present life of the queue began: ring index 0, phase 1.
  alignas(line_bytes) std::uint32_t first_turn;
  /// Non-zero once the drive has forgotten the queue: nothing in flight will be answered, no DMA will come.
  std::uint32_t deleted;
  /// Non-zero where the queue will not come back.
  std::uint32_t dead;
  /// Tickets that had been handed out when the queue was closed.
  std::uint64_t closed_at;
  /// Tickets that were left unfilled because the queue closed.
  std::uint64_t left;
};

/// What is to be done when a slot's command is answered, and the slot's word. One a slot, in lanes' memory.
struct alignas(64) slot_record {
  std::uint64_t word;            ///< slot_word
  std::byte* copy_to;            ///< where the staged bytes go, or null
  std::uint64_t* report_word;    ///< gets += on_ok or += on_error
  std::uint64_t* report_detail;  ///< gets the status bits
  std::uint64_t on_ok;
  std::uint64_t on_error;
  std::uint32_t copy_bytes;
  std::uint32_t issued_at;  ///< coarse clock, for the age of a command in flight
};
static_assert(sizeof(slot_record) == 64);

}  // namespace sluice::queue
