// CRC32C by a team of lanes: each takes a piece, and what they have found is added up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sluice/base/crc32c.h"
#include "sluice/lane/hd.h"

namespace sluice::lane {

/// Pieces that bytes are cut into, at most.
inline constexpr std::uint32_t crc32c_pieces = 32;

/// a × b modulo the polynomial; bit 31 of both is the coefficient of x^0.
SLUICE_HD constexpr std::uint32_t crc32c_product(std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t polynomial = 0x82f63b78U;
  std::uint32_t product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    if (((a >> bit) & 1) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? polynomial : 0);
  }
  return product;
}

/// By what a checksum is multiplied when `bytes` bytes follow.
constexpr std::uint32_t crc32c_shift(std::uint64_t bytes) {
  std::uint32_t shift = 1U << 31;   // x^0
  std::uint32_t square = 1U << 23;  // x^8, then x^16, ...
  for (; bytes != 0; bytes >>= 1) {
    if ((bytes & 1) != 0) shift = crc32c_product(shift, square);
    square = crc32c_product(square, square);
  }
  return shift;
}

/// What lanes look up; lies in their memory. 8.1 KiB.
struct crc32c_lookup {
  std::uint32_t bytes[8][256];             ///< as in base/crc32c.h
  std::uint32_t shifts[8][crc32c_pieces];  ///< of unit 512 << i: after how many of its 32 pieces
};

/// Filled for units of 512 B to 64 KiB.
inline crc32c_lookup make_crc32c_lookup() {
  crc32c_lookup made{};
  for (std::size_t k = 0; k < 8; ++k)
    for (std::size_t byte = 0; byte < 256; ++byte)
      made.bytes[k][byte] = sluice::detail::crc32c_table[k][byte];
  for (std::uint32_t i = 0; i < 8; ++i)
    for (std::uint32_t piece = 0; piece < crc32c_pieces; ++piece)
      made.shifts[i][piece] = crc32c_shift(std::uint64_t{piece} * (512U << i) / crc32c_pieces);
  return made;
}

/// The register after `bytes` bytes (a multiple of 8, aligned to 8), without the inversions.
SLUICE_HD inline std::uint32_t crc32c_register(const crc32c_lookup& look, const std::byte* from,
                                               std::uint32_t bytes, std::uint32_t before) {
  const auto* words = reinterpret_cast<const std::uint64_t*>(from);
  std::uint32_t crc = before;
  for (std::uint32_t i = 0; i < bytes / 8; ++i) {
    const std::uint64_t word = words[i] ^ crc;
    crc = 0;
    for (std::uint32_t k = 0; k < 8; ++k) crc ^= look.bytes[7 - k][(word >> (8 * k)) & 0xff];
  }
  return crc;
}

/// CRC32C of `unit` bytes: a power of two from 512 to 64 KiB, aligned to 8, and all lanes of the team may
/// read them. The same in all lanes.
template <class Team>
SLUICE_HD std::uint32_t crc32c(const Team& team, const crc32c_lookup& look, const std::byte* from,
                               std::uint32_t unit) {
  std::uint32_t pieces = 1;
  std::uint32_t size = 0;  // which row of shifts
  while (pieces * 2 <= team.size() && pieces < crc32c_pieces) pieces *= 2;
  while ((512U << size) < unit) ++size;
  const std::uint32_t rank = team.rank();
  const std::uint32_t piece_bytes = unit / pieces;
  std::uint32_t sum = 0;
  if (rank < pieces) {
    sum = crc32c_register(look, from + std::uint64_t{rank} * piece_bytes, piece_bytes, rank == 0 ? ~0U : 0);
    sum = crc32c_product(look.shifts[size][(pieces - 1 - rank) * (crc32c_pieces / pieces)], sum);
  }
  for (std::uint32_t apart = 1; apart < pieces; apart *= 2)
    sum ^= team.from(sum, rank < pieces ? rank ^ apart : rank);
  return ~team.broadcast(sum);
}

}  // namespace sluice::lane
