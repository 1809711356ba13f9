// One command that a lane wants done.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/report.h"
#include "sluice/base/types.h"
#include "sluice/nvme/command.h"
#include "sluice/queue/prp_table.h"

namespace sluice::queue {

struct io_request {
  nvme::opcode op = nvme::opcode::read;
  lba first = {};
  std::uint32_t blocks = 0;  ///< 0 for commands without a range (flush)
  std::byte* data =
      nullptr;              ///< lane address: where a read's bytes go, where a write's or compare's come from
  std::uint32_t bytes = 0;  ///< of data; 0 where the command moves none
  prp_pair prps = {};       ///< peer path: the data as the drive sees them; staged path: unused
  report_to to = {};
};

/// A command that was submitted: which ticket of which queue. Good for help(), also long after.
struct io_ticket {
  std::uint64_t value = ~std::uint64_t{0};
  constexpr bool valid() const { return value != ~std::uint64_t{0}; }
};

constexpr bool sends_data(nvme::opcode op) {
  return op == nvme::opcode::write || op == nvme::opcode::compare;
}

}  // namespace sluice::queue
