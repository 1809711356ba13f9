// A volume with one dataset that is written, sealed and spoiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/base/crc32c.h"
#include "sluice/drive/scrub.h"
#include "sluice/drive/volume.h"
#include "tests/drive/volume_fixture.h"

namespace sluice::test {

inline constexpr std::uint64_t sealed_bytes = 5 * drive::largest_page / 2 + 100;  // its last unit is not full
inline constexpr std::uint64_t sealed_units = divide_up(sealed_bytes, drive::usual_seal_unit);

inline std::vector<std::byte> pattern(std::uint64_t bytes, std::uint64_t seed) {
  std::vector<std::byte> made(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i)
    made[i] = static_cast<std::byte>(mix(seed * 7919 + i / 8) >> (8 * (i % 8)));
  return made;
}

/// Drives with a volume of the dataset "data", which lies in whole blocks.
inline shelf with_data(std::uint32_t drives, drive::layout how) {
  shelf made(drives, 2 * MiB);
  auto volume = drive::volume::create(made.drives(), how, drive::largest_page, "v");
  const drive::dataset data = volume.begin_dataset("data", "raw", sealed_bytes);
  volume.write(data.first_byte, pattern(align_up(sealed_bytes, 512), 1));
  volume.commit(data);
  made.restart([] { return false; });
  return made;
}
inline shelf with_seal(std::uint32_t drives, drive::layout how, std::uint32_t unit = drive::usual_seal_unit) {
  shelf made = with_data(drives, how);
  drive::volume::open(made.drives(), drive::access::write).seal_dataset("data", unit);
  made.restart([] { return false; });
  return made;
}

/// Another byte in that unit of the dataset, behind everybody's back.
inline void spoil(shelf& on, std::uint64_t unit, std::uint32_t replica = 0, std::uint64_t offset = 17) {
  const auto volume = drive::volume::open(on.drives());
  const drive::dataset data = volume.find("data");
  const std::uint64_t byte = data.first_byte + unit * data.sealed.value_or(drive::seal{}).unit + offset;
  const drive::volume_place at = volume.ref().locate(byte / 512 * 512, replica);
  on[at.drive].content()[at.first.value * 512 + byte % 512] ^= std::byte{1};
}

inline drive::scrub_report scrubbed(shelf& on, bool repair) {
  auto volume = drive::volume::open(on.drives(), repair ? drive::access::write : drive::access::read);
  return drive::scrub(volume, {.repair = repair});
}

/// Units whose sums count.
inline std::uint64_t covered(const drive::volume& in) {
  const drive::seal_record record = in.record_of(in.find("data"));
  std::uint64_t units = 0;
  for (std::uint64_t u = 0; u < record.shape().units; ++u) units += record.covers(u) ? 1 : 0;
  return units;
}
inline std::uint64_t covered(shelf& on) { return covered(drive::volume::open(on.drives())); }

}  // namespace sluice::test
