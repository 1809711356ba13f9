// CRC32C (Castagnoli, RFC 3720 appendix B.4): the checksum that manifests and datasets carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

namespace detail {

using crc32c_tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Table k holds the effect of a byte followed by k zero bytes, so that eight bytes are looked up at once.
constexpr crc32c_tables make_crc32c_tables() {
  constexpr std::uint32_t polynomial = 0x82f63b78U;  // 0x1edc6f41, bits reversed
  crc32c_tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}

inline constexpr crc32c_tables crc32c_table = make_crc32c_tables();

}  // namespace detail

/// CRC32C of `bytes`; pass the result for what came before to go on with it: crc32c(b, crc32c(a)) is that of
/// a then b.
constexpr std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  const auto& table = detail::crc32c_table;
  std::uint32_t crc = ~before;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < 8; ++i)
      word |= std::uint64_t{std::to_integer<std::uint8_t>(bytes[at + i])} << (8 * i);
    word ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= table[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; at < bytes.size(); ++at)
    crc = (crc >> 8) ^ table[0][(crc ^ std::to_integer<std::uint32_t>(bytes[at])) & 0xff];
  return ~crc;
}

}  // namespace sluice
