#include "tools/sluice/cache_run.h"

#include <algorithm>
#include <string>

#include "sluice/base/error.h"

namespace sluice::tool {

cached_options settings_of(const cache_bench_task& task) {
  // A command may time out and be tried again on other queues, but not for ever.
  constexpr std::uint64_t tries = 4;
  std::uint64_t longest = 0;
  for (const drive::drive* each : task.drives.drives())
    longest = std::max<std::uint64_t>(longest, each->info().deadline_ms);
  return {.cache_bytes = task.point.cache_bytes,
          .page_bytes = task.point.page_bytes,
          .queues = task.options.queues,
          .depth = task.options.depth,
          .patience_ms = tries * longest,
          .verify_pages = task.options.verify_pages,
          .tier_bytes = task.point.tier_bytes,
          .tier = task.point.tier_kind == "inclusive" ? cache::tier_kind::inclusive
                                                      : cache::tier_kind::exclusive};
}

void account_commands(const io_truth& io, cache_bench_result& result) {
  result.issued = io.commands.issued;
  result.served = io.commands.served;
  result.dropped = io.commands.dropped;
  result.mismatches = io.mismatches;
  result.tier_loads = io.cache.tier_loads;
  result.bytes_moved = io.bytes_moved;
  if (result.issued == result.served + result.dropped) return;
  throw error(error_kind::wrong_answer,
              "lanes issued " + std::to_string(result.issued) + " commands, and the drives served " +
                  std::to_string(result.served) + " and dropped " + std::to_string(result.dropped),
              "please report it with the command line and the machine");
}

void need_all_right(std::uint64_t wrong, std::uint64_t of, const char* where) {
  if (wrong == 0) return;
  throw error(error_kind::wrong_answer,
              std::to_string(wrong) + " of " + std::to_string(of) + " values read through " + where +
                  " were not what the drives hold",
              "please report it with the command line and the machine");
}

}  // namespace sluice::tool
