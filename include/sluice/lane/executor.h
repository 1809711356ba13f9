// What the CPU backend's lanes ask of the executor that runs them. Kernels never call this; the room's
// headers do.
#pragma once

#include <cstdint>

namespace sluice::lane::executor {

/// Who the calling lane is. Outside any launch every field has its default: one lane of a one-lane grid.
struct identity {
  std::uint32_t lane = 0;        ///< position in the warp
  std::uint32_t warp_lanes = 1;  ///< lanes of this warp, 1 to 32
  std::uint32_t thread = 0;      ///< position in the block
  std::uint32_t block = 0;
  std::uint32_t block_lanes = 1;
  std::uint32_t blocks = 1;
  std::uint32_t processor = 0;  ///< the worker thread that runs the block, as an SM would
};

/// The running lane of this OS thread. A lane never moves to another OS thread.
extern constinit thread_local const identity* current;
/// True while this OS thread runs a seeded exploration (explore.h).
extern constinit thread_local bool exploring;

inline const identity& self() { return *current; }

void explored_point();
void explored_change();

/// A place where the schedule may move to another lane; stands before every atomic operation on the host.
/// Outside an exploration it costs one test of a flag.
inline void schedule_point() {
  if (exploring) [[unlikely]]
    explored_point();
}

/// Says that the caller changed a word that others read: while changes come, a simulated clock does not leap.
inline void note_change() {
  if (exploring) [[unlikely]]
    explored_change();
}

/// Lets the other lanes run: the body of every spin.
void relax();

/// True once in so many calls of a thread; always under an exploration.
bool now_and_then();

enum class collective : std::uint8_t { sync, ballot, match, shuffle };

/// Meets the other lanes of `mask` (bit = lane of the warp). Returns: ballot, the bits whose value is not 0;
/// match, the bits whose value equals the caller's; shuffle, the value of lane `source`; sync, 0. A misuse (a
/// lane not in its own mask, a lane that has left, two collectives under one mask, a source outside the mask)
/// ends the launch with an error.
std::uint64_t meet(collective what, std::uint32_t mask, std::uint64_t value, std::uint32_t source);

/// Lanes that call from the same instruction together, as __activemask() would tell: always holds the caller.
std::uint32_t converged();

/// Meets all lanes of the block that have not left.
void meet_block();

/// Nanoseconds of a clock that all lanes share; simulated under a seeded schedule.
std::uint64_t clock_ns();

}  // namespace sluice::lane::executor
