// Where each byte of a volume lies: the arithmetic from a linear address to a drive and a block, for lanes.
#pragma once

#include <cstdint>

#include <cuda/std/bit>

#include "sluice/base/bits.h"
#include "sluice/base/types.h"
#include "sluice/lane/hd.h"

namespace sluice::drive {

enum class layout : std::uint8_t {
  stripe,  ///< unit u lies on drive u mod N
  mirror,  ///< every drive holds every byte
};

/// The largest page a cache may have; no unit is smaller, so that no page straddles drives.
inline constexpr std::uint64_t largest_page = 64 * KiB;
inline constexpr std::uint64_t largest_unit = MiB;
inline constexpr std::uint32_t most_drives = 1024;
inline constexpr std::uint32_t most_replicas = 64;  ///< bits of the mask of failed ones

/// A volume's shape in numbers; what volume_ref computes with.
struct volume_shape {
  layout how = layout::stripe;
  std::uint32_t drives = 1;
  std::uint32_t block_size = 512;
  std::uint64_t unit = largest_page;  ///< bytes that lie together on one drive
  std::uint64_t data_start = 0;       ///< bytes at the front of each drive that hold no data
  std::uint64_t drive_bytes = 0;      ///< data bytes on each drive, a multiple of the unit
  std::uint64_t failed = 0;           ///< mirror: bit i set where replica i must not be read

  SLUICE_HD constexpr std::uint64_t bytes() const {
    return how == layout::stripe ? drive_bytes * drives : drive_bytes;
  }
};

struct volume_place {
  std::uint32_t drive = 0;
  lba first;
};

/// A lane's view of a volume: pure arithmetic on a few words, without loops or memory. What lies between two
/// multiples of the unit lies on one drive, in consecutive blocks.
class volume_ref {
 public:
  volume_ref() = default;
  constexpr explicit volume_ref(const volume_shape& shape)
      : bytes_(shape.bytes()),
        data_start_(shape.data_start),
        reciprocal_(~std::uint64_t{0} / shape.drives + 1),
        alive_(replica_mask(shape) & ~shape.failed),
        drives_(shape.drives),
        unit_shift_(static_cast<std::uint8_t>(log2_exact(shape.unit))),
        block_shift_(static_cast<std::uint8_t>(log2_exact(shape.block_size))),
        striped_(shape.how == layout::stripe && shape.drives > 1) {}

  SLUICE_HD std::uint64_t bytes() const { return bytes_; }
  SLUICE_HD std::uint32_t drives() const { return drives_; }
  SLUICE_HD std::uint32_t block_size() const { return std::uint32_t{1} << block_shift_; }
  /// Copies of each byte: a write goes to every one that is alive.
  SLUICE_HD std::uint32_t replicas() const { return striped_ ? 1 : drives_; }
  SLUICE_HD bool alive(std::uint32_t replica) const { return ((alive_ >> replica) & 1) != 0; }
  /// The replicas that are alive, as bits, but for those of `left_out`.
  SLUICE_HD std::uint64_t live(std::uint64_t left_out = 0) const { return alive_ & ~left_out; }
  SLUICE_HD bool contains(std::uint64_t first_byte, std::uint64_t count) const {
    return first_byte <= bytes_ && count <= bytes_ - first_byte;
  }

  /// The block that holds `byte`, an address inside the volume, in copy `replica`.
  SLUICE_HD volume_place locate(std::uint64_t byte, std::uint32_t replica = 0) const {
    if (!striped_) return {replica, block(byte)};
    const std::uint64_t unit = byte >> unit_shift_;
    const std::uint64_t row = over_drives(unit);
    const std::uint64_t within = byte & ((std::uint64_t{1} << unit_shift_) - 1);
    return {static_cast<std::uint32_t>(unit - row * drives_), block((row << unit_shift_) | within)};
  }

  /// A live replica, of which there must be one, picked by a hash of the address and the asker, so that reads
  /// spread without a shared counter. The one after a failed replica takes its share. Each `attempt` more
  /// goes to the next one.
  SLUICE_HD std::uint32_t choose_replica(std::uint64_t byte, std::uint32_t lane, std::uint32_t attempt = 0,
                                         std::uint64_t left_out = 0) const {
    if (replicas() == 1) return 0;
    const std::uint64_t hash = mix((byte >> block_shift_) * 0x9e3779b97f4a7c15ULL + lane);
    std::uint32_t chosen =
        live_from(static_cast<std::uint32_t>(((hash >> 32) * drives_) >> 32), live(left_out));
    for (; attempt > 0; --attempt) chosen = live_from(chosen + 1, live(left_out));
    return chosen;
  }
  /// The replica that is `copy`-th among those alive.
  SLUICE_HD std::uint32_t live_replica(std::uint32_t copy) const {
    std::uint64_t rest = alive_;
    for (; copy > 0; --copy) rest &= rest - 1;
    return static_cast<std::uint32_t>(cuda::std::countr_zero(rest));
  }

 private:
  static constexpr std::uint64_t replica_mask(const volume_shape& shape) {
    if (shape.how == layout::stripe) return 1;
    return shape.drives >= most_replicas ? ~std::uint64_t{0} : (std::uint64_t{1} << shape.drives) - 1;
  }

  /// The first replica of `mask` from `first` on, and on from 0.
  SLUICE_HD static std::uint32_t live_from(std::uint32_t first, std::uint64_t mask) {
    const std::uint64_t later = first < most_replicas ? mask >> first : 0;
    return later != 0 ? first + static_cast<std::uint32_t>(cuda::std::countr_zero(later))
                      : static_cast<std::uint32_t>(cuda::std::countr_zero(mask));
  }

  SLUICE_HD lba block(std::uint64_t drive_byte) const { return {(data_start_ + drive_byte) >> block_shift_}; }

  /// unit / drives by multiplication. With r = floor(2^64 / d) + 1 the excess of r·d over 2^64 is at most d,
  /// so the quotient is exact for unit · d < 2^64; units are below 2^48 and drives at most 2^10. (A power of
  /// two divides 2^64 - 1 + 1 to the same r: floor((2^64 - 1) / d) + 1 = 2^64 / d, excess 0.)
  SLUICE_HD std::uint64_t over_drives(std::uint64_t unit) const {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(unit) * reciprocal_) >> 64);
  }

  std::uint64_t bytes_ = 0;
  std::uint64_t data_start_ = 0;
  std::uint64_t reciprocal_ = 0;
  std::uint64_t alive_ = 1;
  std::uint32_t drives_ = 1;
  std::uint8_t unit_shift_ = 16;
  std::uint8_t block_shift_ = 9;
  bool striped_ = false;
};

static_assert(largest_unit >= largest_page && most_drives <= (1U << 10));

}  // namespace sluice::drive
