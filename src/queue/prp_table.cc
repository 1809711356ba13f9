#include "sluice/queue/prp_table.h"

#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::queue {

std::uint32_t piece_stride(std::uint32_t piece_bytes, std::uint32_t dma_page) {
  if (piece_bytes >= dma_page) return static_cast<std::uint32_t>(align_up(piece_bytes, dma_page));
  return std::bit_ceil(piece_bytes);
}

prp_table::prp_table(drive::drive& on, backend lanes, bus_address data, std::uint32_t piece_bytes,
                     std::uint64_t pieces) {
  const std::uint32_t dma_page = on.info().dma_page;
  ref_ = {.data = data,
          .lists = {},
          .stride = piece_stride(piece_bytes, dma_page),
          .list_stride = 0,
          .dma_page = dma_page};
  if (piece_bytes <= 2 * dma_page) return;

  const std::uint32_t entries = ref_.stride / dma_page - 1;
  const std::uint32_t slots = std::bit_ceil(entries);  // a power of two, so that a list never crosses a page
  std::vector<std::uint64_t> all(pieces * slots);
  for (std::uint64_t piece = 0; piece < pieces; ++piece)
    for (std::uint32_t i = 0; i < entries; ++i)
      all[piece * slots + i] = data.value + piece * ref_.stride + std::uint64_t{i + 1} * dma_page;
  lists_ = memory::buffer(lanes, on.reachable_place(lanes), all.size() * sizeof(std::uint64_t));
  memory::copy_in(lists_.view(), 0, std::as_bytes(std::span(all)));
  drive_ = &on;
  ref_.list_stride = slots * static_cast<std::uint32_t>(sizeof(std::uint64_t));
  ref_.lists = on.map(lists_.view());
}

prp_table& prp_table::operator=(prp_table&& other) noexcept {
  release();
  drive_ = std::exchange(other.drive_, nullptr);
  lists_ = std::move(other.lists_);
  ref_ = other.ref_;
  return *this;
}

prp_table::~prp_table() { release(); }

void prp_table::release() {
  if (drive_ == nullptr || lists_.size() == 0) return;
  try {
    drive_->unmap(lists_.view());
  } catch (const error&) {
    // Nobody is left to tell; the drive's mappings end with the drive.
  }
}

}  // namespace sluice::queue
