#include "sluice/drive/seal_record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice::drive {

namespace {

constexpr std::uint64_t sums_at_once = MiB;

}  // namespace

seal_record::seal_record(replica_io from, const dataset& of)
    : from_(std::move(from)),
      seal_(of.sealed.value()),
      shape_(of.bytes, seal_.unit, from_.block_size()),
      written_(shape_.written_words(), ~0U) {
  if (seal_.being_written) return;
  for (std::uint32_t i = 0; i < from_.replicas() && !counts(); ++i)
    if (from_.alive(i) && is_whole(i)) source_ = i;
  if (counts()) written_ = read_written(source_);
}

bool seal_record::is_whole(std::uint32_t replica) const {
  try {
    const std::vector<std::uint32_t> units = read_written(replica);
    return crc32c(std::as_bytes(std::span(units))) == seal_.written_checksum &&
           sums_checksum(replica) == seal_.sums_checksum;
  } catch (const error& e) {
    if (e.kind() != error_kind::io_failure) throw;
    return false;
  }
}

std::uint32_t seal_record::sums_checksum(std::uint32_t replica) const {
  std::vector<std::byte> part(std::min(sums_at_once, shape_.sums_bytes));
  const std::uint64_t all = shape_.units * sizeof(std::uint32_t);
  std::uint32_t checksum = 0;
  for (std::uint64_t at = 0; at < all; at += part.size()) {
    const std::span now = std::span(part).first(std::min<std::uint64_t>(part.size(), shape_.sums_bytes - at));
    from_.read(replica, seal_.first_byte + at, now);
    checksum = crc32c(now.first(std::min<std::uint64_t>(now.size(), all - at)), checksum);
  }
  return checksum;
}

std::vector<std::uint32_t> seal_record::read_written(std::uint32_t replica) const {
  std::vector<std::uint32_t> words(shape_.written_bytes / sizeof(std::uint32_t));
  from_.read(replica, seal_.first_byte + shape_.sums_bytes, std::as_writable_bytes(std::span(words)));
  words.resize(shape_.written_words());
  return words;
}

void seal_record::sums(std::uint64_t first, std::span<std::uint32_t> to) const {
  const std::uint64_t at = first * sizeof(std::uint32_t);
  std::vector<std::byte> blocks(align_up(to.size_bytes(), from_.block_size()));
  from_.read(source_, seal_.first_byte + at, blocks);
  std::memcpy(to.data(), blocks.data(), to.size_bytes());
}

}  // namespace sluice::drive
