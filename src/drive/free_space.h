// What datasets and their seals take of a volume, and where there is room for more.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/drive/manifest.h"

namespace sluice::drive {

/// First byte and bytes of each run, in order.
std::vector<std::pair<std::uint64_t, std::uint64_t>> taken_runs(const manifest& content);

/// The first run of `bytes` that nothing takes, page-aligned.
std::optional<std::uint64_t> first_gap(const manifest& content, std::uint64_t bytes);

}  // namespace sluice::drive
