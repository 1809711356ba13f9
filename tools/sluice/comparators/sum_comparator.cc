#include "tools/sluice/comparators/sum_comparator.h"

namespace sluice::tool {

sum_memory& sum_comparison::pinned() {
  if (!pinned_) pinned_.emplace(on_.kind(), memory::place::pinned, of_, seed_);
  return *pinned_;
}

const std::vector<sum_comparator>& sum_comparators() {
  static const std::vector<sum_comparator> all{
      {"copy-engine", sum_by_copy_engine}, {"zero-copy", sum_by_zero_copy}, {"in-memory", sum_in_memory}};
  return all;
}

}  // namespace sluice::tool
