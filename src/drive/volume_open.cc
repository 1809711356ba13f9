// How drives become a volume: a new one, the one that they already hold, or a raw one.
#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <random>
#include <utility>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/volume.h"

namespace sluice::drive {

namespace {

constexpr std::uint32_t unassigned = ~std::uint32_t{0};

std::string new_uuid() {
  std::random_device random;
  std::string uuid;
  for (int word = 0; word < 4; ++word) {
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", static_cast<unsigned>(random()));
    uuid += digits.data();
  }
  return uuid;
}

std::uint64_t usable_bytes(const block_io& drive, std::uint64_t data_start, std::uint64_t unit) {
  return drive.bytes() < data_start ? 0 : (drive.bytes() - data_start) / unit * unit;
}

/// Data bytes that every live drive has.
std::uint64_t common_bytes(const block_drives& drives, std::uint64_t failed, std::uint64_t data_start,
                           std::uint64_t unit) {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::size_t i = 0; i < drives.size(); ++i)
    if (i >= most_replicas || ((failed >> i) & 1) == 0)
      least = std::min(least, usable_bytes(*drives[i], data_start, unit));
  return least;
}

void note_unused_space(const block_drives& drives, std::uint64_t data_start, std::uint64_t unit,
                       std::uint64_t used, std::vector<std::string>& notes) {
  for (const auto& drive : drives) {
    const std::uint64_t usable = usable_bytes(*drive, data_start, unit);
    if (usable > used)
      notes.push_back(drive->name() + " is larger than the smallest drive of the volume: " +
                      format_bytes(static_cast<double>(usable - used)) + " of it stay unused");
  }
}

void need_equal_blocks(const block_drives& drives) {
  for (const auto& drive : drives)
    if (drive->block_size() != drives.front()->block_size())
      throw error(error_kind::bad_input,
                  "drives of one volume must have equal blocks, but " + drives.front()->name() + " has " +
                      std::to_string(drives.front()->block_size()) + " bytes and " + drive->name() + " has " +
                      std::to_string(drive->block_size()),
                  "use drives of one block size");
}

void need_replaceable(block_io& drive) {
  const manifest_area what = look_at_manifest_area(drive);
  if (what == manifest_area::blank) return;
  constexpr const char* mend = "name another drive; to give up what this one holds, zero its first 1 MiB";
  if (what == manifest_area::foreign)
    throw error(error_kind::bad_input, "the drive holds data that are no volume of sluice's", mend,
                {.drive = drive.name()});
  const manifest held = read_manifest(drive).content;
  if (!held.datasets.empty())
    throw error(error_kind::bad_input,
                "the drive already holds volume '" + held.name + "' with dataset '" +
                    held.datasets.front().name + "'",
                mend, {.drive = drive.name()});
}

/// What was found on one of the drives given.
struct candidate {
  std::shared_ptr<block_io> drive;
  std::optional<stored_manifest> stored;
  std::exception_ptr unreadable;
};

candidate look_at(std::shared_ptr<block_io> drive) {
  candidate result{.drive = std::move(drive), .stored = {}, .unreadable = {}};
  try {
    result.stored = read_manifest(*result.drive);
  } catch (const error& e) {
    if (e.kind() != error_kind::io_failure && e.kind() != error_kind::corrupt) throw;
    result.unreadable = std::current_exception();
  }
  return result;
}

const candidate& newest_of(const std::vector<candidate>& all) {
  const candidate* newest = nullptr;
  for (const candidate& each : all)
    if (each.stored && (newest == nullptr || each.stored->sequence > newest->stored->sequence))
      newest = &each;
  if (newest == nullptr) std::rethrow_exception(all.front().unreadable);
  return *newest;
}

/// True where two manifests describe one shape of one volume, whatever their age.
bool same_shape(const manifest& a, const manifest& b) {
  return a.drives == b.drives && a.how == b.how && a.unit == b.unit && a.block_size == b.block_size;
}

void need_agreement(const candidate& newest, const candidate& other) {
  const manifest& a = newest.stored->content;
  const manifest& b = other.stored->content;
  if (a.uuid != b.uuid)
    throw error(error_kind::bad_input,
                other.drive->name() + " belongs to volume '" + b.name + "', but " + newest.drive->name() +
                    " to another, '" + a.name + "'",
                "name the drives of one volume");
  manifest same = b;
  same.drive = a.drive;
  if (!same_shape(a, b) || (newest.stored->sequence == other.stored->sequence && !(same == a)))
    throw error(
        error_kind::corrupt,
        "the manifests of " + newest.drive->name() + " and " + other.drive->name() + " contradict each other",
        "import the data again");
}

/// Which candidate is drive i of the volume, by their manifests; `unassigned` where none is.
std::vector<std::uint32_t> seats(const std::vector<candidate>& all, const manifest& newest) {
  std::vector<std::uint32_t> seat(newest.drives, unassigned);
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i].stored) continue;
    std::uint32_t& taken = seat[all[i].stored->content.drive];
    if (taken != unassigned)
      throw error(error_kind::bad_input,
                  all[taken].drive->name() + " and " + all[i].drive->name() + " are both drive " +
                      std::to_string(all[i].stored->content.drive) + " of volume '" + newest.name + "'",
                  "name each drive once, and no copy of one");
    taken = i;
  }
  return seat;
}

