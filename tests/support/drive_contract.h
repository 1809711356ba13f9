// What every drive must do, whatever stands behind it: bodies that a test program instantiates with its own
// drives.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sluice/nvme/dataset.h"
#include "sluice/nvme/status_codes.h"
#include "tests/support/drive_bench.h"

namespace sluice::test {

/// Opens a writable drive of at least 8 MiB with blocks of 512 bytes.
struct drive_maker {
  std::string name;
  std::function<std::unique_ptr<drive::drive>(const std::string& options)> open;
};

class drive_contract : public testing::TestWithParam<drive_maker> {
 protected:
  std::unique_ptr<drive::drive> open(const std::string& options = "") const {
    return GetParam().open(options);
  }
};

namespace code = nvme::code;
using nvme::opcode;

TEST_P(drive_contract, a_read_returns_what_was_written) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 4096), status::ok);
  std::memset(bench.data(), 0xee, 65536);
  ASSERT_EQ(bench.read(100, 128), status::ok);
  EXPECT_EQ(bench.wrong(100, 128), 0U);
}

TEST_P(drive_contract, serves_any_offset_into_memory_and_any_length) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 4096), status::ok);
  for (const std::uint32_t blocks : {1U, 7U, 8U, 9U, 16U, 17U, 255U})
    for (const std::size_t offset : {0U, 4U, 512U, 2048U, 4092U, 4096U}) {
      std::memset(bench.data(), 0xee, offset + blocks * 512 + 8);
      ASSERT_EQ(bench.read(blocks, blocks, offset), status::ok);
      EXPECT_EQ(bench.wrong(blocks, blocks, 0, offset), 0U) << blocks << " blocks at " << offset;
      EXPECT_EQ(bench.data(offset + blocks * 512)[0], std::byte{0xee}) << "wrote past the end";
      if (offset > 0) {
        EXPECT_EQ(bench.data(offset - 1)[0], std::byte{0xee}) << "wrote before the start";
      }
    }
}

TEST_P(drive_contract, writes_from_any_offset_into_memory) {
  drive_bench bench(open());
  for (const std::size_t offset : {0U, 4U, 512U, 4092U}) {
    stamp_blocks(bench.data(offset), 10, 20, 512, offset);
    ASSERT_EQ(bench.write(10, 20, offset), status::ok);
    ASSERT_EQ(bench.read(10, 20), status::ok);
    EXPECT_EQ(bench.wrong(10, 20, offset), 0U) << offset;
  }
}

TEST_P(drive_contract, moves_pages_that_lie_in_any_order) {
  drive_bench bench(open());
  const std::uint32_t page = bench.drive().info().dma_page, blocks = page / 512;
  // Behind the first page of memory; neighbours in order, the other way round, and alone.
  const std::uint64_t order[] = {1, 2, 5, 4, 8, 9, 10, 6};
  const auto scattered = [&](opcode op, std::uint64_t first) {
    const auto entry = bench.block_io(op, 1, first, 9 * blocks);
    auto* const list = reinterpret_cast<std::uint64_t*>(bench.data(entry.prp2 - bench.address().value));
    for (std::uint32_t k = 0; k < 8; ++k) list[k] = bench.address(order[k] * page).value;
    return bench.run(entry);
  };
  const auto expect_each = [&](std::uint64_t first) {
    EXPECT_EQ(bench.wrong(first, blocks), 0U);
    for (std::uint32_t k = 0; k < 8; ++k)
      EXPECT_EQ(bench.wrong(first + (k + 1) * blocks, blocks, 0, order[k] * page), 0U) << k;
  };
  ASSERT_EQ(bench.fill(0, 9 * blocks), status::ok);
  std::memset(bench.data(), 0xee, 16 * page);
  ASSERT_EQ(scattered(opcode::read, 0), status::ok);
  expect_each(0);
  EXPECT_EQ(bench.data(3 * page)[0], std::byte{0xee});
  EXPECT_EQ(bench.data(7 * page)[0], std::byte{0xee});
  ASSERT_EQ(scattered(opcode::write, 1000), status::ok);
  std::memset(bench.data(), 0xee, 16 * page);
  ASSERT_EQ(bench.read(1000, 9 * blocks), status::ok);
  EXPECT_EQ(bench.wrong(0, 9 * blocks), 0U);
}

