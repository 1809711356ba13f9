// What the command line of `sluice bench cache` says, and what of it goes together.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/sluice/cache_bench.h"
#include "tools/sluice/command.h"
#include "tools/sluice/result_files.h"
#include "tools/sluice/sweep.h"

namespace sluice::tool {

struct cache_choice {
  drive_choice drives;
  std::string dataset;
  cache_bench_point point;
  cache_bench_options run;
  std::optional<unsigned> controllers;
  std::uint64_t span_bytes = 0;
  bool destroy = false;
  bool seconds_told = false;
  sweep_choice sweep;
  result_files_choice files;
};

/// `choice` lives as long as `command`.
void add_cache_options(CLI::App& command, cache_choice& choice);

/// All values of the axes that are swept, every one with every other. `bytes`: how many are measured.
std::vector<cache_bench_point> points_of(const cache_choice& choice, std::uint64_t bytes);

/// Whether any point writes.
bool writes(const cache_choice& choice);

/// Throw error{bad_input} for what does not go together: of all points, and of one.
void need_known(const cache_choice& choice);
void need_known(const cache_bench_point& point, const cache_choice& choice);

}  // namespace sluice::tool
