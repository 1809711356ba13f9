// From a URI to a kernel that indexes it: what array<T> promises to a program.
#include "sluice/array/array.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "tests/support/scratch_file.h"

namespace sluice {
namespace {

using numbers = array<std::uint32_t>;

/// Adds one to each element that is `step` from the last.
struct add_one {
  numbers::ref_type to;
  std::uint64_t step;
  SLUICE_HD void operator()() const {
    for (std::uint64_t i = lane::grid_index() * step; i < to.size(); i += lane::grid_lanes() * step)
      to[i] = to[i] + 1;
  }
};

class array_of_a_file : public ::testing::Test {
 protected:
  static constexpr std::uint32_t count = 64 * KiB / sizeof(std::uint32_t);

  array_of_a_file() {
    std::vector<std::uint32_t> values(count);
    std::iota(values.begin(), values.end(), 7U);
    std::ofstream(file_.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), count * sizeof(std::uint32_t));
  }
  std::string uri(const std::string& options = "") const { return "file:" + file_.path() + options; }
  std::vector<std::uint32_t> bytes_on_disk() const {
    std::vector<std::uint32_t> values(count);
    std::ifstream(file_.path(), std::ios::binary)
        .read(reinterpret_cast<char*>(values.data()), count * sizeof(std::uint32_t));
    return values;
  }
  lane::machine& machine() { return *machine_; }

 private:
  test::scratch_file file_;
  std::unique_ptr<lane::machine> machine_ =
      lane::machine::has_cuda() ? lane::machine::cuda() : lane::machine::cpu();
};

TEST_F(array_of_a_file, holds_what_the_file_holds_and_writes_back_what_lanes_wrote) {
  auto opened = numbers::open(machine(), uri(), drive::access::write);
  ASSERT_EQ(opened.size(), count);
  lane::launch(machine(), {.blocks = 2, .block_lanes = 64}, add_one{opened.ref(), 3});
  opened.sync();
  opened.flush();
  const std::vector<std::uint32_t> values = bytes_on_disk();  // while the array is still open
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i + 7 + (i % 3 == 0 ? 1 : 0)) << i;
  const io_truth truth = opened.truth();
  EXPECT_EQ(truth.commands.issued, truth.commands.served);
}

TEST_F(array_of_a_file, throws_the_first_failure_with_its_place) {
  auto opened = numbers::open(machine(), uri("?error_lba=16&status=0x281"), drive::access::write);
  lane::launch(machine(), {.blocks = 1, .block_lanes = 32}, add_one{opened.ref(), 1});
  try {
    opened.sync();
    FAIL() << "a bad block went unnoticed";
  } catch (const error& told) {
    EXPECT_EQ(told.kind(), error_kind::io_failure);
    EXPECT_EQ(told.place().code, status::from_nvme(0x281)) << told.what();
    EXPECT_EQ(told.place().block, lba{16}) << told.what();
  }
  EXPECT_NO_THROW(opened.sync()) << "a failure is thrown once";
}

// A flush that was not answered in time once kept the words that its answer would have come to, also where
// the loss of its queue had ended it: every later flush waited for them until its patience was over.
TEST_F(array_of_a_file, ends_each_flush_by_the_drives_deadline) {
  auto opened = numbers::open(machine(), uri("?drop_rate=1&deadline_ms=50"), drive::access::write);
  const auto began = std::chrono::steady_clock::now();
  for (int k = 0; k < 3; ++k) EXPECT_THROW(opened.flush(), error);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST_F(array_of_a_file, refuses_lanes_writes_where_it_was_opened_for_reading) {
  auto opened = numbers::open(machine(), uri());
  lane::launch(machine(), {.blocks = 1, .block_lanes = 32}, add_one{opened.ref(), 1});
  try {
    opened.sync();
    FAIL() << "a write that can never reach the drive went unnoticed";
  } catch (const error& told) {
    EXPECT_EQ(told.kind(), error_kind::bad_input);
    EXPECT_EQ(told.place().code, status::read_only);
    EXPECT_NE(told.mend(), "");
  }
  EXPECT_NO_THROW(opened.flush()) << "nothing is dirty";
  const std::vector<std::uint32_t> values = bytes_on_disk();
  for (std::uint32_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i + 7) << i;
}

TEST_F(array_of_a_file, is_refused_where_the_file_is_not_there) {
  EXPECT_THROW(numbers::open(machine(), uri() + ".none"), error);
}

}  // namespace
}  // namespace sluice
