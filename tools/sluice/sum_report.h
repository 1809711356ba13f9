// What `sluice bench vector-add` found, for programs and for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/vector_add/vector_add.h"
#include "tools/sluice/command.h"
#include "tools/sluice/latency_counts.h"

namespace sluice::tool {

struct sum_report {
  std::vector<std::string> drives;
  vector_add::vectors vectors;
  vector_add::add_options options;
  std::uint64_t seed = 1;
  json machine{};
  std::vector<vector_add::add_outcome> trials{};
  double bare_bytes_per_s = 0;
  json comparators = json::array();
  json comparators_missing = json::array();
  std::string comparator_lines{};

  /// Of a trial, on average.
  double seconds() const;
  double bytes_per_s() const;
  json as_json() const;
  std::string as_text() const;

 private:
  double flush_seconds() const;
  vector_add::add_io io() const;
  latency_summary page_times() const;
  double amplification() const;
  double hit_rate() const;
  double ratio_to_bare() const;
  std::string times_text() const;
};

}  // namespace sluice::tool
