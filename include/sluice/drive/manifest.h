// What each drive of a volume remembers of the whole: its shape, its datasets, its failed replicas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sluice/drive/block_io.h"
#include "sluice/drive/seal.h"
#include "sluice/drive/volume_ref.h"

namespace sluice::drive {

enum class dataset_state : std::uint8_t { importing, complete };

/// A named run of bytes in a volume.
struct dataset {
  std::string name;
  std::string kind;              ///< "raw", "graph", ...: what its reader expects
  std::uint64_t first_byte = 0;  ///< address in the volume, a multiple of the largest page
  std::uint64_t bytes = 0;
  std::string meta = "{}";                  ///< JSON text, free-form
  std::optional<std::uint32_t> checksum{};  ///< CRC32C of its bytes, where the importer took one
  dataset_state state = dataset_state::importing;
  std::optional<seal> sealed{};  ///< only of a complete one

  friend bool operator==(const dataset&, const dataset&) = default;
};

/// The same on every drive, but for `drive`.
struct manifest {
  std::string uuid;  ///< 32 hexadecimal digits, drawn when the volume was created
  std::string name;
  std::uint32_t drive = 0;  ///< this drive's place among them
  std::uint32_t drives = 1;
  layout how = layout::stripe;
  std::uint64_t unit = largest_page;
  std::uint32_t block_size = 512;
  std::uint64_t drive_bytes = 0;  ///< data bytes on each drive
  std::uint64_t failed = 0;       ///< mirror: bit i set where replica i missed a write
  std::vector<dataset> datasets;

  friend bool operator==(const manifest&, const manifest&) = default;
  volume_shape shape() const;
};

/// A manifest as it lies on a drive. Two slots take turns: an update writes the one that is not current,
/// flushes, and by its higher sequence number becomes current. A crash at any byte leaves one whole slot.
struct stored_manifest {
  manifest content;
  std::uint64_t sequence = 0;
  std::uint32_t slot = 0;
};

/// The newest format. A manifest is written in the oldest that says all of it: 2 has seals, which a program
/// that does not know them would break.
inline constexpr std::uint32_t manifest_version = 2;
inline constexpr std::uint64_t manifest_slot_bytes = 512 * KiB;
inline constexpr std::uint64_t manifest_area_bytes = 2 * manifest_slot_bytes;

/// The bytes of a slot. Throws error{bad_input} where they exceed a slot, or a text is not UTF-8.
std::vector<std::byte> encode(const manifest& content, std::uint64_t sequence);
/// The inverse; checks every field. Throws error{corrupt}, or error{unavailable} for a newer format.
stored_manifest decode(std::span<const std::byte> slot);
/// Throws error{bad_input} naming the first field that no volume can have.
void check(const manifest& content);

/// What stands where a drive's manifest would be.
enum class manifest_area : std::uint8_t { blank, volume, foreign };
manifest_area look_at_manifest_area(block_io& drive);

/// The current manifest. Throws error{bad_input} where there is none, error{corrupt} where both slots are
/// damaged, error{unavailable} where a newer format wrote it.
stored_manifest read_manifest(block_io& drive);
/// Writes `next` to the slot other than `next.slot`, flushes, and names the slot written in `next.slot`.
void write_manifest(block_io& drive, stored_manifest& next);
/// Makes `first` the only manifest of a drive, whatever was there; sets its sequence and slot.
void write_first_manifest(block_io& drive, stored_manifest& first);

}  // namespace sluice::drive
