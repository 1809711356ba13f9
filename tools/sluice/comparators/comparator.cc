#include "tools/sluice/comparators/comparator.h"

namespace sluice::tool {

const std::vector<comparator>& comparators() {
  static const std::vector<comparator> all{
      {"zero-copy", run_zero_copy}, {"copy-engine", run_copy_engine},      {"uvm", run_uvm},
      {"cufile", run_cufile, true}, {"cpu-io_uring", run_cpu_uring, true}, {"cpu-served", run_cpu_served}};
  return all;
}

}  // namespace sluice::tool
