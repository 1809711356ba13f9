// What a comparator of the addition of vectors is: another way to the same sums, timed and checked in the
// same run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "apps/vector_add/vectors.h"
#include "sluice/lane/launch.h"
#include "tools/sluice/comparators/sum_memory.h"
#include "tools/sluice/process_time.h"

namespace sluice::tool {

/// The addition, and the vectors in pinned host memory that those share which start and end there.
class sum_comparison {
 public:
  sum_comparison(lane::machine& on, const vector_add::vectors& of, std::uint64_t seed, std::uint32_t trials,
                 std::function<bool()> stop)
      : on_(on), of_(of), seed_(seed), trials_(trials), stop_(std::move(stop)) {}

  lane::machine& on() const { return on_; }
  vector_add::element element() const { return of_.of; }
  std::uint64_t elements() const { return of_.elements; }
  std::uint32_t trials() const { return trials_; }
  bool stop() const { return stop_(); }
  /// A and B filled, made when they are first asked for. Throws error{unavailable} where the host lacks the
  /// memory.
  sum_memory& pinned();
  /// The same in GPU memory, for one comparator.
  sum_memory on_device() const { return {on_.kind(), memory::place::device, of_, seed_}; }

 private:
  lane::machine& on_;
  vector_add::vectors of_;
  std::uint64_t seed_;
  std::uint32_t trials_;
  std::function<bool()> stop_;
  std::optional<sum_memory> pinned_{};
};

struct sum_times {
  double seconds = 0;  ///< of all trials that were made
  double cpu_seconds = 0;
  std::uint32_t trials = 0;
};

/// Adds `trials` times, and checks every sum after each. Throws error{wrong_answer}, and error{unavailable}
/// where this machine cannot: the reason is printed, and nothing stands for the figure.
using sum_run = sum_times (*)(sum_comparison& what);

struct sum_comparator {
  const char* name;
  sum_run run;
};

/// All of them, in the order in which they are measured.
const std::vector<sum_comparator>& sum_comparators();

sum_times sum_by_copy_engine(sum_comparison& what);
sum_times sum_by_zero_copy(sum_comparison& what);
sum_times sum_in_memory(sum_comparison& what);

/// Calls `add()`, which says how many seconds it took, for each trial over `memory`, and checks its sums.
template <class Add>
sum_times each_trial(const sum_comparison& what, sum_memory& memory, const char* name, Add&& add) {
  sum_times times;
  for (; times.trials < what.trials() && !what.stop(); ++times.trials) {
    memory.spoil_sums();
    const double cpu_before = process_seconds();
    times.seconds += add();
    times.cpu_seconds += process_seconds() - cpu_before;
    memory.need_right(name);
  }
  return times;
}

}  // namespace sluice::tool
