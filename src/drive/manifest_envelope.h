// The outer layer of a stored manifest, the same in every format version: mark, version, sequence, length,
// checksum.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sluice/drive/manifest.h"

namespace sluice::drive {

static_assert(std::endian::native == std::endian::little, "manifests are little-endian");

inline constexpr std::array<char, 8> envelope_magic{'S', 'L', 'U', 'I', 'C', 'E', 'V', '\n'};

struct envelope_header {
  std::array<char, 8> magic = envelope_magic;
  std::uint32_t version = 1;
  std::uint32_t crc = 0;  ///< CRC32C of this header with crc = 0, then of the body
  std::uint64_t sequence = 0;
  std::uint32_t body_bytes = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(envelope_header) == 32);

struct envelope {
  envelope_header header;
  std::span<const std::byte> body;
};

bool has_magic(std::span<const std::byte> slot);
/// Bytes that the slot beginning with `slot` claims to hold; 0 where it is none or claims nonsense.
std::size_t stored_bytes(std::span<const std::byte> slot);
/// The envelope, where its checksum fits.
std::optional<envelope> open_envelope(std::span<const std::byte> slot);
}  // namespace sluice::drive
