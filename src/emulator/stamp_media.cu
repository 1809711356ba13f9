#include "emulator/stamp_media.h"

#include <cstdint>

#include "sluice/emulator/stamps.h"
#include "sluice/lane/identity.h"

namespace sluice::emulator {

namespace {

struct stamp_kernel {
  std::uint64_t* words;
  std::uint64_t count;

  SLUICE_HD void operator()() const {
    for (std::uint64_t n = lane::grid_index(); n < count; n += lane::grid_lanes()) words[n] = stamped_word(n);
  }
};

}  // namespace

void stamp_media(lane::machine* on, const memory::region& media) {
  const std::uint64_t count = media.bytes / sizeof(std::uint64_t);
  if (on != nullptr && on->kind() == backend::cuda) {
    constexpr std::uint32_t block_lanes = 256;
    const std::uint32_t blocks = lane::resident_blocks<stamp_kernel>(*on, block_lanes);
    lane::launch(*on, {blocks, block_lanes},
                 stamp_kernel{reinterpret_cast<std::uint64_t*>(media.lanes), count});
    return;
  }
  auto* const words = reinterpret_cast<std::uint64_t*>(media.host);
  for (std::uint64_t n = 0; n < count; ++n) words[n] = stamped_word(n);
}

}  // namespace sluice::emulator
