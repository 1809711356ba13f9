// Comparators on the CPU backend: what they move is what the drives hold, and whoever moves anything else is
// caught.
#include "tools/sluice/comparators/comparator.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sluice/array/storage.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "tests/support/scratch_file.h"
#include "tools/sluice/comparators/comparisons.h"
#include "tools/sluice/comparators/device_time.h"
#include "tools/sluice/comparators/served_kernel.h"
#include "tools/sluice/comparators/source.h"

namespace sluice::tool {
namespace {

constexpr std::uint64_t each = 1 * MiB;

/// Two drives' bytes, and the question that comparators are asked about them.
class compared {
 public:
  explicit compared(std::uint32_t block_bytes, bool stopped = false)
      : source_(backend::cpu, 2, each, fill),
        what_{.on = *machine_,
              .source = source_,
              .order = {.pattern = io_pattern::random,
                        .drives = 2,
                        .bits = log2_exact(each / block_bytes),
                        .seed = 1},
              .block_bytes = block_bytes,
              .seconds = 0.02,
              .stop = [stopped] { return stopped; }} {
    source_.use(source_file::scratch(std::filesystem::temp_directory_path().string(), 2 * each));
  }
  comparison_result run(const comparator& which) { return which.run(what_); }
  /// Changes a byte that the drives hold otherwise.
  void spoil(std::uint64_t byte) { source_.bytes().host_as<std::uint8_t>()[byte] ^= 1; }

 private:
  static void fill(std::uint32_t drive, std::uint64_t at, std::span<std::byte> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<std::byte>(mix((std::uint64_t{drive} << 32) + at + i));
  }

