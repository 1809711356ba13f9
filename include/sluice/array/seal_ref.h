// The seals of a volume as lanes see them: what they check when a page has come, and note before they write.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/crc32c.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"

namespace sluice {

/// One sealed dataset, by addresses in the volume.
struct seal_extent {
  std::uint64_t first_byte;
  std::uint64_t units;
  std::uint32_t unit_shift;
  const std::uint32_t* sums;  ///< one a unit; null where pages are not checked
  std::uint32_t* written;     ///< a bit a unit: it counts no more
};

/// Lies in lanes' memory, and the extents behind it.
struct seal_table {
  lane::crc32c_lookup lookup;
  std::uint64_t mismatches;  ///< pages that came and were not what they should be
  std::uint32_t extents;
  seal_extent extent[1];  ///< the first of them
};

/// Trivially copyable. Nothing where no dataset is sealed.
class seal_ref {
 public:
  seal_ref() = default;
  seal_ref(seal_table* table, bool checks) : table_(table), checks_(checks) {}

  SLUICE_HD bool any() const { return table_ != nullptr; }
  SLUICE_HD bool checks() const { return checks_; }

  /// Notes that these bytes will be written. Order: relaxed. Whoever loads them from the drive afterwards has
  /// acquired the frame's word, which got the write's report after its submission; the host looks after the
  /// end.
  SLUICE_HD void note_write(std::uint64_t byte, std::uint32_t bytes) const {
    if (lane::planted("seal.forget_write")) return;
    const seal_extent* const in = find(byte);
    if (in == nullptr) return;
    const std::uint64_t first = (byte - in->first_byte) >> in->unit_shift;
    const std::uint64_t last = (byte + bytes - 1 - in->first_byte) >> in->unit_shift;
    for (std::uint64_t unit = first; unit <= last && unit < in->units; ++unit) {
      const auto word = lane::on_device(in->written[unit / 32]);
      const std::uint32_t bit = 1U << (unit % 32);
      if ((word.load(lane::relaxed) & bit) == 0) word.fetch_or(bit, lane::relaxed);
    }
  }

  /// Whether the bytes of a page, as they came, are those that were sealed. Units that no seal covers pass.
  /// Lanes: all lanes of the team, one page, whole units.
  template <class Team>
  SLUICE_HD status check(const Team& team, std::uint64_t byte, const std::byte* frame,
                         std::uint32_t bytes) const {
    const seal_extent* const in = find(byte);
    if (in == nullptr) return {};
    const std::uint32_t unit_bytes = 1U << in->unit_shift;
    std::uint64_t unit = (byte - in->first_byte) >> in->unit_shift;
    bool good = true;
    for (std::uint32_t at = 0; at < bytes && unit < in->units; at += unit_bytes, ++unit) {
      if (lane::crc32c(team, table_->lookup, frame + at, unit_bytes) == in->sums[unit]) continue;
      // Only now: a unit that was written has its bit set before a byte of it could come to us.
      const std::uint32_t word = lane::on_device(in->written[unit / 32]).load(lane::relaxed);
      if (team.broadcast((word >> (unit % 32)) & 1) == 0) good = false;
    }
    if (good) return {};
    if (team.leads()) lane::on_device(table_->mismatches).fetch_add(1, lane::relaxed);
    return status::bad_checksum;
  }

 private:
  /// The extent that holds the byte, if any. They are few.
  SLUICE_HD const seal_extent* find(std::uint64_t byte) const {
    for (std::uint32_t i = 0; i < table_->extents; ++i) {
      const seal_extent& each = table_->extent[i];
      if (byte >= each.first_byte && (byte - each.first_byte) >> each.unit_shift < each.units) return &each;
    }
    return nullptr;
  }

  seal_table* table_ = nullptr;
  bool checks_ = false;
};

}  // namespace sluice
