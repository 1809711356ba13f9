// Faults that a drive is asked to commit, so that everything above it can be shown to bear them.
#pragma once

#include <cstdint>
#include <optional>

#include "sluice/base/status.h"
#include "sluice/base/types.h"

namespace sluice::drive {

/// Blocks from `first` to `last`, both included.
struct lba_range {
  lba first, last;
};

/// All off by default. Rates are probabilities per I/O command, 0 to 1, drawn from `seed`. Numbers of
/// commands are counted from 0 on each queue, over all that bore its identifier.
struct fault_plan {
  static constexpr std::uint64_t no_command = ~std::uint64_t{0};

  double error_rate = 0;                   ///< complete with `code`, data untouched
  std::optional<lba_range> error_lba;      ///< the same for every command touching one of them
  std::uint64_t error_at = no_command;     ///< the same for the command of that number
  status code = status::from_nvme(0x281);  ///< default: unrecovered read error
  std::uint32_t delay_us = 0;              ///< hold each completion back
  double drop_rate = 0;                    ///< never complete; a dropped command leaves no trace on the media
  std::uint64_t drop_at = no_command;      ///< the same for the command of that number
  double tear_rate = 0;                    ///< a write reaches the media in part and is then dropped
  bool shuffle = false;                    ///< complete in another order than fetched
  std::uint64_t seed = 1;

  bool any() const {
    return error_rate > 0 || error_lba || error_at != no_command || delay_us > 0 || drop_rate > 0 ||
           drop_at != no_command || tear_rate > 0 || shuffle;
  }
};

}  // namespace sluice::drive