/// Gives a mirror's unreadable replicas the seats that are left; the mask of those.
std::uint64_t seat_unreadable(const std::vector<candidate>& all, layout how, std::vector<std::uint32_t>& seat,
                              std::vector<std::string>& notes) {
  std::uint64_t failed = 0;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].stored) continue;
    const auto free = std::find(seat.begin(), seat.end(), unassigned);
    if (how == layout::stripe || free == seat.end()) std::rethrow_exception(all[i].unreadable);
    *free = i;
    failed |= std::uint64_t{1} << (free - seat.begin());
    notes.push_back("the manifest of " + all[i].drive->name() + " cannot be read; the replica is left out");
  }
  return failed;
}

void need_all_seats(const std::vector<std::uint32_t>& seat, std::size_t given, const manifest& content) {
  const auto missing = std::find(seat.begin(), seat.end(), unassigned);
  if (missing == seat.end()) return;
  throw error(error_kind::bad_input,
              "volume '" + content.name + "' has " + std::to_string(content.drives) + " drives, and drive " +
                  std::to_string(missing - seat.begin()) + " is not among the " + std::to_string(given) +
                  " given",
              "name all drives of the volume, in any order");
}

}  // namespace

volume::assembly volume::fresh(block_drives drives, layout how, std::uint64_t unit,
                               std::uint64_t data_start) {
  if (drives.empty()) throw error(error_kind::bad_input, "a volume needs a drive", "name at least one");
  need_equal_blocks(drives);
  manifest content;
  content.uuid = new_uuid();
  content.name = "raw";
  content.drives = static_cast<std::uint32_t>(drives.size());
  content.how = how;
  content.unit = unit;
  content.block_size = drives.front()->block_size();
  content.drive_bytes = is_power_of_two(unit) ? common_bytes(drives, 0, data_start, unit) : 0;
  if (is_power_of_two(unit) && content.drive_bytes == 0)
    throw error(error_kind::bad_input,
                "a drive of a volume needs at least " + format_bytes(static_cast<double>(data_start + unit)),
                "use larger drives");
  check(content);
  assembly parts{
      .drives = std::move(drives), .given_as = {}, .slots = {}, .newest = {.content = std::move(content)}};
  for (std::uint32_t i = 0; i < parts.newest.content.drives; ++i) parts.given_as.push_back(i);
  parts.slots.assign(parts.drives.size(), 0);
  note_unused_space(parts.drives, data_start, unit, parts.newest.content.drive_bytes, parts.notes);
  return parts;
}

