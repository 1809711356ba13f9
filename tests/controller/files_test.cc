// What is particular to files and devices as media: ends, sizes, locks, and refusals that help.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "controller/file_media.h"
#include "sluice/base/error.h"
#include "sluice/drive/open.h"
#include "tests/support/drive_bench.h"
#include "tests/support/scratch_file.h"

namespace sluice::test {
namespace {

void write_text(const std::string& path, std::size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  for (std::size_t i = 0; i < bytes; ++i) out.put(static_cast<char>('a' + i % 23));
}

error_kind kind_of_refusal(const std::string& uri, const drive::open_options& options) {
  try {
    drive::open(uri, options);
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()), "");
    return e.kind();
  }
  ADD_FAILURE() << uri << " was opened";
  return error_kind::cancelled;
}

class files : public testing::TestWithParam<const char*> {
 protected:
  std::string uri(const scratch_file& file) const { return "file:" + file.path() + "?io=" + GetParam(); }
};

TEST_P(files, the_last_block_is_padded_with_zeroes) {
  const scratch_file file;
  write_text(file.path(), 5000);
  drive_bench bench(uri(file).c_str(), 16, {.mode = drive::access::read});
  EXPECT_EQ(bench.drive().info().blocks, 10U);
  std::memset(bench.data(), 0xee, 5120);
  ASSERT_EQ(bench.read(0, 10), status::ok);
  for (std::size_t at = 0; at < 5000; ++at)
    ASSERT_EQ(bench.data(at)[0], static_cast<std::byte>('a' + at % 23)) << at;
  for (std::size_t at = 5000; at < 5120; ++at) ASSERT_EQ(bench.data(at)[0], std::byte{0}) << at;
  EXPECT_EQ(std::filesystem::file_size(file.path()), 5000U);
}

TEST_P(files, what_was_flushed_is_in_the_file) {
  const scratch_file file;
  {
    drive_bench bench((uri(file) + "&size=64KiB").c_str());
    ASSERT_EQ(bench.fill(0, 128, 9), status::ok);
    ASSERT_EQ(bench.run(nvme::flush_command(1, 1)), status::ok);
  }
  std::ifstream in(file.path(), std::ios::binary);
  std::vector<char> bytes(65536);
  in.read(bytes.data(), 65536);
  EXPECT_EQ(wrong_words(reinterpret_cast<const std::byte*>(bytes.data()), 0, 128, 512, 9), 0U);
}

TEST_P(files, a_drive_opened_for_reading_refuses_writes) {
  const scratch_file file;
  write_text(file.path(), 8192);
  drive_bench bench(uri(file).c_str(), 16, {.mode = drive::access::read});
  EXPECT_FALSE(bench.drive().info().writable);
  EXPECT_EQ(bench.write(0, 1).nvme_code(), nvme::code::write_protected.nvme_code());
}

/// Memory of a test that other pages can take the place of, without a word to the drive.
class replaced_memory {
 public:
  static constexpr std::size_t bytes = 64 << 10;
  replaced_memory() { replace(nullptr); }
  ~replaced_memory() { ::munmap(at_, bytes); }
  replaced_memory(const replaced_memory&) = delete;
  replaced_memory& operator=(const replaced_memory&) = delete;
  void replace() { replace(at_); }
  std::byte* at(std::size_t offset = 0) { return at_ + offset; }
  memory::region view(std::size_t offset, std::size_t length) {
    return {.lanes = at(offset), .host = at(offset), .bytes = length, .where = memory::place::host};
  }

 private:
  void replace(std::byte* where) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (where == nullptr ? 0 : MAP_FIXED);
    at_ = static_cast<std::byte*>(::mmap(where, bytes, PROT_READ | PROT_WRITE, flags, -1, 0));
  }
  std::byte* at_ = nullptr;
};