TEST_P(drive_contract, takes_the_largest_transfer_and_refuses_a_larger) {
  drive_bench bench(open("mdts=128KiB"));
  ASSERT_EQ(bench.fill(0, 512), status::ok);
  ASSERT_EQ(bench.read(0, 256), status::ok);
  EXPECT_EQ(bench.wrong(0, 256), 0U);
  EXPECT_EQ(bench.read(0, 257).nvme_code(), code::invalid_field.nvme_code());
}

TEST_P(drive_contract, flushes) {
  drive_bench bench(open());
  EXPECT_EQ(bench.run(nvme::flush_command(3, 1)), status::ok);
  EXPECT_EQ(bench.run(nvme::flush_command(3, 0xffffffff)), status::ok);
  auto entry = nvme::flush_command(3, 1);
  entry.cdw10 = entry.cdw11 = entry.cdw12 = 0xffffffff;
  EXPECT_EQ(bench.run(entry), status::ok) << "what a flush does not use may hold anything";
}

TEST_P(drive_contract, takes_a_write_that_must_last) {
  drive_bench bench(open());
  stamp_blocks(bench.data(), 5, 8, 512, 3);
  auto entry = bench.block_io(opcode::write, 1, 5, 8);
  entry.cdw12 |= 1U << 30;
  ASSERT_EQ(bench.run(entry), status::ok);
  ASSERT_EQ(bench.read(5, 8, 65536), status::ok);
  EXPECT_EQ(bench.wrong(5, 8, 3, 65536), 0U);
}

TEST_P(drive_contract, write_zeroes_zeroes_those_blocks_only) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 8192), status::ok);
  ASSERT_EQ(bench.run(nvme::block_command(opcode::write_zeroes, 1, 1, {16}, 5000, {}, {})), status::ok);
  ASSERT_EQ(bench.read(15, 3), status::ok);
  EXPECT_EQ(bench.wrong(15, 1), 0U);
  for (std::size_t at = 512; at < 1536; ++at) ASSERT_EQ(bench.data(at)[0], std::byte{0});
  ASSERT_EQ(bench.read(5015, 2), status::ok);
  for (std::size_t at = 0; at < 512; ++at) ASSERT_EQ(bench.data(at)[0], std::byte{0});
  EXPECT_EQ(bench.wrong(5016, 1, 0, 512), 0U);
}

TEST_P(drive_contract, compare_tells_equal_from_different) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 64), status::ok);
  stamp_blocks(bench.data(), 8, 24, 512, 0);
  EXPECT_EQ(bench.run(bench.block_io(opcode::compare, 1, 8, 24)), status::ok);
  bench.data(24 * 512 - 1)[0] ^= std::byte{1};
  EXPECT_EQ(bench.run(bench.block_io(opcode::compare, 1, 8, 24)).nvme_code(),
            code::compare_failure.nvme_code());
}

TEST_P(drive_contract, deallocates_ranges_and_leaves_their_neighbours) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 64), status::ok);
  const nvme::dataset_range ranges[2] = {{0, 8, 8}, {0, 16, 32}};
  std::memcpy(bench.data(), ranges, sizeof ranges);
  ASSERT_EQ(bench.run(nvme::deallocate_command(1, 1, 2, bench.address(), {})), status::ok);
  for (const std::uint64_t block : {7U, 16U, 31U, 48U}) {
    ASSERT_EQ(bench.read(block, 1), status::ok);
    EXPECT_EQ(bench.wrong(block, 1), 0U) << block;
  }
}

