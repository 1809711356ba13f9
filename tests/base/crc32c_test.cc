#include "sluice/base/crc32c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

std::uint32_t crc_of(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

TEST(crc32c, gives_the_published_values) {
  EXPECT_EQ(crc_of(""), 0U);
  EXPECT_EQ(crc_of("123456789"), 0xe3069283U);
  // RFC 3720, B.4: 32 zeros, 32 ones, 32 incrementing bytes.
  std::vector<std::byte> bytes(32);
  EXPECT_EQ(crc32c(bytes), 0x8a9136aaU);
  std::memset(bytes.data(), 0xff, bytes.size());
  EXPECT_EQ(crc32c(bytes), 0x62a8ab43U);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i);
  EXPECT_EQ(crc32c(bytes), 0x46dd794eU);
}

TEST(crc32c, goes_on_from_any_cut) {
  std::mt19937 random(1);
  std::vector<std::byte> bytes(100);
  for (std::byte& b : bytes) b = std::byte(random());
  const std::span<const std::byte> all(bytes);
  for (std::size_t cut = 0; cut <= all.size(); ++cut)
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all));
}

TEST(crc32c, is_known_while_compiling) {
  constexpr std::array nine{std::byte{'1'}, std::byte{'2'}, std::byte{'3'}, std::byte{'4'}, std::byte{'5'},
                            std::byte{'6'}, std::byte{'7'}, std::byte{'8'}, std::byte{'9'}};
  static_assert(crc32c(nine) == 0xe3069283U);
}

}  // namespace
}  // namespace sluice