  std::unique_ptr<lane::machine> machine_ = lane::machine::cpu(2);
  comparison_source source_;
  comparison what_;
};

/// Those that the CPU backend has; why it lacks the others is said by them.
std::vector<comparator> comparators_here() {
  std::vector<comparator> here;
  for (const comparator& one : comparators())
    if (std::string(one.name) != "uvm" && std::string(one.name) != "cufile") here.push_back(one);
  return here;
}

TEST(comparators, move_what_the_drives_hold) {
  for (const std::uint32_t block_bytes : {512U, 4096U, 1U << 20})
    for (const comparator& one : comparators_here()) {
      const comparison_result got = compared(block_bytes).run(one);
      EXPECT_TRUE(got.verified()) << one.name << " of " << block_bytes;
      EXPECT_GT(got.rate(), 0) << one.name;
    }
}

TEST(comparators, notice_a_wrong_byte_wherever_it_is) {
  const std::uint64_t of_a_stamp = 0, between_stamps = 100, last_of_all = 2 * each - 1;
  for (const std::uint64_t byte : {of_a_stamp, between_stamps, last_of_all})
    for (const comparator& one : comparators_here()) {
      compared two(4096);
      two.spoil(byte);
      const comparison_result got = two.run(one);
      EXPECT_GT(got.wrong, 0U) << one.name << ", byte " << byte;
      EXPECT_FALSE(got.verified()) << one.name;
    }
}

TEST(comparators, end_soon_where_the_user_wants_it) {
  for (const comparator& one : comparators_here()) {
    compared stopped(4096, true);
    EXPECT_LT(stopped.run(one).seconds, 5) << one.name;
  }
}

TEST(comparators, say_why_they_are_missing) {
  for (const comparator& one : {comparator{"uvm", run_uvm}, comparator{"cufile", run_cufile}}) {
    try {
      compared(4096).run(one);
      FAIL() << one.name;
    } catch (const error& missing) {
      EXPECT_EQ(missing.kind(), error_kind::unavailable);
      EXPECT_NE(std::string(missing.what()).find("the CPU backend has none"), std::string::npos);
    }
  }
}

TEST(comparisons, a_wrong_byte_is_a_wrong_answer) {
  const test::scratch_file file;
  std::filesystem::resize_file(file.path(), each);
  const std::vector<std::string> uris{"file:" + file.path()};
  const auto machine = lane::machine::cpu(2);
  storage drives = storage::raw(uris, {.mode = drive::access::read});
  const io_bench_options point{.block_bytes = 4096, .seconds = 0.02, .span_bytes = each};
  comparisons others({.names = "cpu-io_uring", .scratch = {}}, *machine, drives, uris, {point});
  json row;
  others.measure(point, 1000, row);
  ASSERT_EQ(row["comparators"].size() + row["comparators_missing"].size(), 1U);
  if (row["comparators"].empty()) GTEST_SKIP() << row["comparators_missing"].dump();
  EXPECT_EQ(row["comparators"][0]["verified"], true);
  const int fd = ::open(file.path().c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(fd, "x", 1, 4096 + 700), 1);
  ::close(fd);
  try {
    others.measure(point, 1000, row);
    FAIL();
  } catch (const error& wrong) {
    EXPECT_EQ(wrong.kind(), error_kind::wrong_answer);
  }
}

TEST(device_time, says_why_it_knows_nothing) {
  const int fd = ::memfd_create("no device", MFD_CLOEXEC);
  EXPECT_NE(device_time(fd).unknown(), "");
  ::close(fd);
}

TEST(block_order, gives_each_block_of_all_drives_once) {
  for (const std::uint32_t drives : {1U, 2U, 3U}) {
    const block_order order{.pattern = io_pattern::random, .drives = drives, .bits = 7, .seed = 5};
    std::set<std::uint64_t> seen;
    for (std::uint64_t n = 0; n < order.blocks(); ++n) seen.insert(order.at(n));
    EXPECT_EQ(seen.size(), order.blocks());
    EXPECT_EQ(*seen.rbegin(), order.blocks() - 1);
  }
}

TEST(served_kernel, lanes_leave_when_nobody_answers) {
  // Without their deadline they would wait for ever.
  const auto machine = lane::machine::cpu(2);
  const auto words = [](std::size_t bytes) {
    return memory::buffer(backend::cpu, memory::place::host, bytes);
  };
  constexpr std::uint32_t lanes = 64, pages = 32;
  const auto table = words(pages * 4), frames = words(pages * 512), pieces = words(lanes * piece_bytes),
             truth = words(pages * sizeof(sector_truth)), tally = words(sizeof(block_tally)),
             requests = words(lanes * sizeof(served_request)), tickets = words(sizeof(served_word)),
             answers = words(lanes * sizeof(served_word)), stop = words(4);
  const served_job job{.round = {.order = {io_pattern::uniform, 1, log2_exact(pages), 1},
                                 .first = 0,
                                 .count = 4096,
                                 .nanoseconds = ~std::uint64_t{0},
                                 .stop = stop.lanes_as<std::uint32_t>()},
                       .table = table.lanes_as<std::uint32_t>(),
                       .frames = frames.lanes(),
                       .pieces = pieces.lanes(),
                       .truth = truth.lanes_as<sector_truth>(),
                       .tally = tally.lanes_as<block_tally>(),
                       .requests = requests.lanes_as<served_request>(),
                       .tickets = tickets.lanes_as<served_word>(),
                       .answers = answers.lanes_as<served_word>(),
                       .servers = 1,
                       .ring_depth = lanes,
                       .patience_ns = 5'000'000,
                       .block_bytes = 512};
  lane::launch(*machine, {2, lanes / 2}, served_kernel<lane::solo, io_check::stamp>{job});
  EXPECT_EQ(tally.host_as<block_tally>()[0].blocks, 0U);
  EXPECT_EQ(tally.host_as<block_tally>()[0].unanswered, lanes);
}

TEST(source_file, a_scratch_file_has_no_name) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "sluice-scratch-test";
  std::filesystem::create_directory(folder);
  {
    const source_file file = source_file::scratch(folder.string(), 4096);
    EXPECT_TRUE(std::filesystem::is_empty(folder));
  }
  std::filesystem::remove(folder);
}

TEST(source_file, a_scratch_file_has_a_name_as_long_as_somebody_needs_it) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "sluice-named-test";
  std::filesystem::create_directory(folder);
  const std::vector<std::byte> bytes(4096, std::byte{7});
  source_file file = source_file::scratch(folder.string(), bytes.size());
  file.write(bytes);
  file.open_for(512);
  {
    const auto named = file.open_by_name();
    EXPECT_FALSE(std::filesystem::is_empty(folder));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  const memory::buffer got(backend::cpu, memory::place::host, 4096);
  ASSERT_EQ(::pread(file.descriptors().front(), got.host(), 4096, 0), 4096);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), got.host()));
  std::filesystem::remove(folder);
}

TEST(source_file, refuses_what_a_folder_has_no_room_for) {
  const std::string folder = std::filesystem::temp_directory_path().string();
  for (const auto& [where, bytes, why] :
       {std::tuple(folder, std::uint64_t{1} << 60, "no room"),
        std::tuple(std::string("/no/such/folder"), std::uint64_t{4096}, "No such")}) {
    try {
      source_file::scratch(where, bytes);
      FAIL() << where;
    } catch (const error& refused) {
      EXPECT_EQ(exit_status(refused.kind()), 2);
      EXPECT_NE(std::string(refused.what()).find(why), std::string::npos) << refused.what();
    }
  }
}

TEST(source_file, lies_over_the_drives_files_one_after_the_other) {
  const test::scratch_file first, second;
  for (const test::scratch_file* one : {&first, &second}) std::filesystem::resize_file(one->path(), 8192);
  source_file file = source_file::of_drives({first.path(), second.path()}, 4096);
  file.open_for(512);
  const auto of = [](int fd) {
    struct stat node {};
    fstat(fd, &node);
    return node.st_ino;
  };
  struct stat node {};
  stat(second.path().c_str(), &node);
  EXPECT_EQ(of(file.at(4096 + 512).fd), node.st_ino);
  EXPECT_EQ(file.at(4096 + 512).offset, 512U);
  EXPECT_NE(of(file.at(4095).fd), node.st_ino);
}

}  // namespace
}  // namespace sluice::tool
