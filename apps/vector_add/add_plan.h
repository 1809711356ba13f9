// How many warps add, and how far ahead each asks for pages: arithmetic on the sizes of cache and queues.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::vector_add {

/// What an addition runs on.
struct add_ground {
  std::uint64_t frames = 0;          ///< of the cache
  std::uint64_t commands = 0;        ///< that all queues hold
  std::uint64_t resident_warps = 1;  ///< that the machine runs at once
  bool on_gpu = false;
};

struct add_plan {
  std::uint64_t warps = 1;
  std::uint32_t run = 1;  ///< pages of each vector that a warp takes at once
  bool ahead = false;     ///< asks for a run before it adds up the one before
};

/// Frames that a warp fills at once: two runs of A and of B, and a page of C.
constexpr std::uint64_t frames_of_warp(std::uint64_t run) { return 4 * run + 1; }

/// A quarter of the cache is for pages on their way in, up to half for dirty ones on their way out, the rest
/// for those in use; and the queues keep half of their places for what goes out. `wanted`: warps, or 0 for as
/// many as suit.
constexpr add_plan plan_for(const add_ground& on, std::uint64_t wanted) {
  constexpr std::uint64_t longest_run = 8;
  // On a GPU so many keep the link busy, and more than the most are in each other's way at the queues.
  const std::uint64_t usual = on.on_gpu ? 256 : 4, most = on.on_gpu ? 1024 : 8;
  const std::uint64_t room = std::min(on.frames / 4, on.commands / 2);
  const std::uint64_t for_warps = wanted != 0 ? std::min(wanted, on.resident_warps) : usual;
  const std::uint64_t share = std::max<std::uint64_t>(room / for_warps, 1);
  add_plan plan;
  plan.run = static_cast<std::uint32_t>(std::clamp<std::uint64_t>((share - 1) / 4, 1, longest_run));
  const std::uint64_t fitting = room / frames_of_warp(plan.run);
  plan.warps =
      wanted != 0 ? for_warps : std::clamp<std::uint64_t>(fitting, 1, std::min(most, on.resident_warps));
  plan.ahead = plan.warps <= fitting;
  return plan;
}

}  // namespace sluice::vector_add
