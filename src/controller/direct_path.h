// The short way for the common command: a read or write of media in memory, in one piece. Everything else
// takes the executor's long way; both give the same answers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "controller/copy.h"
#include "controller/limits.h"
#include "controller/region_table.h"
#include "sluice/nvme/command.h"

namespace sluice::controller {

/// Belongs to one service thread. A small command costs less to move than to decode: this decodes it with a
/// few comparisons, and remembers the mapped extent that the last one touched.
class direct_path {
 public:
  /// `media`: the bytes of block 0, or null where media are not memory.
  explicit direct_path(std::byte* media) : media_(media) {}

  /// Call whenever regions change.
  void forget_regions() { known_ = {}; }

  /// Moves the bytes of `entry` and returns their number; 0 where the command needs the long way.
  std::uint64_t serve(const nvme::submission_entry& entry, const limits& bounds,
                      const region_table& regions) {
    constexpr auto read = static_cast<std::uint32_t>(nvme::opcode::read);
    constexpr auto write = static_cast<std::uint32_t>(nvme::opcode::write);
    // Opcode, FUSE and PSDT in one look: plain commands with PRPs, not fused (NVMe Base 2.0, figure 86).
    const std::uint32_t kind = entry.cdw0 & 0xffffU;
    if (media_ == nullptr || entry.nsid != 1 || (kind != read && (kind != write || !bounds.writable)))
      return 0;
    const std::uint64_t first = entry.cdw10 | std::uint64_t{entry.cdw11} << 32;
    const std::uint64_t count = (entry.cdw12 & 0xffffU) + std::uint64_t{1};
    const std::uint64_t bytes = count << bounds.block_shift;
    if (first >= bounds.blocks || count > bounds.blocks - first) return 0;
    // One PRP entry reaches to the end of its memory page (NVMe Base 2.0, 4.1.1).
    if ((entry.prp1 & 3U) != 0 || bytes > bounds.page - (entry.prp1 & (bounds.page - 1))) return 0;
    if (!known_.holds(entry.prp1, bytes)) known_ = regions.around({entry.prp1});
    if (!known_.holds(entry.prp1, bytes)) return 0;
    auto* const memory = reinterpret_cast<std::byte*>(entry.prp1);
    std::byte* const at = media_ + (first << bounds.block_shift);
    if (kind == read)
      copy_bytes(memory, at, bytes);
    else
      copy_bytes(at, memory, bytes);
    return bytes;
  }

 private:
  std::byte* media_;
  region_table::extent known_;
};

}  // namespace sluice::controller
