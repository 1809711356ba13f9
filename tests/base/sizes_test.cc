#include "sluice/base/sizes.h"

#include <gtest/gtest.h>

#include "sluice/base/error.h"

namespace sluice {
namespace {

TEST(sizes, reads_plain_and_suffixed_sizes) {
  EXPECT_EQ(parse_bytes("512", "size"), 512U);
  EXPECT_EQ(parse_bytes("4KiB", "size"), 4096U);
  EXPECT_EQ(parse_bytes("4K", "size"), 4096U);
  EXPECT_EQ(parse_bytes("64GiB", "size"), std::uint64_t{64} << 30);
  EXPECT_EQ(parse_bytes("8B", "size"), 8U);
}

TEST(sizes, refuses_what_is_not_a_size) {
  for (const char* text :
       {"", "KiB", "-1", "4Kib", "4 KiB", "4X", "1.5G", "99999999999999999999", "17179869184GiB"})
    EXPECT_THROW(parse_bytes(text, "size"), error) << text;
}

TEST(sizes, reads_counts_in_decimal_and_hexadecimal) {
  EXPECT_EQ(parse_count("100", "n"), 100U);
  EXPECT_EQ(parse_count("0x281", "n"), 0x281U);
  for (const char* text : {"", "0x", "-3", "1e3", "12 "}) EXPECT_THROW(parse_count(text, "n"), error) << text;
}

TEST(sizes, reads_reals_and_refuses_the_infinite) {
  EXPECT_DOUBLE_EQ(parse_real("1e-3", "rate"), 1e-3);
  for (const char* text : {"", "inf", "nan", "1x"}) EXPECT_THROW(parse_real(text, "rate"), error) << text;
}

TEST(sizes, reads_rates_with_and_without_a_suffix) {
  EXPECT_DOUBLE_EQ(parse_rate("51M", "rate"), 51e6);
  EXPECT_DOUBLE_EQ(parse_rate("51e6", "rate"), 51e6);
  EXPECT_DOUBLE_EQ(parse_rate("1.5k", "rate"), 1500);
  EXPECT_DOUBLE_EQ(parse_rate("2G", "rate"), 2e9);
  for (const char* text : {"", "M", "51MM", "51 M", "inf", "nan", "1e308G", "fast"})
    EXPECT_THROW(parse_rate(text, "rate"), error) << text;
}

TEST(sizes, writes_rates_short_and_counts_exactly) {
  EXPECT_EQ(format_rate(51e6), "51.00 M");
  EXPECT_EQ(format_rate(1.339e9), "1.34 G");
  EXPECT_EQ(format_rate(12345), "12.3 k");
  EXPECT_EQ(format_rate(950), "950");
  EXPECT_EQ(format_grouped(561), "561");
  EXPECT_EQ(format_grouped(16524), "16,524");
  EXPECT_EQ(format_grouped(1234567), "1,234,567");
}

TEST(sizes, names_the_thing_in_the_refusal) {
  try {
    parse_bytes("lots", "--cache");
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("--cache is 'lots'"), std::string::npos);
    EXPECT_EQ(e.kind(), error_kind::bad_input);
  }
}

}  // namespace
}  // namespace sluice