TEST_P(drive_contract, refuses_a_deallocation_beyond_the_end) {
  drive_bench bench(open());
  const nvme::dataset_range range{0, 8, bench.drive().info().blocks - 7};
  std::memcpy(bench.data(), &range, sizeof range);
  EXPECT_EQ(bench.run(nvme::deallocate_command(1, 1, 1, bench.address(), {})).nvme_code(),
            code::lba_out_of_range.nvme_code());
}

TEST_P(drive_contract, refuses_blocks_beyond_the_end) {
  drive_bench bench(open());
  const std::uint64_t blocks = bench.drive().info().blocks;
  EXPECT_EQ(bench.read(blocks - 1, 1), status::ok);
  EXPECT_EQ(bench.read(blocks - 1, 2).nvme_code(), code::lba_out_of_range.nvme_code());
  EXPECT_EQ(bench.write(blocks, 1).nvme_code(), code::lba_out_of_range.nvme_code());
  EXPECT_EQ(bench.read(~std::uint64_t{0}, 2).nvme_code(), code::lba_out_of_range.nvme_code());
}

TEST_P(drive_contract, refuses_what_it_does_not_know) {
  drive_bench bench(open());
  auto entry = bench.block_io(opcode::read, 1, 0, 1);
  entry.cdw0 |= 0x7f;
  EXPECT_EQ(bench.run(entry).nvme_code(), code::invalid_opcode.nvme_code());
  entry = bench.block_io(opcode::read, 1, 0, 1);
  entry.nsid = 2;
  EXPECT_EQ(bench.run(entry).nvme_code(), code::invalid_namespace.nvme_code());
  entry.nsid = 1;
  entry.cdw0 |= 1U << 14;  // SGLs
  EXPECT_EQ(bench.run(entry).nvme_code(), code::invalid_field.nvme_code());
  entry.cdw0 = (entry.cdw0 & 0xffff00ffU) | 1U << 8;  // first of a fused pair
  EXPECT_EQ(bench.run(entry).nvme_code(), code::invalid_field.nvme_code());
}

TEST_P(drive_contract, refuses_prps_that_break_the_rules) {
  drive_bench bench(open());
  auto entry = bench.block_io(opcode::read, 1, 0, 1);
  entry.prp1 += 2;
  EXPECT_EQ(bench.run(entry).nvme_code(), code::prp_offset_invalid.nvme_code());
  entry = bench.block_io(opcode::read, 1, 0, 16);
  entry.prp2 += 8;  // a second page must start at its beginning
  EXPECT_EQ(bench.run(entry).nvme_code(), code::prp_offset_invalid.nvme_code());
  entry = bench.block_io(opcode::read, 1, 0, 24);
  entry.prp2 += 4;  // a list lies at a multiple of 8
  EXPECT_EQ(bench.run(entry).nvme_code(), code::prp_offset_invalid.nvme_code());
}

TEST_P(drive_contract, an_address_outside_mapped_memory_is_an_error_and_no_crash) {
  drive_bench bench(open());
  for (const std::uint64_t address :
       {std::uint64_t{0x1000}, std::uint64_t{0xdead0000}, ~std::uint64_t{0xfff}}) {
    auto entry = bench.block_io(opcode::read, 1, 0, 8);
    entry.prp1 = address;
    EXPECT_EQ(bench.run(entry).nvme_code(), code::data_transfer_error.nvme_code()) << address;
    entry = bench.block_io(opcode::write, 1, 0, 64);
    entry.prp2 = address;
    EXPECT_EQ(bench.run(entry).nvme_code(), code::data_transfer_error.nvme_code()) << address;
  }
  EXPECT_EQ(bench.read(0, 8), status::ok);
}

