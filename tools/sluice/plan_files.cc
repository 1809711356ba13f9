#include "tools/sluice/plan_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/drive/uri.h"
#include "tools/sluice/command.h"
#include "tools/sluice/json_file.h"

namespace sluice::tool {

namespace {

constexpr const char* price_mend =
    R"(write $/GB of dram and of drive models, as in {"dram": 11.13, "p5800x": 2.54})";
constexpr const char* measured_mend = "give it what sluice bench io --json printed";

double price_of(const std::string& file, const std::string& key, const json& value) {
  if (!value.is_number() || value.get<double>() <= 0)
    throw error(error_kind::bad_input, "the price of '" + key + "' in '" + file + "' is no positive number",
                price_mend);
  return value.get<double>();
}

void need_known(const std::string& file, const std::string& name) {
  std::vector<std::string> known{"dram", measured_name};
  for (const emulator::drive_model& model : emulator::drive_models()) known.push_back(model.name);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::string near = drive::nearest(name, known);
  throw error(error_kind::bad_input, "'" + file + "' has a price of '" + name + "', which is no drive model",
              (near.empty() ? "" : "did you mean '" + near + "'? ") + "use dram, " + measured_name + ", " +
                  emulator::drive_model_names());
}

double measured_figure(const std::string& file, const json& result, const char* key) {
  constexpr double least = 1e-3;
  constexpr double most = 1e12;
  const json::json_pointer at(key);
  const double figure = result.contains(at) && result[at].is_number() ? result[at].get<double>() : 0;
  if (figure < least || figure > most)
    throw error(error_kind::bad_input,
                fmt::format("'{}' has no number from {} to {} at {}", file, least, most, key), measured_mend);
  return figure;
}

/// How many drives together made the figures of a result.
std::size_t drives_of(const json& config) {
  const auto drives = config.find("drives");
  return drives != config.end() && drives->is_array() && !drives->empty() ? drives->size() : 1;
}

/// The share of writes that was measured; reads only where nothing is said.
double mix_of(const json& config) {
  const auto mix = config.find("mix");
  const double share = mix != config.end() && mix->is_number() ? mix->get<double>() : 0;
  return std::clamp(share, 0.0, 1.0);
}

}  // namespace

void price_table::put_on(emulator::drive_model& model) const {
  const auto price = drives.find(model.name);
  model.dollars_per_gb.reset();
  model.price_source.clear();
  if (price == drives.end()) return;
  model.dollars_per_gb = price->second;
  model.price_source = source;
}

price_table read_prices(const std::string& file) {
  price_table prices{.source = file};
  const json table = read_object(file, price_mend);
  if (!table.contains("dram"))
    throw error(error_kind::bad_input, "'" + file + "' has no price of 'dram'", price_mend);
  for (const auto& [name, value] : table.items()) {
    need_known(file, name);
    (name == "dram" ? prices.dram : prices.drives[name]) = price_of(file, name, value);
  }
  return prices;
}

measured_drive read_measured(const std::string& file) {
  const json result = read_object(file, measured_mend);  // of a sweep, it has the keys of the fastest row
  measured_drive found;
  found.bytes = static_cast<std::uint64_t>(measured_figure(file, result, "/config/block"));
  found.write_share = mix_of(result["config"]);
  const std::size_t drives = drives_of(result["config"]);
  const double rate = measured_figure(file, result, "/iops") / static_cast<double>(drives);
  const emulator::transfer_rates rates{rate, rate, std::numeric_limits<double>::infinity()};
  found.model = {.name = measured_name,
                 .what = fmt::format("what {} holds, one of {}", file, drives),
                 .source = fmt::format("sluice bench io: {}, rate and p50 latency", file),
                 .latency_us = measured_figure(file, result, "/latency_us/p50"),
                 .read = rates,
                 .write = rates,
                 .dollars_per_gb = std::nullopt,
                 .price_source = {}};
  return found;
}

}  // namespace sluice::tool
