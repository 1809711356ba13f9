// Accesses through a cache, measured and checked: the engine behind `sluice bench cache`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "sluice/array/storage.h"
#include "sluice/base/types.h"
#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/io_bench.h"

namespace sluice::tool {

/// One point of the measurement. Names are those of the command line.
struct cache_bench_point {
  std::uint64_t cache_bytes = 64 * MiB;
  std::uint32_t page_bytes = 4096;
  std::uint64_t tier_bytes = 0;  ///< of host memory behind the cache
  std::string tier_kind = "exclusive";
  std::string mode = "optimized";
  std::string policy = "clock";
  std::string access = "element";
  std::string state = "cold";
  std::string pattern = "random";
  double write_share = 0;
  std::uint32_t element_bytes = 8;
  std::uint64_t row_bytes = 512;  ///< of a gather
};

struct cache_bench_options {
  std::uint32_t queues = 4;  ///< a drive
  std::uint32_t depth = 1024;
  std::uint64_t lanes = 0;                  ///< 0: as suits the machine
  double seconds = 2;                       ///< at most
  std::optional<std::uint64_t> accesses{};  ///< in all; then `seconds` is no limit
  std::uint64_t seed = 1;
  bool verify_pages = false;
};

/// What the elements of the measured run of bytes hold.
struct cache_bench_truth {
  std::uint64_t first_byte = 0;  ///< in the volume
  std::uint64_t bytes = 0;
  std::uint32_t element_bytes = 8;  ///< 0: stamps were stored over
  bool stamped = true;              ///< every element holds its stamp, and how often it was written
  memory::buffer copy{};            ///< where not stamped: what the drives hold, as the host read it
  std::uint64_t written = 0;        ///< how many writes the stamps count
};

struct cache_bench_result {
  std::uint64_t lanes = 0;
  double seconds = 0;
  double flush_seconds = 0;
  std::uint64_t accesses = 0, writes = 0;
  std::uint64_t wrong = 0;
  std::uint64_t issued = 0, served = 0, dropped = 0;
  std::uint64_t mismatches =
      0;  ///< pages that were not as they were sealed, and were had from another replica
  std::uint64_t tier_loads = 0;  ///< pages that the second tier served
  std::uint64_t bytes_needed = 0, bytes_moved = 0;
  double amplification = 0, hit_rate = 0;
  latency_summary latency;
  double bare_per_second = 0;  ///< the same accesses to plain memory, at most of the cache's size

  double per_second() const { return seconds > 0 ? static_cast<double>(accesses) / seconds : 0; }
};

/// One point to be measured, and on what.
struct cache_bench_task {
  lane::machine& on;
  storage& drives;
  cache_bench_truth& truth;
  const cache_bench_point& point;
  const cache_bench_options& options;
  const std::function<bool()>& stop_asked;
};

/// Throws error{bad_input} where no cache as the point has it can be opened over the drives.
void need_possible(const cache_bench_task& task);

/// Runs one point from an empty cache. Every value read is compared with the truth, every write is an
/// addition of one to an element: after the flush the host reads all elements, and their sum says whether one
/// was lost. Throws error{wrong_answer} where anything differs, error{io_failure} for the first failed
/// access.
cache_bench_result run_cache_bench(const cache_bench_task& task);
/// The same, behind run_cache_bench(), for a point whose access is not "element": a pass over elements in one
/// way, with nothing else in the lanes' loop; the median of three where the state is "hot". For stamped
/// elements.
cache_bench_result run_pass_bench(const cache_bench_task& task);
/// The same for "overlap": reads that were asked for a round ahead, `bare` being plain reads, each beside as
/// much computing as the reads alone take. For stamped elements of 8 bytes.
cache_bench_result run_overlap_bench(const cache_bench_task& task);

/// Tells how much has been done, in bytes; may throw to end it.
using bytes_done = std::function<void(std::uint64_t)>;
/// Writes stamps over the run of bytes, and flushes. `element_bytes`: 4 or 8.
cache_bench_truth stamp_elements(storage& drives, std::uint64_t first_byte, std::uint64_t bytes,
                                 std::uint32_t element_bytes, const bytes_done& tell);
/// Reads what the run of bytes holds, for lanes on `where`.
cache_bench_truth copy_elements(storage& drives, backend where, std::uint64_t first_byte, std::uint64_t bytes,
                                const bytes_done& tell);
/// Compares all elements with their stamps, as the host reads them. Throws error{wrong_answer}.
void check_elements(storage& drives, const cache_bench_truth& truth);
/// The same after a pass that stored to drawn elements: each holds its stamp, or what that pass leaves.
void check_stored(storage& drives, const cache_bench_truth& truth);
/// True where any byte is not zero.
bool holds_data(storage& drives, std::uint64_t first_byte, std::uint64_t bytes);

}  // namespace sluice::tool
