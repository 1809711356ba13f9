#include "sluice/drive/volume.h"

#include <algorithm>
#include <utility>

#include "drive/by_unit.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/lane/mutant.h"

namespace sluice::drive {

namespace {

std::uint64_t all_replicas(std::uint32_t drives) {
  return drives < most_replicas ? (std::uint64_t{1} << drives) - 1 : ~std::uint64_t{0};
}

}  // namespace

volume::volume(assembly parts) : parts_(std::move(parts)) {}

volume_ref volume::ref_now() const {
  volume_shape shape = parts_.newest.content.shape();
  if (parts_.is_raw) shape.data_start = 0;
  return volume_ref(shape);
}

volume_ref volume::ref() const {
  const std::scoped_lock turn(*turn_);
  return ref_now();
}

std::uint64_t volume::bytes() const { return ref().bytes(); }

std::uint64_t volume::failed() const {
  const std::scoped_lock turn(*turn_);
  return parts_.newest.content.failed;
}

template <class Act>
std::uint64_t volume::on_live_drives(std::uint64_t failed, Act act) const {
  const bool mirrored = how() == layout::mirror;
  std::uint64_t now_failed = 0;
  for (std::uint32_t i = 0; i < drives(); ++i) {
    if (mirrored && ((failed >> i) & 1) != 0) continue;
    try {
      act(i);
    } catch (const error& e) {
      if (!mirrored || e.kind() != error_kind::io_failure) throw;
      now_failed |= std::uint64_t{1} << i;
      if ((failed | now_failed) == all_replicas(drives())) throw;
    }
  }
  return now_failed;
}

void volume::publish(manifest next) {
  for (std::uint64_t lost = ~std::uint64_t{0}; lost != 0;) {
    const std::uint64_t sequence = ++parts_.newest.sequence;
    lost = on_live_drives(next.failed, [&](std::uint32_t i) {
      next.drive = i;
      stored_manifest stored{.content = next, .sequence = sequence, .slot = parts_.slots[i]};
      write_manifest(*parts_.drives[i], stored);
      parts_.slots[i] = stored.slot;
    });
    next.failed |= lost;
  }
  parts_.newest.content = std::move(next);
}

void volume::record(std::uint64_t failed) {
  manifest next = parts_.newest.content;
  next.failed |= failed;
  if (parts_.is_raw) {
    parts_.newest.content = std::move(next);
    return;
  }
  publish(std::move(next));
}

void volume::record_failed(std::uint32_t index) {
  const std::scoped_lock turn(*turn_);
  const std::string& drive = parts_.drives.at(index)->name();
  if (how() == layout::stripe)
    throw error(error_kind::io_failure, "a write failed, and a striped volume keeps no second copy",
                "import the data again", {.drive = drive});
  const std::uint64_t failed = parts_.newest.content.failed | std::uint64_t{1} << index;
  if (failed == parts_.newest.content.failed) return;
  if (failed == all_replicas(drives()))
    throw error(error_kind::io_failure, "a write failed on the last replica of volume '" + name() + "'",
                "import the data again", {.drive = drive});
  record(failed);
}

void volume::readmit(std::uint32_t index) {
  const std::scoped_lock turn(*turn_);
  need_writable_manifest();
  const block_io& drive = *parts_.drives.at(index);
  manifest next = parts_.newest.content;
  const std::uint64_t before = std::exchange(next.failed, next.failed & ~(std::uint64_t{1} << index));
  if (next.failed == before) return;
  if (drive.block_size() != next.block_size || drive.bytes() < manifest_area_bytes + next.drive_bytes)
    throw error(error_kind::bad_input, "the drive is smaller than the volume, or has other blocks",
                "restore its size", {.drive = drive.name()});
  publish(std::move(next));
}

void volume::read_piece(std::uint64_t first_byte, std::span<std::byte> to) const {
  const volume_ref ref = ref_now();
  const std::uint32_t first = ref.choose_replica(first_byte, 0);
  std::uint32_t left = ref.replicas();
  for (std::uint32_t i = 0; i < ref.replicas(); ++i) {
    const std::uint32_t replica = (first + i) % ref.replicas();
    --left;
    if (!ref.alive(replica)) continue;
    const volume_place at = ref.locate(first_byte, replica);
    try {
      parts_.drives[at.drive]->read(at.first.value * block_size(), to);
      return;
    } catch (const error& e) {
      if (e.kind() != error_kind::io_failure || left == 0) throw;
    }
  }
}

void volume::write_piece(std::uint64_t first_byte, std::span<const std::byte> from) {
  const volume_ref ref = ref_now();
  if (ref.replicas() == 1) {
    const volume_place at = ref.locate(first_byte);
    parts_.drives[at.drive]->write(at.first.value * block_size(), from);
    return;
  }
  const std::uint64_t lost = on_live_drives(parts_.newest.content.failed, [&](std::uint32_t replica) {
    parts_.drives[replica]->write(ref.locate(first_byte, replica).first.value * block_size(), from);
  });
  if (lost != 0) record(lost);
}

void volume::read(std::uint64_t first_byte, std::span<std::byte> to) const {
  const std::scoped_lock turn(*turn_);
  if (!ref_now().contains(first_byte, to.size()))
    throw error(error_kind::bad_input, "a read reaches beyond the end of volume '" + name() + "'", {},
                {.code = status::out_of_range});
  by_unit(first_byte, to.size(), unit(), [&](std::uint64_t at, std::uint64_t offset, std::uint64_t count) {
    read_piece(at, to.subspan(offset, count));
  });
}

void volume::write(std::uint64_t first_byte, std::span<const std::byte> from) {
  const std::scoped_lock turn(*turn_);
  if (!ref_now().contains(first_byte, from.size()))
    throw error(error_kind::bad_input, "a write reaches beyond the end of volume '" + name() + "'", {},
                {.code = status::out_of_range});
  if (!lane::planted("seal.mark_late")) note_write(first_byte, from.size());
  by_unit(first_byte, from.size(), unit(), [&](std::uint64_t at, std::uint64_t offset, std::uint64_t count) {
    write_piece(at, from.subspan(offset, count));
  });
  if (lane::planted("seal.mark_late")) note_write(first_byte, from.size());
}

std::uint64_t volume::flush_live_drives() const {
  return on_live_drives(parts_.newest.content.failed, [&](std::uint32_t i) { parts_.drives[i]->flush(); });
}

void volume::flush() {
  const std::scoped_lock turn(*turn_);
  if (const std::uint64_t lost = flush_live_drives(); lost != 0) record(lost);
  if (writers_ == 0) settle_seals();
}

}  // namespace sluice::drive
