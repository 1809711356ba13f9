// The first failure of a launch, as lanes leave it for the host.
#pragma once

#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"

namespace sluice {

enum class array_operation : std::uint32_t { read, write };

/// One failure. Zeroed memory is an empty mailbox. Lies where lanes and the CPU reach it (pinned memory on a
/// GPU).
struct mailbox {
  enum state : std::uint32_t { empty = 0, being_written = 1, full = 2 };

  std::uint32_t is = empty;
  std::uint32_t code = 0;       ///< status::bits()
  std::uint64_t element = 0;    ///< of the array
  std::uint64_t page = 0;       ///< of the volume
  std::uint32_t operation = 0;  ///< array_operation
  std::uint32_t failures = 0;   ///< how many accesses failed, this one included

  /// Keeps the first failure and counts all.
  /// Order: release at system scope; pairs with the host's acquire of `is`, or with the end of the launch.
  SLUICE_HD void put(status why, array_operation what, std::uint64_t at, std::uint64_t in_page) {
    lane::on_system(failures).fetch_add(1, lane::relaxed);
    std::uint32_t expected = empty;
    if (!lane::on_system(is).compare_exchange(expected, being_written, lane::relaxed)) return;
    code = why.bits();
    element = at;
    page = in_page;
    operation = static_cast<std::uint32_t>(what);
    lane::on_system(is).store(full, lane::release);
  }
};

}  // namespace sluice
