// Steps of an emulated drive, each dropped in turn: one of these looks at the drive must notice.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "sluice/lane/mutant.h"
#include "tests/support/drive_bench.h"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

/// Throws what is wrong.
void need(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

nvme::completion_entry answer_of(host_queue& queue) {
  const auto seen = queue.await_within(milliseconds(500));
  need(seen.has_value(), "a command was not answered");
  return *seen;
}

void put_reads(drive_bench& bench, std::uint16_t count, std::uint64_t apart) {
  for (std::uint16_t i = 0; i < count; ++i)
    bench.queue().put(bench.block_io(nvme::opcode::read, i, i * apart, 1, i * 4096U));
}

/// Each command once, with the bytes that were written, round and round the rings.
void look_at_answers(const char* uri) {
  drive_bench bench(drive::open(uri, to_write()), 32);
  constexpr std::uint64_t apart = 512;  // blocks: over all regions
  for (std::uint64_t i = 0; i < 20; ++i) need(bench.fill(i * apart, 1) == status::ok, "a write failed");
  for (int round = 0; round < 10; ++round) {
    put_reads(bench, 20, apart);
    bench.queue().ring();
    std::uint32_t seen = 0;
    for (int i = 0; i < 20; ++i) seen |= 1U << answer_of(bench.queue()).id();
    need(seen == (1U << 20) - 1, "an answer came twice, another not at all");
    for (std::uint64_t i = 0; i < 20; ++i)
      need(bench.wrong(i * apart, 1, 0, i * 4096) == 0, "a block holds other bytes");
  }
}

/// A transfer whose pages lie in memory the other way round.
void look_at_pages() {
  drive_bench bench(drive::open("emu:ideal?size=8MiB", to_write()));
  need(bench.fill(0, 24) == status::ok, "a write failed");
  const auto entry = bench.block_io(nvme::opcode::read, 1, 0, 24, 8192);
  auto* const list = reinterpret_cast<std::uint64_t*>(bench.data(entry.prp2 - bench.address().value));
  for (std::size_t k = 0; k < 2; ++k) list[k] = bench.address(4096 * (1 - k)).value;
  need(bench.run(entry) == status::ok, "a read failed");
  for (std::size_t k = 0; k < 3; ++k)
    need(bench.wrong(8 * k, 8, 0, 4096 * (2 - k)) == 0, "a page came to another's place");
}

/// What the host has not freed stays as it was.
void look_at_room() {
  drive_bench bench(drive::open("emu:ideal?size=8MiB", to_write()), 4);
  host_queue& queue = bench.queue();
  for (std::uint16_t i = 0; i < 3; ++i) queue.put(nvme::flush_command(i, 1));
  queue.ring();
  for (int got = 0; got < 3;) got += queue.poll() ? 1 : 0;
  const std::uint32_t first = queue.completion(0).tail;
  for (std::uint16_t i = 10; i < 13; ++i) queue.put(nvme::flush_command(i, 1));
  queue.ring();
  std::this_thread::sleep_for(milliseconds(50));
  need(queue.completion(0).tail == first, "an entry was overwritten");
}

/// Queues that come and go leave the others as they were.
void look_at_parking() {
  drive_bench bench(drive::open("emu:ideal?size=8MiB", to_write()));
  for (std::uint16_t i = 0; i < 20; ++i) {
    bench.queue().submit(nvme::flush_command(i, 1));
    need(answer_of(bench.queue()).id() == i, "an old command was answered again");
    const host_queue other(bench.drive(), 8);
    need(!bench.queue().poll(), "an answer came that nobody asked for");
  }
}

/// Nothing reaches memory that was unmapped.
void look_at_unmapping() {
  auto drive = drive::open("emu:ideal?size=8MiB&region=64KiB", to_write());
  host_queue queue(*drive, 256);
  for (int round = 0; round < 40; ++round) {
    memory::buffer data(backend::cpu, memory::place::host, 200 * 512);
    const bus_address at = drive->map(data.view());
    for (std::uint16_t i = 0; i < 200; ++i)
      queue.put(nvme::block_command(nvme::opcode::read, i, 1, {i * 80ULL}, 1, at + i * 512U, {}));
    queue.ring();
    drive->unmap(data.view());
    std::memset(data.host(), 0x77, data.size());
    for (int i = 0; i < 200; ++i) answer_of(queue);
    for (std::size_t i = 0; i < data.size(); ++i)
      need(data.host()[i] == std::byte{0x77}, "a byte came after the memory was unmapped");
  }
}

void look_at_time() {
  drive_bench bench(drive::open("emu:p5800x?size=8MiB&latency_us=20000", to_write()));
  const auto start = std::chrono::steady_clock::now();
  need(bench.read(0, 1) == status::ok, "a read failed");
  need(std::chrono::steady_clock::now() - start >= milliseconds(20), "an answer came early");
}

void look_at_nonsense() {
  drive_bench bench(drive::open("emu:ideal?size=8MiB", to_write()));
  lane::ring(bench.queue().grant().submission_tail, 5000);
  std::this_thread::sleep_for(milliseconds(50));
  need(!bench.queue().poll(), "an answer came that nobody asked for");
  bench.queue().put(nvme::flush_command(7, 1));
  bench.queue().ring();
  need(answer_of(bench.queue()).id() == 7, "another command was answered");
}

/// The first thing that is found wrong, or nothing.
std::string found() {
  try {
    look_at_room();
    look_at_answers("emu:ideal?size=8MiB");
    look_at_answers("emu:ideal?size=8MiB&region=256KiB");
    look_at_pages();
    look_at_parking();
    look_at_unmapping();
    look_at_time();
    look_at_nonsense();
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return {};
}

class emulator_mutant : public testing::TestWithParam<const char*> {
 protected:
  ~emulator_mutant() override { lane::plant(""); }
};

TEST(emulator_mutants, none_is_seen_where_none_is) { EXPECT_EQ(found(), ""); }

TEST_P(emulator_mutant, is_caught) {
  lane::plant(GetParam());
  const std::string why = found();
  EXPECT_NE(why, "") << GetParam() << " survived";
  RecordProperty("caught_by", why);
}

INSTANTIATE_TEST_SUITE_P(steps, emulator_mutant,
                         testing::Values("emulator.park_without_saving", "emulator.park_with_copies_held",
                                         "emulator.never_vote", "emulator.fetch_without_room",
                                         "emulator.phase_stays", "emulator.answer_early",
                                         "emulator.believe_any_tail", "emulator.join_any_pieces"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(name.find('.') + 1);
                         });

}  // namespace
}  // namespace sluice::test
