#include "tools/sluice/drive_contents.h"

#include <algorithm>
#include <span>

#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

constexpr std::uint64_t part_bytes = 4 * MiB;

}  // namespace

/// Calls `act(io, first byte, first sector of all, words)` for each part of every drive's span; `words` is as
/// long as the part.
template <class Act>
void drive_contents::for_each_part(Act&& act) const {
  std::vector<std::uint64_t> words(std::min(part_bytes, span_) / 8);
  for (std::uint32_t d = 0; d < count_; ++d)
    for (std::uint64_t at = 0; at < span_; at += words.size() * 8)
      act(storage_.volume().drive_at(d), at, (d * span_ + at) / sector_bytes, std::span(words));
}

std::vector<sector_truth> drive_contents::learn() const {
  std::vector<sector_truth> truth(count_ * span_ / sector_bytes);
  for_each_part(
      [&](drive::block_io& io, std::uint64_t at, std::uint64_t sector, std::span<std::uint64_t> words) {
        io.read(at, std::as_writable_bytes(words));
        for (std::size_t s = 0; s * sector_words < words.size(); ++s)
          truth[sector + s] = truth_of(words.subspan(s * sector_words, sector_words));
      });
  return truth;
}

void drive_contents::fill() const {
  for_each_part(
      [&](drive::block_io& io, std::uint64_t at, std::uint64_t sector, std::span<std::uint64_t> words) {
        for (std::size_t i = 0; i < words.size(); ++i)
          words[i] = filled_word(sector + i / sector_words, static_cast<std::uint32_t>(i % sector_words));
        io.write(at, std::as_bytes(words));
      });
}

}  // namespace sluice::tool
