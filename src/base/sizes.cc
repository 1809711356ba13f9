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

double parse_rate(std::string_view text, std::string_view what) {
  constexpr std::string_view letters = "kMG";
  const auto at = text.empty() ? std::string_view::npos : letters.find(text.back());
  const bool scaled = at != std::string_view::npos;
  const std::string_view digits = scaled ? text.substr(0, text.size() - 1) : text;
  double number = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (scaled) number *= std::pow(1000.0, static_cast<double>(at + 1));
  if (fault != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(number))
    refuse(text, what, "a number such as 1500, 51M or 51e6");
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

std::string format_rate(double number) {
  std::array<char, 32> text{};
  const auto put = [&text](const char* how, double value) {
    std::snprintf(text.data(), text.size(), how, value);
    return std::string(text.data());
  };
  if (number >= 1e9) return put("%.2f G", number / 1e9);
  if (number >= 1e6) return put("%.2f M", number / 1e6);
  if (number >= 1e4) return put("%.1f k", number / 1e3);
  return put("%.0f", number);
}

std::string format_grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace sluice
