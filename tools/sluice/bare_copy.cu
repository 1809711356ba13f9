#include "tools/sluice/bare_copy.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/team.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/io_pattern.h"

namespace sluice::tool {

namespace {

struct bare_copy_kernel {
  std::byte* media;
  std::byte* buffers;  // one block a warp
  std::uint64_t blocks;
  std::uint32_t block_bytes;
  std::uint32_t rounds;
  std::uint32_t writes_in_1024;

  SLUICE_HD void operator()() const {
    const auto team = lane::warp_team::whole();
    const std::uint64_t warp = lane::warp_index();
    std::byte* const own = buffers + warp * block_bytes;
    for (std::uint32_t i = 0; i < rounds; ++i) {
      const std::uint64_t draw = mix(warp * 1315423911ULL + i);
      std::byte* const there = media + (draw >> 10) % blocks * block_bytes;
      if (draws_write(draw, writes_in_1024))
        lane::copy_from_frame(team, there, own, block_bytes);
      else
        lane::copy_into_frame(team, own, there, block_bytes);
    }
  }
};

bare_limit on_gpu(lane::machine& on, const bare_question& what) {
  const std::uint32_t block_bytes = what.block_bytes;
  constexpr std::uint32_t block_lanes = 256;
  const std::uint64_t bytes_in_all = what.media == memory::place::device ? 256 * GiB : 8 * GiB;
  const memory::buffer media(on.kind(), what.media, what.span_bytes);
  const std::uint32_t blocks = lane::resident_blocks<bare_copy_kernel>(on, block_lanes);
  const std::uint64_t warps = std::uint64_t{blocks} * block_lanes / 32;
  const memory::buffer own(on.kind(), memory::place::device, warps * block_bytes);
  const auto rounds =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, bytes_in_all / (warps * block_bytes)));
  const bare_copy_kernel kernel{media.lanes(), own.lanes(), what.span_bytes / block_bytes,
                                block_bytes,   rounds,      what.writes_in_1024};
  lane::launch(on, {blocks, block_lanes}, kernel);  // warms the translations up
  const double seconds = lane::launch(on, {blocks, block_lanes}, kernel).seconds;
  const double moved = static_cast<double>(warps) * rounds / seconds;
  return {moved, moved * block_bytes};
}

bare_limit on_cpu(const lane::machine& on, const bare_question& what) {
  const std::uint32_t block_bytes = what.block_bytes;
  const std::uint64_t span_bytes = what.span_bytes;
  const std::uint32_t writes_in_1024 = what.writes_in_1024;
  constexpr auto time = std::chrono::milliseconds(300);
  constexpr int blocks_a_look = 256;
  const memory::buffer media(backend::cpu, memory::place::host, span_bytes);
  std::memset(media.host(), 1, span_bytes);
  // Each thread has blocks of its own: some write where others would read.
  const std::uint64_t blocks = span_bytes / block_bytes;
  const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(on.processors(), blocks));
  const std::uint64_t each = blocks / count;
  std::vector<std::uint64_t> moved(count);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::byte> own(block_bytes);
      std::uint64_t n = std::uint64_t{t} << 40;
      std::uint64_t done = 0;
      for (const auto end = std::chrono::steady_clock::now() + time;
           std::chrono::steady_clock::now() < end;) {
        for (int i = 0; i < blocks_a_look; ++i) {
          const std::uint64_t draw = mix(++n);
          std::byte* const there = media.host() + (t * each + (draw >> 10) % each) * block_bytes;
          if (draws_write(draw, writes_in_1024))
            std::memcpy(there, own.data(), block_bytes);
          else
            std::memcpy(own.data(), there, block_bytes);
          asm volatile("" ::"r"(own.data()) : "memory");  // the copy is wanted
        }
        done += blocks_a_look;
      }
      moved[t] = done;
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto sum = static_cast<double>(std::accumulate(moved.begin(), moved.end(), std::uint64_t{0}));
  const double rate = sum / std::chrono::duration<double>(time).count();
  return {rate, rate * block_bytes};
}

}  // namespace

bare_limit measure_bare_copy(lane::machine& on, const bare_question& what) {
  return on.kind() == backend::cuda ? on_gpu(on, what) : on_cpu(on, what);
}

const bare_limit& bare_limits::of(const bare_question& what) {
  const auto [at, is_new] = known_.try_emplace(what);
  if (is_new) at->second = measure_bare_copy(on_, what);
  return at->second;
}

}  // namespace sluice::tool
