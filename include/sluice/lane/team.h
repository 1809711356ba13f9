// Lanes that act together. Algorithms take a team as an argument and are right for any size, also one.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "sluice/lane/executor.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"

namespace sluice::lane {

SLUICE_HD SLUICE_INLINE std::uint32_t bit_count(std::uint32_t x) {
#if SLUICE_ON_GPU
  return static_cast<std::uint32_t>(__popc(x));
#else
  return static_cast<std::uint32_t>(std::popcount(x));
#endif
}

/// Position of the lowest set bit; x is not 0.
SLUICE_HD SLUICE_INLINE std::uint32_t lowest_bit(std::uint32_t x) {
#if SLUICE_ON_GPU
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(x)) - 1);
#else
  return static_cast<std::uint32_t>(std::countr_zero(x));
#endif
}

/// Bits that x takes; 0 for 0.
SLUICE_HD SLUICE_INLINE std::uint32_t bit_width(std::uint64_t x) {
#if SLUICE_ON_GPU
  return static_cast<std::uint32_t>(64 - __clzll(static_cast<long long>(x)));
#else
  return static_cast<std::uint32_t>(std::bit_width(x));
#endif
}

/// A lane on its own: every collective is the identity.
class solo {
 public:
  SLUICE_HD constexpr std::uint32_t size() const { return 1; }
  SLUICE_HD constexpr std::uint32_t rank() const { return 0; }
  SLUICE_HD constexpr bool leads() const { return true; }
  SLUICE_HD constexpr std::uint32_t mask() const { return 1; }
  SLUICE_HD constexpr std::uint32_t bit() const { return 1; }
  SLUICE_HD void sync() const {}
  SLUICE_HD constexpr std::uint32_t ballot(bool yes) const { return yes ? 1U : 0U; }
  SLUICE_HD constexpr bool any(bool yes) const { return yes; }
  SLUICE_HD constexpr bool all(bool yes) const { return yes; }
  template <class T>
  SLUICE_HD T broadcast(T value) const {
    return value;
  }
  template <class T>
  SLUICE_HD T from(T value, std::uint32_t /*rank*/) const {
    return value;
  }
  template <class T>
  SLUICE_HD T of(T value, std::uint32_t /*bit*/) const {
    return value;
  }
  SLUICE_HD solo matching(std::uint64_t /*key*/) const { return {}; }
  SLUICE_HD solo subset(std::uint32_t /*mask*/) const { return {}; }
};

namespace detail {

// The collectives of lanes of one warp, named by a mask that all of them give.
#if SLUICE_ON_GPU
SLUICE_HD inline void meet(std::uint32_t mask) { __syncwarp(mask); }
SLUICE_HD inline std::uint32_t ballot(std::uint32_t mask, bool yes) {
  return __ballot_sync(mask, yes) & mask;
}
SLUICE_HD inline std::uint32_t match(std::uint32_t mask, std::uint64_t key) {
  return __match_any_sync(mask, static_cast<unsigned long long>(key));
}
template <class Word>
SLUICE_HD inline Word shuffle_word(std::uint32_t mask, Word value, std::uint32_t source) {
  return __shfl_sync(mask, value, static_cast<int>(source));
}
#else
SLUICE_HD inline void meet(std::uint32_t mask) { executor::meet(executor::collective::sync, mask, 0, 0); }
SLUICE_HD inline std::uint32_t ballot(std::uint32_t mask, bool yes) {
  return static_cast<std::uint32_t>(executor::meet(executor::collective::ballot, mask, yes ? 1 : 0, 0));
}
SLUICE_HD inline std::uint32_t match(std::uint32_t mask, std::uint64_t key) {
  return static_cast<std::uint32_t>(executor::meet(executor::collective::match, mask, key, 0));
}
template <class Word>
SLUICE_HD inline Word shuffle_word(std::uint32_t mask, Word value, std::uint32_t source) {
  return static_cast<Word>(executor::meet(executor::collective::shuffle, mask, value, source));
}
#endif

template <class T>
SLUICE_HD inline T shuffle(std::uint32_t mask, T value, std::uint32_t source) {
  static_assert(sizeof(T) <= 8);
  if constexpr (sizeof(T) == 8) {
    unsigned long long bits;
    memcpy(&bits, &value, 8);
    bits = shuffle_word(mask, bits, source);
    memcpy(&value, &bits, 8);
  } else {
    unsigned bits = 0;
    memcpy(&bits, &value, sizeof(T));
    bits = shuffle_word(mask, bits, source);
    memcpy(&value, &bits, sizeof(T));
  }
  return value;
}

/// Position in the warp of the lane of that rank among the mask's.
SLUICE_HD inline std::uint32_t nth_bit(std::uint32_t mask, std::uint32_t rank) {
  if (mask == 0xffffffffU) return rank;
  while (rank-- > 0) mask &= mask - 1;
  return lowest_bit(mask);
}

}  // namespace detail

