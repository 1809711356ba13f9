// Copies of whole pages into and out of cache frames, done so that a reader who raced with the refill
// notices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sluice/lane/atomic.h"
#include "sluice/lane/executor.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"

namespace sluice::lane {

/// Pages are copied in pieces of this many bytes; every page size is a multiple of it.
inline constexpr std::uint32_t copy_piece = 16;

namespace detail {

#if SLUICE_ON_GPU
struct piece {
  unsigned long long low, high;
};
/// Host memory changes behind the L1 cache: relaxed at system scope goes past it.
__device__ SLUICE_INLINE piece load_from_anywhere(const std::byte* from) {
  piece p;
  asm volatile("ld.relaxed.sys.v2.u64 {%0,%1}, [%2];" : "=l"(p.low), "=l"(p.high) : "l"(from) : "memory");
  return p;
}
__device__ SLUICE_INLINE piece load_from_frame(const std::byte* from) {
  piece p;
  asm volatile("ld.relaxed.gpu.v2.u64 {%0,%1}, [%2];" : "=l"(p.low), "=l"(p.high) : "l"(from) : "memory");
  return p;
}
/// PTX performs a vector store as separate scalar stores in any order (memory consistency model, "Vector
/// Data-types"), so this is two relaxed stores of 8 bytes, each single-copy atomic, at the cost of one
/// instruction.
__device__ SLUICE_INLINE void store_to_frame(std::byte* to, piece p) {
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1,%2};" ::"l"(to), "l"(p.low), "l"(p.high) : "memory");
}
__device__ SLUICE_INLINE void store_anywhere(std::byte* to, piece p) {
  asm volatile("st.v2.u64 [%0], {%1,%2};" ::"l"(to), "l"(p.low), "l"(p.high) : "memory");
}

/// Moves `bytes` by all lanes of the team, each with `in_flight` pieces under way: one load over the link
/// takes about a microsecond, so a lane that waited for each would move 16 bytes a microsecond.
template <class Team, class Load, class Store>
__device__ SLUICE_INLINE void move_pieces(const Team& team, std::byte* to, const std::byte* from,
                                          std::uint32_t bytes, Load load, Store store) {
  constexpr std::uint32_t in_flight = 4;
  const std::uint32_t stride = team.size() * copy_piece;
  for (std::uint32_t first = team.rank() * copy_piece; first < bytes; first += in_flight * stride) {
    piece pieces[in_flight] = {};
#pragma unroll
    for (std::uint32_t k = 0; k < in_flight; ++k) {
      if (first + k * stride < bytes) pieces[k] = load(from + first + k * stride);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < in_flight; ++k) {
      if (first + k * stride < bytes) store(to + first + k * stride, pieces[k]);
    }
  }
}
#else
/// ThreadSanitizer knows no fences: there each store releases by itself, which is stronger and slower.
inline constexpr order refill_store = SLUICE_TSAN ? release : relaxed;

inline void store_to_frame(std::byte* to, const std::byte* from) {
  for (std::uint32_t at = 0; at < copy_piece; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + at, 8);
    cuda::atomic_ref<std::uint64_t, cuda::thread_scope_device>(*reinterpret_cast<std::uint64_t*>(to + at))
        .store(word, refill_store);
  }
}
#endif

}  // namespace detail

/// Makes the caller's coming relaxed stores to a frame tell their readers that the frame's word has changed.
/// Order: release fence, device scope; its partner is the acquire load of the data in an optimistic read:
/// whoever sees a
///   byte stored after it sees the word (loading, or a newer version) that the caller saw before it.
SLUICE_HD SLUICE_INLINE void fence_before_refill() {
#if SLUICE_ON_GPU || !SLUICE_TSAN
  if (!planted("frame_copy.no_fence")) cuda::atomic_thread_fence(acq_rel, cuda::thread_scope_device);
#endif
}

