#include "sluice/emulator/drive_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/drive/uri.h"

namespace sluice::emulator {

namespace {

constexpr double short_bytes = 512;
constexpr double long_bytes = 4096;

/// The rate of commands whose time lies `part` of the way from that at rate `from` to that at rate `to`.
/// Exact at both ends.
double between(double from, double to, double part) { return from * to / std::lerp(to, from, part); }

const std::string paper_table = dram_price_source;

drive_model p5800x() {
  return {.name = "p5800x",
          .what = "Intel Optane P5800X",
          .source = "command rates: " + paper_table + "; 11 µs: its section 2; bytes/s: Intel's data sheet",
          .latency_us = 11,
          .read = {5.1e6, 1.5e6, 7.2e9},
          .write = {1.0e6, 1.5e6, 6.2e9},
          .dollars_per_gb = 2.54,
          .price_source = paper_table};
}

drive_model pm1735() {
  return {.name = "pm1735",
          .what = "Samsung PM1735",
          .source = "command rates and 25 µs: " + paper_table + "; bytes/s: Samsung's data sheet",
          .latency_us = 25,
          .read = {1.1e6, 1.6e6, 8.0e9},
          .write = {351e3, 351e3, 3.8e9},
          .dollars_per_gb = 2.56,
          .price_source = paper_table};
}

drive_model samsung_980pro() {
  return {.name = "980pro",
          .what = "Samsung 980 Pro",
          .source = "command rates: " + paper_table +
                    "; 324 µs, under load: its section 2; bytes/s: Samsung's data sheet",
          .latency_us = 324,
          .read = {750e3, 750e3, 7.0e9},
          .write = {172e3, 172e3, 5.0e9},
          .dollars_per_gb = 0.51,
          .price_source = paper_table};
}

drive_model pm1753() {
  return {.name = "pm1753",
          .what = "Samsung PM1753 (PCIe 5.0)",
          .source =
              "reads of 512 B: a sixteenth of the 61.7 M/s of 16 drives that AiSIO reports; 4 KiB and "
              "bytes/s: as "
              "shown at FMS 2024 (AnandTech, 2024-08-13); assumptions: 60 µs, writes of 512 B as fast as of "
              "4 KiB",
          .latency_us = 60,
          .read = {61.7e6 / 16, 3.4e6, 14.8e9},
          .write = {600e3, 600e3, 11.0e9},
          .dollars_per_gb = std::nullopt,
          .price_source = {}};
}

drive_model storage_next() {
  return {.name = "storage-next",
          .what = "an SSD of 100 M reads/s, announced for 2027, no product yet",
          .source =
              "reads of 512 B: Kioxia's and NVIDIA's aim (Nikkei, by Tom's Hardware, September 2025); "
              "assumptions: "
              "all else: 10 µs, reads by bytes as many as those of 512 B, writes a tenth of reads",
          .latency_us = 10,
          .read = {100e6, 12.5e6, 51.2e9},
          .write = {10e6, 1.25e6, 5.12e9},
          .dollars_per_gb = std::nullopt,
          .price_source = {}};
}

}  // namespace

double drive_model::rate(direction way, std::uint64_t bytes) const {
  const transfer_rates& rates = way == direction::read ? read : write;
  const auto size = static_cast<double>(bytes);
  const double part = (std::clamp(size, short_bytes, long_bytes) - short_bytes) / (long_bytes - short_bytes);
  return std::min(between(rates.commands_512, rates.commands_4k, part), rates.bytes_per_s / size);
}

double drive_model::mixed_rate(std::uint64_t bytes, double write_share) const {
  return between(rate(direction::read, bytes), rate(direction::write, bytes), write_share);
}

std::span<const drive_model> drive_models() {
  static const std::array models{p5800x(), pm1735(), samsung_980pro(), pm1753(), storage_next()};
  return models;
}

const drive_model& find_drive_model(std::string_view name) {
  std::vector<std::string> names;
  for (const drive_model& model : drive_models()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  const std::string near = drive::nearest(name, names);
  throw error(error_kind::bad_input, "there is no drive model '" + std::string(name) + "'",
              (near.empty() ? "" : "did you mean '" + near + "'? ") + "use one of: " + drive_model_names());
}

std::string drive_model_names() {
  std::string names;
  for (const drive_model& model : drive_models()) names += (names.empty() ? "" : ", ") + model.name;
  return names;
}

}  // namespace sluice::emulator
