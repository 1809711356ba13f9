#include "controller/registered_memory.h"

#include <algorithm>

namespace sluice::controller {

namespace {

using mapping = region_table::mapping;

constexpr unsigned places = 256;
/// The most that the kernel takes as one buffer.
constexpr std::uint64_t largest = std::uint64_t{1} << 30;

/// Where a newer region lies over it, other pages may lie there than when it was given.
bool is_fresh(const mapping& region, const std::vector<mapping>& regions) {
  return std::none_of(regions.begin(), regions.end(), [&](const mapping& other) {
    return other.serial > region.serial && other.where.begin < region.where.end &&
           region.where.begin < other.where.end;
  });
}

std::vector<mapping> pieces_of(const std::vector<mapping>& regions) {
  std::vector<mapping> pieces;
  for (const mapping& region : regions) {
    if (!is_fresh(region, regions)) continue;
    for (std::uint64_t at = region.where.begin; at < region.where.end; at += largest)
      pieces.push_back({{at, std::min(at + largest, region.where.end)}, region.serial});
  }
  return pieces;
}

bool holds(const std::vector<mapping>& table, const mapping& piece) {
  return std::find(table.begin(), table.end(), piece) != table.end();
}

}  // namespace

registered_memory::registered_memory(io_uring& ring) {
  if (io_uring_register_buffers_sparse(&ring, places) == 0) table_.resize(places);
}

void registered_memory::exchange(io_uring& ring, const std::vector<mapping>& regions) {
  const std::vector<mapping> wanted = pieces_of(regions);
  for (std::size_t i = 0; i < table_.size(); ++i)
    if (table_[i] != mapping{} && !holds(wanted, table_[i])) set(ring, i, {});
  std::erase_if(refused_, [&](const mapping& piece) { return !holds(wanted, piece); });
  for (const mapping& piece : wanted) {
    if (holds(table_, piece) || holds(refused_, piece)) continue;
    const auto place = std::find(table_.begin(), table_.end(), mapping{});
    if (place == table_.end()) return;
    if (!set(ring, static_cast<std::size_t>(place - table_.begin()), piece)) refused_.push_back(piece);
  }
}

bool registered_memory::set(io_uring& ring, std::size_t index, const mapping& to) {
  const std::uint64_t bytes = to.where.end - to.where.begin;
  const iovec buffer{bytes == 0 ? nullptr : reinterpret_cast<void*>(to.where.begin), bytes};
  const int done =
      io_uring_register_buffers_update_tag(&ring, static_cast<unsigned>(index), &buffer, nullptr, 1);
  table_[index] = done == 1 ? to : mapping{};
  return done == 1;
}

int registered_memory::find(const iovec& bytes) const {
  const auto at = reinterpret_cast<std::uint64_t>(bytes.iov_base);
  const auto found = std::find_if(table_.begin(), table_.end(),
                                  [&](const mapping& each) { return each.where.holds(at, bytes.iov_len); });
  return found == table_.end() ? -1 : static_cast<int>(found - table_.begin());
}

}  // namespace sluice::controller
