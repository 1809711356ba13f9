#include "sluice/base/sizes.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "sluice/base/error.h"

namespace sluice {

namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view what, const char* expected) {
  throw error(error_kind::bad_input,
              std::string(what) + " is '" + std::string(text) + "', which is not " + expected);
}

/// Shift of a unit suffix, or -1 where there is no such unit.
int unit_shift(std::string_view unit) {
  if (unit.empty() || unit == "B") return 0;
  constexpr std::string_view letters = "KMGTP";
  const auto at = letters.find(unit[0]);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = unit.substr(1);
  if (!rest.empty() && rest != "iB" && rest != "i") return -1;
  return static_cast<int>(10 * (at + 1));
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text, std::string_view what) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{}) refuse(text, what, "a size such as 512, 4KiB or 64GiB");
  const int shift = unit_shift(text.substr(static_cast<std::size_t>(end - text.data())));
  if (shift < 0) refuse(text, what, "a size such as 512, 4KiB or 64GiB");
  if (number > (std::numeric_limits<std::uint64_t>::max() >> shift))
    refuse(text, what, "a size below 16 EiB");
  return number << shift;
}

std::uint64_t parse_count(std::string_view text, std::string_view what) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hex ? text.substr(2) : text;
  std::uint64_t number = 0;
  const auto [end, fault] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (fault != std::errc{} || end != digits.data() + digits.size()) refuse(text, what, "a whole number");
  return number;
}

double parse_real(std::string_view text, std::string_view what) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
    refuse(text, what, "a number");
  return number;
}

std::string format_bytes(double bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.2f %s", bytes, units[unit]);
  return text.data();
}

}  // namespace sluice
