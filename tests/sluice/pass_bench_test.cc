// Every way of `sluice bench cache --access` sees that a drive holds something else than its stamps.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "tools/sluice/cache_bench.h"

namespace sluice::tool {
namespace {

struct way {
  const char* access;
  std::uint64_t accesses = 8192;
  std::uint32_t element_bytes = 4;
};
void PrintTo(const way& what, std::ostream* to) { *to << what.access; }

class passes : public ::testing::TestWithParam<way> {
 protected:
  static constexpr std::uint64_t bytes = 64 * KiB;

  passes() {
    point_.cache_bytes = 32 * KiB;
    point_.access = GetParam().access;
    point_.element_bytes = GetParam().element_bytes;
    options_.lanes = 64;
    options_.accesses = GetParam().accesses;
    truth_ = stamp_elements(drives_, 0, bytes, point_.element_bytes, [](std::uint64_t) {});
  }
  /// The first block of a page: the pass over pages reads one of its first eight elements.
  void spoil_a_block() {
    constexpr std::uint64_t where = 3 * std::uint64_t{4096};
    std::vector<std::byte> block(512);
    drives_.volume().read(where, block);
    for (std::byte& each : block) each ^= std::byte{0x40};
    drives_.volume().write(where, block);
  }
  cache_bench_result run() { return run_cache_bench({*machine_, drives_, truth_, point_, options_, never_}); }

  std::unique_ptr<lane::machine> machine_ = lane::machine::cpu(2);
  storage drives_ = storage::raw(std::vector<std::string>{"mem:64KiB"}, {.mode = drive::access::write});
  cache_bench_truth truth_;
  cache_bench_point point_;
  cache_bench_options options_;
  std::function<bool()> never_ = [] { return false; };
};

TEST_P(passes, are_right_over_stamps) {
  for (const char* state : {"cold", "hot"}) {
    if (point_.access == "overlap" && std::string(state) == "hot") continue;
    point_.state = state;
    const cache_bench_result result = run();
    EXPECT_GT(result.per_second(), 0) << state;
    EXPECT_GT(result.bare_per_second, 0) << state;
    EXPECT_EQ(result.issued, result.served) << state;
  }
}

TEST_P(passes, see_what_is_not_a_stamp) {
  spoil_a_block();
  try {
    run();
    FAIL() << "nothing was seen";
  } catch (const error& told) {
    EXPECT_EQ(told.kind(), error_kind::wrong_answer) << told.what();
  }
}

// The stores are few, so that the spoiled block is not all stored over.
INSTANTIATE_TEST_SUITE_P(ways, passes,
                         ::testing::Values(way{"load"}, way{"store", 64}, way{"pages"}, way{"loop"},
                                           way{"walk"}, way{"span"}, way{"gather", 1024},
                                           way{"overlap", 64, 8}),
                         [](const auto& info) { return std::string(info.param.access); });

}  // namespace
}  // namespace sluice::tool
