// Two slots that take turns, so that a crash in the middle of an update leaves the manifest before it.
#include <algorithm>
#include <array>
#include <utility>

#include "drive/manifest_envelope.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::drive {

namespace {

constexpr std::uint64_t head_bytes = 4096;

std::uint64_t slot_start(std::uint32_t slot) { return slot * manifest_slot_bytes; }

/// A slot's bytes as far as they claim to reach.
std::vector<std::byte> read_slot(block_io& drive, std::uint32_t slot) {
  const std::uint64_t block = drive.block_size();
  std::vector<std::byte> bytes(std::max(head_bytes, block));
  drive.read(slot_start(slot), bytes);
  const std::size_t have = bytes.size();
  const std::size_t whole = align_up(stored_bytes(bytes), block);
  if (whole > have) {
    bytes.resize(whole);
    drive.read(slot_start(slot) + have, std::span(bytes).subspan(have));
  }
  return bytes;
}

void write_slot(block_io& drive, std::uint32_t slot, std::vector<std::byte> bytes) {
  bytes.resize(align_up(bytes.size(), drive.block_size()));
  drive.write(slot_start(slot), bytes);
  drive.flush();
}

struct both_slots {
  std::array<std::vector<std::byte>, 2> bytes;
  std::array<std::uint64_t, 2> sequence{};  ///< 0, which no manifest has, where the slot is not whole

  std::uint32_t newest() const { return sequence[1] > sequence[0] ? 1 : 0; }
};

both_slots read_both(block_io& drive) {
  both_slots slots;
  if (drive.bytes() < manifest_area_bytes) return slots;
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    slots.bytes[slot] = read_slot(drive, slot);
    if (const auto whole = open_envelope(slots.bytes[slot])) slots.sequence[slot] = whole->header.sequence;
  }
  return slots;
}

[[noreturn]] void refuse_without_manifest(const both_slots& slots, const std::string& name) {
  if (has_magic(slots.bytes[0]) || has_magic(slots.bytes[1]))
    throw error(error_kind::corrupt, "both copies of the volume's manifest are damaged",
                "import the data again; to give up what the drive holds, zero its first 1 MiB",
                {.drive = name});
  throw error(error_kind::bad_input, "the drive holds no volume", "import data into it first",
              {.drive = name});
}

}  // namespace

manifest_area look_at_manifest_area(block_io& drive) {
  std::vector<std::byte> area(std::min(manifest_area_bytes, drive.bytes()));
  drive.read(0, area);
  if (has_magic(area)) return manifest_area::volume;
  if (area.size() == manifest_area_bytes && has_magic(std::span(area).subspan(manifest_slot_bytes)))
    return manifest_area::volume;
  const bool zero = std::all_of(area.begin(), area.end(), [](std::byte b) { return b == std::byte{0}; });
  return zero ? manifest_area::blank : manifest_area::foreign;
}

stored_manifest read_manifest(block_io& drive) {
  const both_slots slots = read_both(drive);
  const std::uint32_t current = slots.newest();
  if (slots.sequence[current] == 0) refuse_without_manifest(slots, drive.name());
  try {
    stored_manifest found = decode(slots.bytes[current]);
    found.slot = current;
    return found;
  } catch (const error& e) {
    throw error(e.kind(), e.what(), e.mend(), {.drive = drive.name()});
  }
}

void write_manifest(block_io& drive, stored_manifest& next) {
  const std::uint32_t slot = 1 - next.slot;
  write_slot(drive, slot, encode(next.content, next.sequence));
  next.slot = slot;
}

void write_first_manifest(block_io& drive, stored_manifest& first) {
  const both_slots before = read_both(drive);
  first.slot = before.newest();
  first.sequence = before.sequence[first.slot] + 1;
  write_manifest(drive, first);
  write_slot(drive, 1 - first.slot, std::vector<std::byte>(sizeof(envelope_header)));
}

}  // namespace sluice::drive