/// Lanes of one warp, named by a mask (bit = position in the warp). All of them call each collective, in the
/// same order. Collectives order no memory, except sync(). `Self` has mask().
template <class Self>
class team_in_warp {
 public:
  SLUICE_HD std::uint32_t size() const { return bit_count(mask()); }
  /// Meets the team; memory written before it by one lane is seen after it by the others.
  SLUICE_HD void sync() const { detail::meet(mask()); }
  /// Lanes (bits by position in the warp) that say yes.
  SLUICE_HD std::uint32_t ballot(bool yes) const { return detail::ballot(mask(), yes); }
  SLUICE_HD bool any(bool yes) const { return ballot(yes) != 0; }
  SLUICE_HD bool all(bool yes) const { return ballot(yes) == mask(); }
  /// The value of the lane of rank 0. T: trivially copyable, at most 8 bytes.
  template <class T>
  SLUICE_HD T broadcast(T value) const {
    return detail::shuffle(mask(), value, lowest_bit(mask()));
  }
  /// The value of the lane of that rank.
  template <class T>
  SLUICE_HD T from(T value, std::uint32_t rank) const {
    return detail::shuffle(mask(), value, detail::nth_bit(mask(), rank));
  }
  /// The value of the lane whose bit of the mask that is.
  template <class T>
  SLUICE_HD T of(T value, std::uint32_t bit) const {
    return detail::shuffle(mask(), value, lowest_bit(bit));
  }

 private:
  SLUICE_HD std::uint32_t mask() const { return static_cast<const Self*>(this)->mask(); }
};

/// Any lanes of a warp.
class warp_team : public team_in_warp<warp_team> {
 public:
  SLUICE_HD explicit warp_team(std::uint32_t mask) : mask_(mask), bit_(1U << lane_index()) {}

  /// All lanes of the caller's warp. They must all be alive.
  SLUICE_HD static warp_team whole();
  /// Lanes that happen to be here together; at least the caller.
  SLUICE_HD static warp_team converged();

  /// The caller's position among the team, 0 to size() - 1.
  SLUICE_HD std::uint32_t rank() const { return bit_count(mask_ & (bit_ - 1)); }
  /// True for one lane of the team, the one of rank 0.
  SLUICE_HD bool leads() const { return (mask_ & (bit_ - 1)) == 0; }
  SLUICE_HD std::uint32_t mask() const { return mask_; }
  SLUICE_HD std::uint32_t bit() const { return bit_; }
  /// The lanes whose key equals the caller's.
  SLUICE_HD warp_team matching(std::uint64_t key) const { return warp_team(detail::match(mask_, key)); }
  /// Those lanes of the team that are in `mask`, which holds the caller.
  SLUICE_HD warp_team subset(std::uint32_t mask) const { return warp_team(mask_ & mask); }

 private:
  std::uint32_t mask_;
  std::uint32_t bit_;
};

/// All 32 lanes of a warp, which the compiler then knows: no registers for the mask, no code for less. For
/// launches whose blocks are whole warps.
class full_warp : public team_in_warp<full_warp> {
 public:
  SLUICE_HD static full_warp whole() { return {}; }

  SLUICE_HD std::uint32_t rank() const { return lane_index(); }
  SLUICE_HD bool leads() const { return rank() == 0; }
  SLUICE_HD constexpr std::uint32_t mask() const { return 0xffffffffU; }
  SLUICE_HD std::uint32_t bit() const { return 1U << rank(); }
  SLUICE_HD warp_team matching(std::uint64_t key) const { return warp_team(detail::match(mask(), key)); }
  SLUICE_HD warp_team subset(std::uint32_t mask) const { return warp_team(mask); }
};

SLUICE_HD inline warp_team warp_team::whole() {
#if SLUICE_ON_GPU
  const std::uint32_t rest = block_lanes() - (thread_index() & ~31U);
  const std::uint32_t lanes = rest < 32 ? rest : 32;
#else
  const std::uint32_t lanes = executor::self().warp_lanes;
#endif
  return warp_team(lanes == 32 ? 0xffffffffU : (1U << lanes) - 1);
}

SLUICE_HD SLUICE_INLINE warp_team warp_team::converged() {
#if SLUICE_ON_GPU
  // The caller's own bit, which is set anyway, keeps ptxas from taking the mask for the same in all lanes of
  // the warp: it would hold it in a register of the warp, while two such teams may well run through the same
  // code side by side (ptxas 13.0, sm_90: R2UR of the mask, and BRA.DIV by it; one team's shuffles then went
  // by the other's mask).
  return warp_team(__activemask() | (1U << lane_index()));
#else
  return warp_team(executor::converged());
#endif
}

/// Brings the lanes of the caller's warp together again after a branch in which some of them may have waited:
/// lanes that go on apart miss in teams of a few, which stand in each other's way (one H200, 2026-12-03, a
/// quarter of the accesses writing: 2.1 M accesses a second in place of 8.3 M). All lanes of the warp call
/// it. On the CPU backend lanes lose nothing apart, and it does nothing.
SLUICE_HD SLUICE_INLINE void rejoin_warp() {
#if SLUICE_ON_GPU
  warp_team::whole().sync();
#endif
}

/// The lanes of a warp that came to a line together, to be brought together again after what may part them:
/// see rejoin_warp(). On the CPU backend they are only the caller, for the same reason.
class companions {
 public:
  SLUICE_HD SLUICE_INLINE static companions here() {
#if SLUICE_ON_GPU
    return companions(warp_team::converged());
#else
    return companions(warp_team(1U << lane_index()));
#endif
  }
  SLUICE_HD std::uint32_t size() const { return team_.size(); }
  /// All of them call it.
  SLUICE_HD SLUICE_INLINE void rejoin() const { team_.sync(); }

 private:
  SLUICE_HD explicit companions(const warp_team& team) : team_(team) {}

  warp_team team_;
};

/// Meets every lane of the block.
SLUICE_HD SLUICE_INLINE void sync_block() {
#if SLUICE_ON_GPU
  __syncthreads();
#else
  executor::meet_block();
#endif
}

}  // namespace sluice::lane
