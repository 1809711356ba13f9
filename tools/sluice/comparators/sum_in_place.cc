// The comparators zero-copy and in-memory: lanes add vectors where they lie, in pinned host memory or in GPU
// memory.
#include "tools/sluice/comparators/plain_sum.h"
#include "tools/sluice/comparators/sum_comparator.h"

namespace sluice::tool {

namespace {

sum_times sum_in_place(const sum_comparison& what, sum_memory& memory, const char* name) {
  const auto add = [&] {
    return start_plain_sum(what.on(), what.element(), {memory.a(), memory.b(), memory.c(), what.elements()})
        ->wait()
        .seconds;
  };
  add();  // warms the translations up
  return each_trial(what, memory, name, add);
}

}  // namespace

sum_times sum_by_zero_copy(sum_comparison& what) { return sum_in_place(what, what.pinned(), "zero-copy"); }

sum_times sum_in_memory(sum_comparison& what) {
  sum_memory memory = what.on_device();
  return sum_in_place(what, memory, "in-memory");
}

}  // namespace sluice::tool
