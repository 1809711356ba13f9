#include <gtest/gtest.h>

#include <cstring>

#include "sluice/nvme/dataset.h"
#include "sluice/nvme/status_codes.h"
#include "tests/support/drive_bench.h"

namespace sluice {
namespace {

namespace code = nvme::code;
using nvme::opcode;
using tests::drive_bench;

TEST(commands, a_read_returns_what_was_written) {
  drive_bench bench("mem:1MiB");
  ASSERT_EQ(bench.fill(0, 2048), status::ok);
  std::memset(bench.data(), 0, 65536);
  ASSERT_EQ(bench.read(100, 16), status::ok);
  EXPECT_EQ(bench.wrong(100, 16), 0U);
}

}  // namespace
}  // namespace sluice
