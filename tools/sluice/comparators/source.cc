#include "tools/sluice/comparators/source.h"

#include <algorithm>
#include <vector>

#include "tools/sluice/comparators/host_room.h"

namespace sluice::tool {

comparison_source::comparison_source(backend on, std::uint32_t drives, std::uint64_t each,
                                     const drive_reader& read)
    : drives_(drives), each_(each) {
  constexpr std::uint64_t at_once = 4 * MiB;
  need_host_memory(drives * each, "give a smaller --span");
  bytes_ = memory::buffer(on, memory::place::pinned, drives * each);
  const auto all = bytes_.host_as<std::byte>();
  for (std::uint32_t d = 0; d < drives; ++d)
    for (std::uint64_t at = 0; at < each; at += at_once)
      read(d, at, all.subspan(d * each + at, std::min(at_once, each - at)));
  truth_ = memory::buffer(on, memory::place::device, drives * each / sector_bytes * sizeof(sector_truth));
  learn_truth();
}

void comparison_source::learn_truth() {
  constexpr std::size_t at_once = 65536;
  const auto words = bytes_.host_as<const std::uint64_t>();
  std::vector<sector_truth> part;
  for (std::size_t first = 0, count = words.size() / sector_words; first < count; first += at_once) {
    part.clear();
    for (std::size_t s = first; s < std::min(count, first + at_once); ++s)
      part.push_back(truth_of(words.subspan(s * sector_words, sector_words)));
    memory::copy_in(truth_.view(), first * sizeof(sector_truth), std::as_bytes(std::span(part)));
  }
}

source_file& comparison_source::file(std::uint32_t block_bytes) {
  if (file_->is_scratch() && !file_is_filled_) {
    file_->write(bytes_.host_as<const std::byte>());
    file_is_filled_ = true;
  }
  file_->open_for(block_bytes);
  return *file_;
}

}  // namespace sluice::tool
