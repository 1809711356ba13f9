// What emulated drives have beside the drive contract: models that keep time, tables that change under way,
// and the host's side of errors. On the CPU backend.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "drive/nvme_client.h"
#include "emulator/service_times.h"
#include "sluice/base/error.h"
#include "sluice/drive/uri.h"
#include "sluice/emulator/stamps.h"
#include "tests/support/drive_bench.h"
#include "tests/support/refusal.h"
#include "tests/support/scratch_file.h"

namespace sluice::test {
namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::unique_ptr<drive::drive> open_emulated(const std::string& uri) { return drive::open(uri, to_write()); }

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// Reads `commands` blocks with at most `depth` under way; returns the seconds it took.
double read_blocks(drive_bench& bench, std::uint32_t commands, std::uint32_t depth) {
  const auto start = clock::now();
  std::uint32_t sent = 0;
  for (std::uint32_t done = 0; done < commands; ++done) {
    while (sent < commands && sent - done < depth) {
      bench.queue().submit(
          bench.block_io(nvme::opcode::read, static_cast<std::uint16_t>(sent % 64), sent % 1024, 1));
      ++sent;
    }
    EXPECT_EQ(bench.queue().await().code(), status::ok);
  }
  return seconds_since(start);
}

constexpr const char* slow_drive =
    "emu:p5800x?size=8MiB&latency_us=3000&read_iops_512=10000&read_iops_4k=5000&write_iops_512=2000";

TEST(emulated_drive, a_command_alone_takes_the_models_latency) {
  drive_bench bench(slow_drive);
  const double each = read_blocks(bench, 20, 1) / 20;
  EXPECT_GE(each, 0.003);
  EXPECT_LT(each, 0.012);
}

TEST(emulated_drive, many_commands_come_at_the_models_rate) {
  drive_bench bench(slow_drive, 256);
  const double took = read_blocks(bench, 2000, 200);
  EXPECT_GE(took, 0.2);
  EXPECT_LT(took, 0.6);
}

TEST(emulated_drive, service_times_are_those_of_the_model) {
  for (const emulator::drive_model& model : emulator::drive_models()) {
    const emulator::service_times times = emulator::service_times_of(model, 1000, 7);
    for (const bool writes : {false, true})
      for (const std::uint64_t bytes : {512U, 1024U, 2048U, 4096U, 8192U, 65536U}) {
        const double wanted =
            1e9 * (1U << emulator::tick_shift) /
            model.rate(writes ? emulator::direction::write : emulator::direction::read, bytes);
        EXPECT_NEAR(static_cast<double>(times.busy(writes, bytes)), wanted, wanted * 0.001 + 1)
            << model.name << " " << bytes;
      }
    EXPECT_NEAR(static_cast<double>(times.latency(false)) + 1000, model.latency_us * 1e3, 1);
    EXPECT_EQ(times.jitter_ns, 7U);
  }
}

TEST(emulated_drive, tells_what_it_is) {
  const auto drive = open_emulated("emu:pm1735?media=host&size=16MiB&queues=5&block=4096&deadline_ms=77");
  EXPECT_EQ(drive->info().model, "Sluice emulated pm1735");
  EXPECT_EQ(drive->info().bytes(), 16U << 20);
  EXPECT_EQ(drive->info().block_size, 4096U);
  EXPECT_EQ(drive->info().max_queues, 5U);
  EXPECT_EQ(drive->info().deadline_ms, 77U);
  EXPECT_EQ(drive->info().media, memory::place::pinned);
  EXPECT_TRUE(drive->info().forgets);
  EXPECT_EQ(open_emulated("emu:ideal?size=1MiB")->info().media, memory::place::device);
}

TEST(emulated_drive, refuses_what_it_cannot_be) {
  for (const char* uri :
       {"emu:p5801x", "emu:ideal?media=disk", "emu:ideal?size=0", "emu:ideal?size=256", "emu:ideal?sms=0",
        "emu:ideal?latency_us=5", "emu:p5800x?latency_us=0", "emu:p5800x?latency_us=nan",
        "emu:p5800x?read_iops_512=-1", "emu:p5800x?jitter_us=-1", "emu:ideal?from=/nowhere/at/all",
        "emu:ideal?queues=0", "emu:ideal?count=2", "emu:ideal?no=1"})
    EXPECT_EQ(refusal_of([&] { open_emulated(uri); }).kind, error_kind::bad_input) << uri;
}

TEST(emulated_drive, begins_with_the_bytes_of_a_file) {
  const scratch_file file;
  std::vector<std::byte> bytes(3000);
  stamp_blocks(bytes.data(), 0, 5, 512, 3);
  std::ofstream(file.path(), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  drive_bench bench(open_emulated("emu:ideal?size=1MiB&from=" + file.path()));
  std::memset(bench.data(), 0xee, 4096);
  ASSERT_EQ(bench.read(0, 8), status::ok);
  EXPECT_EQ(bench.wrong(0, 5, 3), 0U);
  for (std::size_t at = bytes.size(); at < 4096; ++at) ASSERT_EQ(bench.data(at)[0], std::byte{0}) << at;
}

TEST(emulated_drive, begins_with_stamps_that_tell_each_word_s_place) {
  drive_bench bench(open_emulated("emu:ideal?size=1MiB&from=stamps"));
  constexpr std::uint64_t first = 1000;
  ASSERT_EQ(bench.read(first, 8), status::ok);
  std::vector<std::uint64_t> words(8 * 512 / 8);
  std::memcpy(words.data(), bench.data(), words.size() * 8);
  for (std::size_t n = 0; n < words.size(); ++n)
    ASSERT_EQ(words[n], emulator::stamped_word(first * 512 / 8 + n)) << n;
}

TEST(emulated_drive, one_uri_names_several) {
  const std::vector<std::string> given{"emu:p5800x?count=3&size=1MiB", "mem:1MiB"};
  const std::vector<std::string> each = drive::each_drive(given);
  const std::string one = "emu:p5800x?size=1MiB";
  EXPECT_EQ(each, (std::vector<std::string>{one, one, one, "mem:1MiB"}));
  for (const char* count : {"0", "1025", "many"})
    EXPECT_EQ(refusal_of([&] { drive::each_drive({{std::string("emu:ideal?count=") + count}}); }).kind,
              error_kind::bad_input);
}

TEST(emulated_drive, queues_and_regions_come_and_go_while_others_work) {
  auto drive = open_emulated("emu:ideal?size=8MiB");
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> wrong{0}, rounds{0};
  std::thread other([&] {
    host_queue queue(*drive, 64);
    const memory::buffer data(backend::cpu, memory::place::host, 4096);
    const bus_address at = drive->map(data.view());
    while (!stop) {
      const auto write = nvme::block_command(nvme::opcode::write, 1, 1, {rounds % 512 * 8ULL}, 8, at, {});
      wrong += queue.run(write).code() == status::ok ? 0 : 1;
      ++rounds;
    }
    queue.close();
    drive->unmap(data.view());
  });
  while (rounds == 0) std::this_thread::yield();
  for (int i = 0; i < 60; ++i) {
    const memory::buffer data(backend::cpu, memory::place::host, 8192);
    const bus_address at = drive->map(data.view());
    host_queue queue(*drive, 8);
    const auto read = nvme::block_command(nvme::opcode::read, 7, 1, {9000}, 1, at + 512, {});
    EXPECT_EQ(queue.run(read).code(), status::ok);
    drive->unmap(data.view());
    EXPECT_EQ(queue.run(read).code().nvme_code(), nvme::code::data_transfer_error.nvme_code());
  }
  stop = true;
  other.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(emulated_drive, memory_of_a_ring_cannot_be_unmapped) {
  auto drive = open_emulated("emu:ideal?size=1MiB");
  const memory::buffer rings(backend::cpu, memory::place::host, 8192);
  const bus_address at = drive->map(rings.view());
  const auto grant = drive->create_queue({at, at + 4096, 8}, backend::cpu);
  EXPECT_EQ(refusal_of([&] { drive->unmap(rings.view()); }).kind, error_kind::in_use);
  drive->delete_queue(grant.id);
  drive->unmap(rings.view());
}

TEST(emulated_drive, failures_are_in_the_error_log_and_counted) {
  drive_bench bench(open_emulated("emu:ideal?size=1MiB&error_lba=40-47"));
  ASSERT_EQ(bench.read(40, 1).nvme_code(), 0x281U);
  ASSERT_EQ(bench.read(9999, 1).nvme_code(), nvme::code::lba_out_of_range.nvme_code());
  auto& client = dynamic_cast<drive::nvme_client&>(bench.drive());
  const auto log = client.error_log();
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].block, 9999U);  // newest first
  EXPECT_EQ(log[1].block, 40U);
  EXPECT_EQ(log[1].submission_queue, bench.queue().id());
  EXPECT_EQ(client.counters().failed, 2U);
  EXPECT_EQ(client.health().media_errors.low, 1U);
}

TEST(emulated_drive, more_failures_than_the_log_holds_stop_nothing) {
  drive_bench bench(open_emulated("emu:ideal?size=1MiB&error_rate=1"));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(bench.read(0, 1).nvme_code(), 0x281U);
  auto& client = dynamic_cast<drive::nvme_client&>(bench.drive());
  EXPECT_FALSE(client.error_log().empty());
  EXPECT_EQ(client.counters().failed, 300U);
}

TEST(emulated_drive, a_doorbell_with_nonsense_raises_an_event_and_harms_nothing) {
  drive_bench bench(open_emulated("emu:ideal?size=1MiB"));
  auto& client = dynamic_cast<drive::nvme_client&>(bench.drive());
  lane::ring(bench.queue().grant().submission_tail, 5000);
  std::vector<nvme::async_event> events;
  for (const auto end = clock::now() + std::chrono::seconds(5); events.empty() && clock::now() < end;) {
    events = client.take_events();
    std::this_thread::sleep_for(milliseconds(1));
  }
  ASSERT_EQ(events.size(), 1U);
  bench.queue().ring();
  EXPECT_EQ(bench.read(0, 1), status::ok);
}

TEST(emulated_drive, drives_side_by_side_keep_their_own_bytes) {
  drive_bench a(open_emulated("emu:ideal?size=1MiB")), b(open_emulated("emu:ideal?size=1MiB"));
  ASSERT_EQ(a.fill(0, 512, 1), status::ok);
  ASSERT_EQ(b.fill(0, 512, 2), status::ok);
  ASSERT_EQ(a.read(100, 64), status::ok);
  ASSERT_EQ(b.read(100, 64), status::ok);
  EXPECT_EQ(a.wrong(100, 64, 1), 0U);
  EXPECT_EQ(b.wrong(100, 64, 2), 0U);
}

}  // namespace
}  // namespace sluice::test
