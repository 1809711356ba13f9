// Copies that wait for their region's turn. Random small blocks of a large host memory miss the GPU's address
// translation; where all residents move bytes of one region at a time, and regions take turns, they hit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/answers.h"
#include "emulator/command_check.h"
#include "sluice/lane/atomic.h"

namespace sluice::emulator {

/// One queue's: copies in places of their own, and for each region a ring of the places that wait for it. All
/// calls are made by all lanes of the resident's warp.
class region_shelf {
 public:
  SLUICE_HD region_shelf(const resident_team& team, const resident_job& job, const resident_queue& q)
      : team_(team),
        job_(job),
        mask_(q.shelf_mask),
        copies_(reinterpret_cast<held_copy*>(q.shelf)),
        ends_(reinterpret_cast<std::uint32_t*>(copies_ + mask_ + 1)),
        spare_(reinterpret_cast<std::uint16_t*>(ends_ + job.regions)),
        rings_(spare_ + mask_ + 1) {}

  /// Bytes that a shelf takes; `places` is a power of two.
  static constexpr std::size_t bytes(std::size_t places, std::size_t regions) {
    return places * (sizeof(held_copy) + sizeof(std::uint16_t)) +
           regions * (sizeof(std::uint32_t) + places * sizeof(std::uint16_t));
  }
  /// Where the stack of spare places begins; it first holds each place once, all before it zeroes.
  static constexpr std::size_t spare_at(std::size_t places, std::size_t regions) {
    return places * sizeof(held_copy) + regions * sizeof(std::uint32_t);
  }

  /// Puts the copies of those lanes that have one on the shelf. `held`: how many lie there; there is room.
  SLUICE_HD void put(bool mine, const decoded& what, std::uint32_t command, std::uint32_t& held) const {
    const std::uint32_t lanes = team_.ballot(mine);
    const std::uint32_t region =
        static_cast<std::uint32_t>((what.block << job_.bounds.block_shift) >> job_.region_shift);
    // Lanes without a copy have a key each, so that they stand apart.
    const auto group = team_.matching(mine ? region : ~std::uint64_t{team_.rank()});
    if (mine) {
      const std::uint32_t place = spare_[mask_ - held - lane::bit_count(lanes & (team_.bit() - 1))];
      copies_[place] = {what.memory, what.block, what.bytes, command, what.op, {}};
      std::uint32_t ends = 0;
      if (group.leads()) {
        ends = ends_[region];
        ends_[region] = ends + (group.size() << 16);
      }
      ends = group.broadcast(ends);
      ring(region)[(first_of(ends) + count_of(ends) + group.rank()) & mask_] =
          static_cast<std::uint16_t>(place);
    }
    held += lane::bit_count(lanes);
    team_.sync();
  }

  SLUICE_HD std::uint32_t waiting(std::uint32_t region) const { return count_of(ends_[region]); }

  /// Takes up to a lane's worth each of the copies that wait for a region. Returns how many; the first lanes
  /// have one.
  SLUICE_HD std::uint32_t take(std::uint32_t region, decoded& what, std::uint32_t& command,
                               std::uint32_t& held) const {
    const std::uint32_t ends = ends_[region];
    const std::uint32_t n = count_of(ends) < team_.size() ? count_of(ends) : team_.size();
    team_.sync();
    if (team_.rank() < n) {
      const std::uint16_t place = ring(region)[(first_of(ends) + team_.rank()) & mask_];
      const held_copy& copy = copies_[place];
      what.memory = copy.memory;
      what.block = copy.block;
      what.bytes = copy.bytes;
      what.op = copy.op;
      what.todo = task::copy;
      command = copy.command;
      spare_[mask_ + 1 - held + team_.rank()] = place;
    }
    if (team_.leads()) ends_[region] = ((first_of(ends) + n) & mask_) | (count_of(ends) - n) << 16;
    held -= n;
    team_.sync();
    return n;
  }

 private:
  // A region's ring: where it begins, and how many places wait in it.
  SLUICE_HD static std::uint32_t first_of(std::uint32_t ends) { return ends & 0xffffU; }
  SLUICE_HD static std::uint32_t count_of(std::uint32_t ends) { return ends >> 16; }
  SLUICE_HD std::uint16_t* ring(std::uint32_t region) const {
    return rings_ + std::size_t{region} * (mask_ + 1);
  }

  const resident_team& team_;
  const resident_job& job_;
  std::uint32_t mask_;
  held_copy* copies_;
  std::uint32_t* ends_;
  std::uint16_t* spare_;
  std::uint16_t* rings_;
};

}  // namespace sluice::emulator