/// Fills (part of) a frame that is loading from staged bytes. `frame`, `from` and `bytes` are multiples of
/// copy_piece. Lanes:  all lanes of the team, each copies its share; sync() the team, then let one lane
/// publish with release. Order:  the caller has acquired the completion that says `from` is filled, which
/// happened after the frame's word
///   changed. Weak stores, or relaxed ones without the fence, would let a late optimistic reader take new
///   bytes for old. Readers of 1, 2 or 4 bytes overlap an 8-byte store in part, which the PTX model leaves
///   open; hardware performs an aligned 8-byte store at once, and a reader who sees any of it is turned away
///   by the word.
template <class Team>
SLUICE_HD void copy_into_frame(const Team& team, std::byte* frame, const std::byte* from,
                               std::uint32_t bytes) {
  fence_before_refill();
#if SLUICE_ON_GPU
  detail::move_pieces(
      team, frame, from, bytes, [](const std::byte* p) { return detail::load_from_anywhere(p); },
      [](std::byte* p, detail::piece v) { detail::store_to_frame(p, v); });
#else
  for (std::uint32_t at = team.rank() * copy_piece; at < bytes; at += team.size() * copy_piece) {
    if (at % 64 == 0) executor::schedule_point();
    detail::store_to_frame(frame + at, from + at);
  }
#endif
}

/// A copy into a frame; none where `frame` is null.
struct frame_copy {
  std::byte* frame = nullptr;
  const std::byte* from = nullptr;
  std::uint32_t bytes = 0;
};

namespace detail {

/// The copy of the lane with that bit; none where the bit is 0.
template <class Team>
SLUICE_HD frame_copy copy_of(const Team& team, const frame_copy& mine, std::uint32_t bit) {
  if (bit == 0) return {};
  return {team.of(mine.frame, bit), team.of(mine.from, bit), team.of(mine.bytes, bit)};
}

#if SLUICE_ON_GPU
/// Two small copies side by side, so that they do not wait for one another over the link.
template <class Team>
__device__ SLUICE_INLINE void move_two(const Team& team, const frame_copy& a, const frame_copy& b) {
  const std::uint32_t most = a.bytes > b.bytes ? a.bytes : b.bytes;
#pragma unroll 1
  for (std::uint32_t at = team.rank() * copy_piece; at < most; at += team.size() * copy_piece) {
    piece of_a{}, of_b{};
    if (at < a.bytes) of_a = load_from_anywhere(a.from + at);
    if (at < b.bytes) of_b = load_from_anywhere(b.from + at);
    if (at < a.bytes) store_to_frame(a.frame + at, of_a);
    if (at < b.bytes) store_to_frame(b.frame + at, of_b);
  }
}
#endif

}  // namespace detail

/// The same for every lane of the team that has a copy of its own, all by the whole team.
/// Lanes:  all lanes of the team. Each has called fence_before_refill() since the frames' words changed.
template <class Team>
SLUICE_HD void copy_into_frames(const Team& team, const frame_copy& mine) {
  std::uint32_t rest = team.ballot(mine.frame != nullptr);
#if SLUICE_ON_GPU
  // Large ones fill the link one by one: neighbouring pieces of one page come faster than those of several.
  constexpr std::uint32_t large = 2048;
  const bool one_by_one = team.any(mine.bytes >= large);
#endif
  while (rest != 0) {
    const std::uint32_t bit = rest & (~rest + 1);
    rest ^= bit;
    const frame_copy copy = detail::copy_of(team, mine, bit);
#if SLUICE_ON_GPU
    if (one_by_one) {
      detail::move_pieces(
          team, copy.frame, copy.from, copy.bytes,
          [](const std::byte* p) { return detail::load_from_anywhere(p); },
          [](std::byte* p, detail::piece v) { detail::store_to_frame(p, v); });
      continue;
    }
    const std::uint32_t next = rest & (~rest + 1);
    rest ^= next;
    detail::move_two(team, copy, detail::copy_of(team, mine, next));
#else
    for (std::uint32_t at = team.rank() * copy_piece; at < copy.bytes; at += team.size() * copy_piece) {
      if (at % 64 == 0) executor::schedule_point();
      detail::store_to_frame(copy.frame + at, copy.from + at);
    }
#endif
  }
}

/// Copies (part of) a frame that is writing to a staging area; nobody changes the frame meanwhile.
/// Lanes:  all lanes of the team, each copies its share; sync() the team, then let one lane submit.
template <class Team>
SLUICE_HD void copy_from_frame(const Team& team, std::byte* to, const std::byte* frame, std::uint32_t bytes) {
#if SLUICE_ON_GPU
  detail::move_pieces(
      team, to, frame, bytes, [](const std::byte* p) { return detail::load_from_frame(p); },
      [](std::byte* p, detail::piece v) { detail::store_anywhere(p, v); });
#else
  for (std::uint32_t at = team.rank() * copy_piece; at < bytes; at += team.size() * copy_piece) {
    if (at % 64 == 0) executor::schedule_point();
    std::memcpy(to + at, frame + at, copy_piece);
  }
#endif
}

}  // namespace sluice::lane