volume volume::create(block_drives drives, layout how, std::uint64_t unit, std::string_view name,
                      on_existing what) {
  assembly parts = fresh(std::move(drives), how, unit, manifest_area_bytes);
  parts.newest.content.name = name;
  check(parts.newest.content);
  if (what == on_existing::refuse)
    for (const auto& drive : parts.drives) need_replaceable(*drive);
  for (std::uint32_t i = 0; i < parts.drives.size(); ++i) {
    stored_manifest first = parts.newest;
    first.content.drive = i;
    write_first_manifest(*parts.drives[i], first);
    parts.slots[i] = first.slot;
    parts.newest.sequence = std::max(parts.newest.sequence, first.sequence);
  }
  return volume(std::move(parts));
}

volume volume::raw(block_drives drives, layout how, std::uint64_t unit) {
  assembly parts = fresh(std::move(drives), how, unit, 0);
  parts.is_raw = true;
  return volume(std::move(parts));
}

volume::assembly volume::assemble(block_drives drives) {
  if (drives.empty())
    throw error(error_kind::bad_input, "a volume needs a drive", "name all drives of the volume");
  std::vector<candidate> all;
  for (auto& drive : drives) all.push_back(look_at(std::move(drive)));
  const candidate& newest = newest_of(all);
  for (const candidate& each : all)
    if (each.stored) need_agreement(newest, each);

  assembly parts;
  parts.newest = *newest.stored;
  manifest& content = parts.newest.content;
  std::vector<std::uint32_t> seat = seats(all, content);
  parts.unrecorded = seat_unreadable(all, content.how, seat, parts.notes) & ~content.failed;
  content.failed |= parts.unrecorded;
  need_all_seats(seat, all.size(), content);
  for (const std::uint32_t i : seat) {
    parts.drives.push_back(all[i].drive);
    parts.given_as.push_back(i);
    parts.slots.push_back(all[i].stored ? all[i].stored->slot : 0);
  }
  return parts;
}

volume volume::open(block_drives drives, access mode) {
  assembly parts = assemble(std::move(drives));
  parts.writable = mode == access::write;
  manifest& content = parts.newest.content;
  const std::uint64_t recorded_bytes = content.drive_bytes;
  for (std::uint32_t i = 0; i < content.drives; ++i) {
    const block_io& drive = *parts.drives[i];
    if (content.how == layout::mirror && ((content.failed >> i) & 1) != 0) {
      parts.notes.push_back(drive.name() + " missed a write and is not read until it is scrubbed");
      continue;
    }
    if (drive.block_size() != content.block_size ||
        usable_bytes(drive, manifest_area_bytes, content.unit) < recorded_bytes)
      throw error(error_kind::corrupt,
                  "the drive is smaller than when its volume was made, or has other blocks",
                  "restore its size, or import the data again", {.drive = drive.name()});
  }
  for (const dataset& each : content.datasets)
    if (each.sealed && each.sealed->being_written)
      parts.notes.push_back("a program ended while dataset '" + each.name +
                            "' was open to write: its seal covers nothing until it is sealed again");
  // Drives that have grown give the volume what they have in common.
  content.drive_bytes = common_bytes(parts.drives, content.failed, manifest_area_bytes, content.unit);
  note_unused_space(parts.drives, manifest_area_bytes, content.unit, content.drive_bytes, parts.notes);
  volume result(std::move(parts));
  if (mode == access::write && result.parts_.unrecorded != 0) result.record(result.parts_.unrecorded);
  return result;
}

bool volume::exists(const block_drives& drives) {
  return std::any_of(drives.begin(), drives.end(), [](const auto& drive) {
    return look_at_manifest_area(*drive) == manifest_area::volume;
  });
}

std::uint64_t volume::drive_bytes_for(std::uint64_t data_bytes, std::uint32_t drives, layout how,
                                      std::uint64_t unit) {
  const std::uint64_t share = how == layout::mirror ? data_bytes : divide_up(data_bytes, drives);
  // Whole units: the drive that holds the last unit of a row may hold one more than its share.
  const std::uint64_t units =
      how == layout::mirror ? divide_up(share, unit) : divide_up(divide_up(data_bytes, unit), drives);
  return manifest_area_bytes + std::max<std::uint64_t>(units, 1) * unit;
}

}  // namespace sluice::drive
