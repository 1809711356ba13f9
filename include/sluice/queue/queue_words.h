// The words by which lanes share a queue pair. They live where lanes are: in GPU memory, or in host memory on
// the CPU backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/types.h"

namespace sluice::queue {

/// Set in the ticket word while the queue takes no more commands.
inline constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;

enum class completion_lock : std::uint32_t {
  open = 0,
  held = 1,
  lost = 2,  ///< taken for good by whoever failed the queue; opened again by its re-creation
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
  /// See completion_lock.
  alignas(line_bytes) std::uint32_t lock;
  /// Completions reaped, counted like tickets. Written under the lock only.
  std::uint64_t head;
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
