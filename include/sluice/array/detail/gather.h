// Rows that a team brings in together: which bytes of which page each lane asks for, and how all of them copy
// what has come. Part of array_ref.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/lane/bytes.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"

namespace sluice::detail {

/// The bytes of one row that lie in one page, and where they go.
struct row_part {
  page_id page;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::byte* to = nullptr;
};

/// Part `part` of the row of `bytes` that starts at `first`: empty where the row touches fewer pages.
SLUICE_HD inline row_part part_of_row(std::uint64_t first, std::uint64_t bytes, std::uint32_t part,
                                      std::uint32_t page_shift, std::byte* to) {
  const std::uint64_t page = (first >> page_shift) + part;
  const std::uint64_t start = part == 0 ? first : page << page_shift;
  const std::uint64_t page_end = (page + 1) << page_shift;
  const std::uint64_t end = first + bytes < page_end ? first + bytes : page_end;
  if (start >= end) return {};
  return {{page},
          static_cast<std::uint32_t>(start - ((start >> page_shift) << page_shift)),
          static_cast<std::uint32_t>(end - start),
          to + (start - first)};
}

/// Copies the parts of all lanes whose page has come, each by several lanes in neighbouring words: a use of
/// pages for cache_ref::visit(). Word: what everything is a multiple of. `largest`: bytes of the largest
/// part.
template <class Word, class Team>
class part_copier {
 public:
  using whole_team = void;

  SLUICE_HD part_copier(const Team& team, const row_part& mine, std::uint32_t largest)
      : team_(team), mine_(mine), words_(largest / sizeof(Word)) {
    while (lanes_ < words_ && lanes_ * 2 <= team.size()) lanes_ *= 2;
  }

  SLUICE_HD void operator()(const std::byte* frame) const {
    constexpr std::uint32_t at_once = 4;
    const std::uint32_t side_by_side = team_.size() / lanes_;
    const std::uint32_t place = team_.rank() / lanes_;
    const std::uint32_t come = team_.ballot(frame != nullptr);
    for (std::uint32_t first = 0; first < team_.size(); first += side_by_side * at_once) {
      if (nothing_among(come, first, side_by_side * at_once)) continue;
      for (std::uint32_t word = team_.rank() % lanes_; word - team_.rank() % lanes_ < words_;
           word += lanes_) {
        Word got[at_once] = {};
        Word* to[at_once] = {};
        for (std::uint32_t k = 0; k < at_once; ++k) {
          const Word* const from =
              source(frame, first + k * side_by_side + place, place < side_by_side, word, to[k]);
          if (from != nullptr) got[k] = *from;
        }
        for (std::uint32_t k = 0; k < at_once; ++k)
          if (to[k] != nullptr) *to[k] = got[k];
      }
    }
  }

 private:
  /// In a whole warp ranks are positions; else nobody knows without asking.
  SLUICE_HD bool nothing_among(std::uint32_t come, std::uint32_t first, std::uint32_t count) const {
    if (team_.size() != 32) return false;
    const std::uint32_t from_first = come >> first;
    return (count >= 32 ? from_first : from_first & ((1U << count) - 1)) == 0;
  }
  /// The word of the part that the lane of rank `whose` asked for, and where it goes; null where there is
  /// none.
  SLUICE_HD const Word* source(const std::byte* frame, std::uint32_t whose, bool takes_part,
                               std::uint32_t word, Word*& to) const {
    const bool exists = takes_part && whose < team_.size();
    const std::uint32_t rank = exists ? whose : team_.rank();
    const auto* const start = team_.from(frame == nullptr ? nullptr : frame + mine_.offset, rank);
    std::byte* const target = team_.from(mine_.to, rank);
    const std::uint32_t bytes = team_.from(mine_.bytes, rank);
    if (!exists || start == nullptr || word * sizeof(Word) >= bytes) return nullptr;
    to = reinterpret_cast<Word*>(target) + word;
    return reinterpret_cast<const Word*>(start) + word;
  }

  const Team& team_;
  const row_part& mine_;
  std::uint32_t words_;
  std::uint32_t lanes_ = 1;  // that copy one part side by side
};

}  // namespace sluice::detail
