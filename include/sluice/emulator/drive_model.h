// A model of SSD in a few figures, each with its source: what `sluice plan` sizes by.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::emulator {

enum class direction : std::uint8_t { read, write };

/// What a drive does in one direction at most.
struct transfer_rates {
  double commands_512 = 0;  ///< a second, random, of 512 B
  double commands_4k = 0;   ///< a second, random, of 4 KiB
  double bytes_per_s = 0;   ///< however long the commands are
};

struct drive_model {
  std::string name;       ///< as people type it: "p5800x"
  std::string what;       ///< maker and product
  std::string source;     ///< where the figures are from, and which are assumptions
  double latency_us = 0;  ///< mean of a read at depth 1, or under load where `source` says so
  transfer_rates read, write;
  std::optional<double> dollars_per_gb;  ///< none: unknown
  std::string price_source;

  /// Commands a second of `bytes` each, all in one direction. Between 512 B and 4 KiB a command takes a fixed
  /// time and a time for each byte, as the rates at both ends have it; a shorter one takes as long as one of
  /// 512 B, since a drive moves whole blocks, and a longer one as one of 4 KiB. At no size do the bytes
  /// exceed `bytes_per_s`.
  double rate(direction way, std::uint64_t bytes) const;
  /// The same where `write_share` (0 to 1) of the commands write: reads and writes take turns.
  double mixed_rate(std::uint64_t bytes, double write_share) const;
};

/// The models that are built in, oldest first.
std::span<const drive_model> drive_models();

/// Throws error{bad_input} naming the nearest model where there is none of that name.
const drive_model& find_drive_model(std::string_view name);

/// "p5800x, pm1735, ...": for help and messages.
std::string drive_model_names();

/// Of a DRAM DIMM, $/GB, and whose figure that is.
inline constexpr double dram_dollars_per_gb = 11.13;
inline constexpr const char* dram_price_source =
    "BaM paper (ASPLOS '23, doi 10.1145/3575693.3575748), Table 2";

}  // namespace sluice::emulator
