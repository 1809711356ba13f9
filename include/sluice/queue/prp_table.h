// Equal pieces of mapped memory that commands move whole: their PRP entries, with the lists written once and
// for all.
#pragma once

#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/lane/hd.h"
#include "sluice/memory/buffer.h"

namespace sluice::queue {

/// Data pointer of a command: PRP entry 1 and 2 (NVMe Base 2.0, 4.1.1).
struct prp_pair {
  bus_address first, second;
};

/// Lanes' view; trivially copyable.
struct prp_table_ref {
  bus_address data;               ///< piece 0
  bus_address lists;              ///< piece 0's list, where pieces are larger than two DMA pages
  std::uint32_t stride = 0;       ///< bytes from one piece to the next
  std::uint32_t list_stride = 0;  ///< the same for lists
  std::uint32_t dma_page = 4096;

  /// For a transfer of the first `bytes` of piece `index`.
  SLUICE_HD constexpr prp_pair of(std::uint64_t index, std::uint32_t bytes) const {
    const bus_address start = data + index * stride;
    if (bytes <= dma_page) return {start, {}};
    if (bytes <= 2 * dma_page) return {start, start + dma_page};
    return {start, lists + index * list_stride};
  }
};

/// Bytes from one piece to the next: small pieces never cross a DMA page, larger ones begin on one.
std::uint32_t piece_stride(std::uint32_t piece_bytes, std::uint32_t dma_page);

/// Owns the lists.
class prp_table {
 public:
  prp_table() = default;
  /// `data`: where `pieces` pieces of piece_stride(piece_bytes) lie on the drive's bus, on a DMA page.
  prp_table(drive::drive& on, backend lanes, bus_address data, std::uint32_t piece_bytes,
            std::uint64_t pieces);
  prp_table(prp_table&& other) noexcept = default;
  prp_table& operator=(prp_table&& other) noexcept;
  ~prp_table();

  const prp_table_ref& ref() const { return ref_; }

 private:
  void release();

  drive::drive* drive_ = nullptr;
  memory::buffer lists_;
  prp_table_ref ref_;
};

}  // namespace sluice::queue