TEST_P(drive_contract, memory_that_was_unmapped_is_out_of_reach) {
  drive_bench bench(open());
  const memory::buffer extra(backend::cpu, memory::place::host, 8192);
  const bus_address at = bench.drive().map(extra.view());
  bench.drive().map(extra.view());  // the same region twice is one mapping
  auto entry = nvme::block_command(opcode::read, 1, 1, {0}, 1, at, {});
  EXPECT_EQ(bench.run(entry), status::ok);
  bench.drive().unmap(extra.view());
  EXPECT_EQ(bench.run(entry).nvme_code(), code::data_transfer_error.nvme_code());
}

TEST_P(drive_contract, the_ring_and_its_phase_wrap_at_any_depth) {
  for (const std::uint32_t depth : {2U, 4U, 64U}) {
    drive_bench bench(open(), depth);
    ASSERT_EQ(bench.fill(0, 256), status::ok);
    std::uint64_t next = 0;
    for (std::uint32_t lap = 0; lap < 40; ++lap) {
      const std::uint32_t most = depth - 1 < 8 ? depth - 1 : 8;
      for (std::uint32_t i = 0; i < most; ++i)
        bench.queue().put(
            bench.block_io(opcode::read, static_cast<std::uint16_t>(i), (next + i) % 256, 1, i * 512));
      bench.queue().ring();
      std::uint32_t seen = 0;
      for (std::uint32_t i = 0; i < most; ++i) {
        const auto done = bench.queue().await();
        EXPECT_EQ(done.code(), status::ok);
        EXPECT_EQ(done.sq_head >> 16, bench.queue().id());
        EXPECT_LT(done.sq_head & 0xffffU, depth);
        seen |= 1U << done.id();
      }
      EXPECT_EQ(seen, (1U << most) - 1);
      for (std::uint32_t i = 0; i < most; ++i)
        ASSERT_EQ(bench.wrong((next + i) % 256, 1, 0, i * 512), 0U) << "depth " << depth << " lap " << lap;
      next += most;
    }
  }
}

TEST_P(drive_contract, never_overwrites_a_completion_that_was_not_freed) {
  constexpr std::uint32_t depth = 4;
  drive_bench bench(open(), depth);
  host_queue& queue = bench.queue();
  // Three answers fill the ring of four; further commands are answered only when the host frees entries.
  std::uint16_t sent = 0, got = 0;
  for (; sent < 3; ++sent) queue.put(nvme::flush_command(sent, 1));
  queue.ring();
  while (got < 3) {
    if (queue.poll()) ++got;
  }
  const auto first = queue.completion(0);
  for (; sent < 6; ++sent) queue.put(nvme::flush_command(sent, 1));
  queue.ring();
  // The drive has had its chance once another queue, served after this one, has been answered.
  host_queue other(bench.drive(), 2);
  EXPECT_EQ(other.run(nvme::flush_command(0, 1)).code(), status::ok);
  EXPECT_FALSE(queue.poll());
  EXPECT_EQ(queue.completion(0).tail, first.tail);
  queue.free_entries();
  for (; got < 6; ++got) EXPECT_EQ(queue.await().code(), status::ok);
}

TEST_P(drive_contract, many_queues_work_side_by_side) {
  auto on = open();
  std::vector<std::unique_ptr<host_queue>> queues;
  for (int i = 0; i < 8; ++i) queues.push_back(std::make_unique<host_queue>(*on, 16));
  for (int round = 0; round < 20; ++round) {
    for (auto& queue : queues) queue->submit(nvme::flush_command(static_cast<std::uint16_t>(round), 1));
    for (auto& queue : queues) EXPECT_EQ(queue->await().id(), round);
  }
}

TEST_P(drive_contract, a_deleted_queue_can_be_made_again) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 8), status::ok);
  for (int i = 0; i < 10; ++i) {
    host_queue queue(bench.drive(), 8);
    EXPECT_EQ(queue.run(bench.block_io(opcode::read, 1, 3, 1)).code(), status::ok);
    EXPECT_EQ(bench.wrong(3, 1), 0U);
  }
}

