// Raw I/O against drives, measured and checked: the engine behind `sluice bench io`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sluice/array/storage.h"
#include "sluice/lane/launch.h"
#include "tools/sluice/bare_copy.h"
#include "tools/sluice/io_kernel.h"
#include "tools/sluice/latency_counts.h"
#include "tools/sluice/steady_state.h"

namespace sluice::tool {

struct io_bench_options {
  std::uint32_t drives = 0;             ///< how many of those that are open, the first ones; 0: all
  std::uint32_t block_bytes = 512;      ///< of one command, a power of two
  queue::path path = queue::path::any;  ///< any: peer where all drives reach the lanes' memory
  std::uint32_t queues = 4;             ///< a drive
  std::uint32_t depth = 1024;
  std::uint64_t lanes = 0;    ///< 0: as many as the queues take commands
  std::uint32_t a_warp = 32;  ///< lanes of each warp that have commands
  std::uint32_t a_lane = 1;   ///< commands that each lane has in flight: 1, 2, 4 or 8
  io_pattern pattern = io_pattern::random;
  double write_share = 0;
  double seconds = 2;
  std::uint64_t span_bytes = GiB;  ///< of each drive, from its start
  bool fill = false;  ///< write known bytes first; else what the drives hold is read once for the truth
  std::uint64_t seed = 1;
};

struct io_bench_result {
  double seconds = 0;          ///< from steady_from on, where a steady state was reached, else in all
  double cpu_seconds = 0;      ///< of this process, controllers included; the same share of the timed pass
  std::uint64_t commands = 0;  ///< that lanes saw answered in `seconds`
  std::uint64_t issued = 0, served = 0, dropped = 0;
  std::uint64_t failed = 0;
  std::uint64_t wrong = 0;  ///< in the timed pass, by stamp, and in the untimed one, by every byte
  std::uint32_t queues_lost = 0;
  latency_summary latency;
  steady_state steady;
  double steady_from = 0;  ///< s
  double bare_iops = 0;    ///< the same blocks moved between the same memories without any queue
  status first_failure;
  std::string first_drive;
  lba first_block;
  std::uint64_t lanes = 0;
  std::uint32_t drives = 0;
  bool staged = false;

  double iops() const { return seconds > 0 ? static_cast<double>(commands) / seconds : 0; }
  double cores() const { return seconds > 0 ? cpu_seconds / seconds : 0; }
  double ratio_to_bare() const { return bare_iops > 0 ? iops() / bare_iops : 0; }
  bool verified() const { return wrong == 0 && failed == 0; }
};

/// Throws error{bad_input} for options that do not fit the drives.
void need_possible(const lane::machine& on, const storage& drives, const io_bench_options& options);
/// How many blocks of each drive it chooses among, a power of two. Throws as need_possible() does.
std::uint64_t blocks_chosen_among(const storage& drives, const io_bench_options& options);
/// Runs the benchmark on drives opened raw. `bare`: to measure the bare limit with, or null. It ends early
/// once `stop` says so. Throws error{bad_input} as need_possible() does, and for queues that a drive does not
/// grant.
io_bench_result run_io_bench(lane::machine& on, storage& drives, const io_bench_options& options,
                             bare_limits* bare, const std::function<bool()>& stop);

}  // namespace sluice::tool