// The channel may know a region's pages; it must not go on using those that lay there before.
TEST_P(files, transfers_reach_the_pages_that_were_mapped_last) {
  const scratch_file file;
  drive_bench bench((uri(file) + "&size=64KiB").c_str());
  ASSERT_EQ(bench.fill(0, 128, 5), status::ok);
  replaced_memory memory;
  const auto read_to = [&](bus_address to) {
    return bench.run(nvme::block_command(nvme::opcode::read, 1, 1, {8}, 8, to, {}));
  };
  const bus_address whole = bench.drive().map(memory.view(0, replaced_memory::bytes));
  for (int life = 0; life < 3; ++life) {
    ASSERT_EQ(read_to(whole + 8192), status::ok);
    EXPECT_EQ(wrong_words(memory.at(8192), 8, 8, 512, 5), 0U) << "the same region again, life " << life;
    memory.replace();
    bench.drive().map(memory.view(0, replaced_memory::bytes));
  }
  memory.replace();
  const bus_address inner = bench.drive().map(memory.view(8192, 8192));
  ASSERT_EQ(read_to(inner), status::ok);
  EXPECT_EQ(wrong_words(memory.at(8192), 8, 8, 512, 5), 0U) << "a region within an older one";
  bench.drive().unmap(memory.view(8192, 8192));
  memory.replace();
  bench.drive().map(memory.view(0, replaced_memory::bytes));
  ASSERT_EQ(read_to(whole + 8192), status::ok);
  EXPECT_EQ(wrong_words(memory.at(8192), 8, 8, 512, 5), 0U) << "the older one again";
  bench.drive().unmap(memory.view(0, replaced_memory::bytes));
}

INSTANTIATE_TEST_SUITE_P(controller, files, testing::Values("uring", "threads"),
                         [](const auto& each) { return std::string(each.param); });

TEST(opening, grows_a_file_and_never_shrinks_it) {
  const scratch_file file;
  write_text(file.path(), 8192);
  drive::open("file:" + file.path() + "?size=4KiB", to_write());
  EXPECT_EQ(std::filesystem::file_size(file.path()), 8192U);
  drive::open("file:" + file.path(), {.mode = drive::access::write, .create_bytes = 1 << 20});
  EXPECT_EQ(std::filesystem::file_size(file.path()), 1U << 20);
}

TEST(opening, refuses_with_a_reason) {
  const scratch_file empty;
  const drive::open_options reading{.mode = drive::access::read};
  EXPECT_EQ(kind_of_refusal("file:/nowhere/at/all", reading), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("file:/nowhere/at/all?size=1MiB", to_write()), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("file:" + empty.path(), reading), error_kind::bad_input);  // no block in it
  EXPECT_EQ(kind_of_refusal("file:/tmp", reading), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("block:" + empty.path(), reading), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("mem:0", to_write()), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("mem:lots", to_write()), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("mem:1MiB?block=1000", to_write()), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("mem:1MiB?queues=0", to_write()), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("mem:1MiB?colour=red", to_write()), error_kind::bad_input);
  EXPECT_EQ(kind_of_refusal("mem:256", to_write()), error_kind::bad_input);
}

TEST(opening, a_file_open_for_writing_is_in_use) {
  const scratch_file file;
  const auto held = drive::open("file:" + file.path() + "?size=4KiB", to_write());
  EXPECT_EQ(kind_of_refusal("file:" + file.path(), to_write()), error_kind::in_use);
}

TEST(opening, blocks_and_depth_are_as_asked) {
  drive_bench bench("mem:1MiB?block=4KiB&depth=64&queues=3&mdts=8KiB", 64);
  const drive::drive_info& info = bench.drive().info();
  EXPECT_EQ(info.block_size, 4096U);
  EXPECT_EQ(info.blocks, 256U);
  EXPECT_EQ(info.max_depth, 64U);
  EXPECT_EQ(info.max_queues, 3U);
  EXPECT_EQ(info.max_transfer, 8192U);
  ASSERT_EQ(bench.fill(0, 2), status::ok);
  EXPECT_EQ(bench.read(0, 3).nvme_code(), nvme::code::invalid_field.nvme_code());
}

// The URI's deadline was read and then forgotten: every lost command took the usual five seconds.
TEST(deadlines, are_told_as_the_uri_says) {
  EXPECT_EQ(drive::open("mem:1MiB?deadline_ms=123", {})->info().deadline_ms, 123U);
  EXPECT_EQ(drive::open("mem:1MiB", {})->info().deadline_ms, 5000U);
}

}  // namespace
}  // namespace sluice::test
