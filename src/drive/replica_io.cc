#include "sluice/drive/replica_io.h"

#include <utility>

#include "drive/by_unit.h"

namespace sluice::drive {

replica_io::replica_io(const volume_ref& where, block_drives drives, std::uint64_t unit)
    : where_(where), drives_(std::move(drives)), unit_(unit) {}

void replica_io::read(std::uint32_t replica, std::uint64_t first_byte, std::span<std::byte> to) const {
  // A mirror's replica holds all units one after another.
  const std::uint64_t together = replicas() > 1 ? ~std::uint64_t{0} >> 1 : unit_;
  by_unit(first_byte, to.size(), together, [&](std::uint64_t at, std::uint64_t offset, std::uint64_t count) {
    const volume_place place = locate(at, replica);
    drives_[place.drive]->read(place.first.value * block_size(), to.subspan(offset, count));
  });
}

void replica_io::write(std::uint32_t replica, std::uint64_t first_byte,
                       std::span<const std::byte> from) const {
  by_unit(first_byte, from.size(), unit_, [&](std::uint64_t at, std::uint64_t offset, std::uint64_t count) {
    const volume_place place = locate(at, replica);
    drives_[place.drive]->write(place.first.value * block_size(), from.subspan(offset, count));
  });
}

void replica_io::flush(std::uint32_t replica) const {
  if (replicas() > 1) return drives_[replica]->flush();
  for (const auto& drive : drives_) drive->flush();
}

}  // namespace sluice::drive