TEST_P(drive_contract, a_queue_that_comes_back_has_the_same_doorbells) {
  auto on = open();
  host_queue others(*on, 8);
  memory::buffer rings(backend::cpu, on->reachable_place(backend::cpu), 8192);
  const bus_address at = on->map(rings.view());
  const auto before = on->create_queue({at, at + 4096, 8}, backend::cpu);
  host_queue more(*on, 8);
  on->delete_queue(before.id, true);
  EXPECT_NE(host_queue(*on, 8).id(), before.id) << "a kept identifier was given away";
  std::memset(rings.host(), 0, rings.size());
  const auto after = on->create_queue({at, at + 4096, 8}, backend::cpu, before.id);
  EXPECT_EQ(after.id, before.id);
  EXPECT_EQ(after.submission_tail.value, before.submission_tail.value);
  EXPECT_EQ(after.submission_tail.sleeper, before.submission_tail.sleeper);
  EXPECT_EQ(after.completion_head.value, before.completion_head.value);
  EXPECT_EQ(*after.submission_tail.value, 0U);
  on->delete_queue(after.id);
}

TEST_P(drive_contract, no_data_arrive_after_a_queue_was_deleted) {
  drive_bench bench(open());
  ASSERT_EQ(bench.fill(0, 1024), status::ok);
  for (int round = 0; round < 10; ++round) {
    host_queue queue(bench.drive(), 64);
    for (std::uint16_t i = 0; i < 60; ++i) {
      auto entry = bench.block_io(opcode::read, i, i * 8U, 8);
      entry.prp1 = bench.address(i * 4096U).value;
      queue.put(entry);
    }
    queue.ring();
    queue.close();
    std::memset(bench.data(), 0x77, 60 * 4096);
    EXPECT_EQ(bench.run(nvme::flush_command(1, 1)), status::ok);
    for (std::size_t at = 0; at < 60 * 4096; ++at) ASSERT_EQ(bench.data(at)[0], std::byte{0x77}) << at;
  }
}

TEST_P(drive_contract, sleeping_between_commands_loses_none) {
  drive_bench bench(open());
  for (std::uint16_t i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(i * 40));
    ASSERT_EQ(bench.queue().run(nvme::flush_command(i, 1)).id(), i);
  }
}

// Faults.

TEST_P(drive_contract, answers_with_the_error_that_a_range_was_given) {
  drive_bench bench(open("error_lba=100-120&status=0x282"));
  stamp_blocks(bench.data(), 90, 8, 512, 0);
  EXPECT_EQ(bench.write(90, 8), status::ok);
  EXPECT_EQ(bench.read(96, 4), status::ok);
  EXPECT_EQ(bench.read(96, 5).nvme_code(), 0x282U);
  EXPECT_EQ(bench.read(120, 1).nvme_code(), 0x282U);
  EXPECT_EQ(bench.read(121, 1), status::ok);
}

TEST_P(drive_contract, fails_about_as_many_commands_as_it_was_told_and_the_same_again) {
  const auto failures = [&] {
    drive_bench bench(open("error_rate=0.25&seed=7"));
    std::vector<bool> failed;
    for (int i = 0; i < 400; ++i) failed.push_back(!bench.read(0, 1));
    return failed;
  };
  const auto once = failures();
  const auto count = std::count(once.begin(), once.end(), true);
  EXPECT_GT(count, 60);
  EXPECT_LT(count, 140);
  EXPECT_EQ(once, failures());
}

/// The next answer of a drive that drops commands; none once all the others of the `submitted` have been
/// `taken`. However slow the machine is: the drive's own counters tell.
inline std::optional<nvme::completion_entry> next_answer(drive_bench& bench, std::uint64_t submitted,
                                                         std::uint64_t& taken) {
  for (;;) {
    if (auto seen = bench.queue().await_within(std::chrono::milliseconds(5))) {
      ++taken;
      return seen;
    }
    const auto counters = bench.drive().counters();
    if (counters.served == taken && counters.served + counters.dropped == submitted) return std::nullopt;
  }
}

