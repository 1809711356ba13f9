// `sluice bench`: the parent of the measurements.
#include "tools/sluice/command.h"

namespace sluice::tool {

void add_bench(CLI::App& program, context& with) {
  CLI::App& bench = *program.add_subcommand("bench", "measure, and check every value that was read");
  bench.require_subcommand(1);
  add_bench_io(bench, with);
  add_bench_cache(bench, with);
  add_bench_vector_add(bench, with);
}

}  // namespace sluice::tool
