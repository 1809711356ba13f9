// Sizes, rates and numbers as people write and read them: "64GiB", "51M", "4096", "1e-3".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Bytes from "512", "4KiB", "64GiB", "1TiB", also "4K", "1G" (powers of 1024). Throws error{bad_input}
/// naming `what`.
std::uint64_t parse_bytes(std::string_view text, std::string_view what);

/// A non-negative whole number, decimal or 0x-hexadecimal. Throws error{bad_input} naming `what`.
std::uint64_t parse_count(std::string_view text, std::string_view what);

/// A finite real number. Throws error{bad_input} naming `what`.
double parse_real(std::string_view text, std::string_view what);

/// A number of things a second from "51M", "1.5k", "51e6" (k, M, G: powers of 1000). Throws error{bad_input}
/// naming `what`.
double parse_rate(std::string_view text, std::string_view what);

/// "4.0 KiB", "1.5 GiB": for people, three significant digits.
std::string format_bytes(double bytes);

/// "1.23 M", "12.3 k", "950": rates for people.
std::string format_rate(double number);

/// "1,234,567": exact counts for people.
std::string format_grouped(std::uint64_t number);

}  // namespace sluice
