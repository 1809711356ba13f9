// Runs a kernel, and tasks beside it, under a schedule that a seed decides: the same seed, the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace sluice::lane::explore {

/// Who runs next, asked before every atomic operation.
enum class policy : std::uint8_t {
  random,        ///< anybody, each time
  one_in_eight,  ///< the same one, except each eighth time on average
  pct,           ///< the highest priority; `depth` - 1 times in a run the running one becomes the lowest
};

struct options {
  policy how = policy::random;
  std::uint64_t seed = 1;
  std::uint32_t depth = 3;             ///< pct only
  std::uint64_t expected_steps = 200;  ///< pct only: the changes of priority fall within so many steps
  std::uint64_t max_steps = 200'000;   ///< a run that takes more has failed: it makes no progress
  std::uint32_t blocks = 1;
  std::uint32_t warps = 1;
  std::uint32_t lanes = 32;            ///< of each warp
  std::uint32_t resident_blocks = 64;  ///< further blocks start as earlier ones end
};

struct result {
  bool ok = false;
  std::string why;          ///< what failed, or empty
  std::uint64_t steps = 0;  ///< schedule points and relaxations
  std::uint64_t hash = 0;   ///< of the schedule taken
};

/// Runs `kernel` on every lane and each of `tasks` once, on fibers of the calling thread.
/// A run fails by fail(), an exception, a misuse of the machine, or too many steps. A failed run's fibers are
/// dropped where they stand, without running destructors. The clock is simulated: a step takes 10 ns, a
/// relaxation 1 µs; where everybody only relaxes, it leaps, ever farther.
result run(const options& how, const std::function<void()>& kernel,
           const std::vector<std::function<void()>>& tasks = {});

/// Ends the running exploration: an oracle saw what must not be. For lanes and tasks of run().
[[noreturn]] void fail(std::string why);

const char* to_string(policy how);

}  // namespace sluice::lane::explore