TEST_P(drive_contract, a_dropped_command_is_never_answered_and_changes_nothing) {
  auto on = open("drop_rate=0.5&seed=3");
  drive_bench bench(std::move(on));
  std::uint64_t answered = 0;
  constexpr std::uint16_t commands = 40;
  for (std::uint16_t i = 0; i < commands; ++i) {
    stamp_blocks(bench.data(i * 512U), i, 1, 512, 1);
    auto entry = bench.block_io(opcode::write, i, i, 1, i * 512U);
    bench.queue().put(entry);
  }
  bench.queue().ring();
  std::vector<bool> done(commands);
  while (const auto c = next_answer(bench, commands, answered)) done[c->id()] = true;
  EXPECT_GT(answered, 8U);
  EXPECT_LT(answered, 32U);
  const auto counters = bench.drive().counters();
  EXPECT_EQ(counters.served, answered);
  EXPECT_EQ(counters.dropped, commands - answered);
  std::uint64_t submitted = commands, taken = answered;
  for (std::uint16_t i = 0; i < commands; ++i) {
    do {
      bench.queue().submit(bench.block_io(opcode::read, 100, i, 1, 1 << 20));
    } while (!next_answer(bench, ++submitted, taken));
    EXPECT_EQ(bench.wrong(i, 1, 1, 1 << 20) == 0, done[i]) << i;
  }
}

TEST_P(drive_contract, a_torn_write_leaves_half_new_and_half_old) {
  drive_bench plain(open());
  ASSERT_EQ(plain.drive().info().block_size, 512U);
  drive_bench bench(open("tear_rate=1"));
  std::memset(bench.data(), 0xab, 4096);
  bench.queue().submit(bench.block_io(opcode::write, 1, 0, 8));
  EXPECT_FALSE(bench.queue().await_within(std::chrono::milliseconds(100)));
  ASSERT_EQ(bench.read(0, 8, 8192), status::ok);
  EXPECT_EQ(bench.data(8192)[0], std::byte{0xab});
  EXPECT_EQ(bench.data(8192 + 2047)[0], std::byte{0xab});
  EXPECT_NE(bench.data(8192 + 2048)[0], std::byte{0xab});
  EXPECT_EQ(bench.drive().counters().dropped, 1U);
}

TEST_P(drive_contract, a_delayed_answer_comes_late_but_comes) {
  drive_bench bench(open("delay_us=20000"));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(bench.read(0, 1), status::ok);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST_P(drive_contract, a_queue_with_delayed_answers_can_be_deleted) {
  drive_bench bench(open("delay_us=30000000"));
  host_queue queue(bench.drive(), 16);
  for (std::uint16_t i = 0; i < 10; ++i) queue.put(nvme::flush_command(i, 1));
  queue.ring();
  queue.close();
  EXPECT_FALSE(queue.poll());
}

TEST_P(drive_contract, shuffled_answers_come_in_another_order_and_each_once) {
  drive_bench bench(open("shuffle=1"));
  ASSERT_EQ(bench.fill(0, 64), status::ok);
  bool shuffled = false;
  for (int round = 0; round < 20; ++round) {
    for (std::uint16_t i = 0; i < 48; ++i) bench.queue().put(bench.block_io(opcode::read, i, i, 1, i * 512U));
    bench.queue().ring();
    std::uint64_t seen = 0;
    for (std::uint16_t i = 0; i < 48; ++i) {
      const auto done = bench.queue().await();
      shuffled |= done.id() != i;
      EXPECT_EQ(seen >> done.id() & 1U, 0U);
      seen |= std::uint64_t{1} << done.id();
      EXPECT_EQ(bench.wrong(done.id(), 1, 0, done.id() * 512U), 0U);
    }
    EXPECT_EQ(seen, (std::uint64_t{1} << 48) - 1);
  }
  EXPECT_TRUE(shuffled);
}

}  // namespace sluice::test
