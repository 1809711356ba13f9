// The admin side of a software controller, through the host's driver and, where that is too well-behaved, by
// hand.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "controller/controller.h"
#include "controller/memory_media.h"
#include "controller/software_port.h"
#include "drive/nvme_client.h"
#include "sluice/base/error.h"
#include "sluice/nvme/admin.h"
#include "sluice/nvme/status_codes.h"
#include "tests/support/host_queue.h"

namespace sluice::controller {
namespace {

namespace code = nvme::code;
namespace reg = nvme::reg;
using drive::nvme_client;

std::unique_ptr<software_port> make_port(const controller_options& options = {}) {
  return std::make_unique<software_port>(
      std::make_unique<controller>(std::make_unique<memory_media>(8 << 20, true), options));
}

/// A driver over a controller with a few queues, and ring memory that it reaches.
struct bench {
  explicit bench(const controller_options& options = {.max_queues = 4, .max_depth = 256})
      : client(make_port(options), {.uri = "mem:8MiB", .max_queues = options.max_queues}),
        memory(backend::cpu, memory::place::host, 64 << 10),
        at(client.map(memory.view())) {}

  std::uint32_t status_of(const nvme::submission_entry& entry) {
    return client.submit_admin(entry).code.nvme_code();
  }

  nvme_client client;
  memory::buffer memory;
  bus_address at;
};

TEST(admin, identify_tells_who_it_is) {
  bench b;
  EXPECT_EQ(b.client.info().model, "Sluice memory drive");
  EXPECT_EQ(b.client.info().blocks, (8U << 20) / 512);
  EXPECT_EQ(b.client.info().block_size, 512U);
  EXPECT_EQ(b.client.info().max_queues, 4U);
  EXPECT_EQ(b.client.info().max_depth, 256U);
  EXPECT_EQ(b.client.info().max_transfer, 1U << 20);
  EXPECT_EQ(b.client.controller_data().ver, nvme::version_2_0);
  EXPECT_EQ(b.client.namespace_data().dlfeat, nvme::dlfeat_zeroes);
}

TEST(admin, identify_refuses_other_namespaces_and_pages) {
  bench b;
  EXPECT_EQ(b.status_of(nvme::identify(nvme::identify_what::name_space, 2, b.at)),
            code::invalid_namespace.nvme_code());
  EXPECT_EQ(b.status_of(nvme::identify(static_cast<nvme::identify_what>(0x7f), 1, b.at)),
            code::invalid_field.nvme_code());
  EXPECT_EQ(b.status_of(nvme::identify(nvme::identify_what::active_namespaces, 0xffffffff, b.at)),
            code::invalid_namespace.nvme_code());
  ASSERT_EQ(b.status_of(nvme::identify(nvme::identify_what::active_namespaces, 1, b.at)), 0U);
  EXPECT_EQ(b.memory.host_as<std::uint32_t>()[0], 0U);
  ASSERT_EQ(b.status_of(nvme::identify(nvme::identify_what::namespace_descriptors, 1, b.at)), 0U);
  EXPECT_EQ(b.memory.host()[0], static_cast<std::byte>(nvme::descriptor_type::nguid));
}

TEST(admin, data_may_lie_at_any_dword_across_two_pages) {
  bench b;
  auto entry = nvme::identify(nvme::identify_what::controller, 0, b.at + 1028);
  entry.prp2 = b.at.value + 8192;
  ASSERT_EQ(b.status_of(entry), 0U);
  nvme::identify_controller c;
  std::memcpy(&c, b.memory.host() + 1028, 4096 - 1028);
  std::memcpy(reinterpret_cast<std::byte*>(&c) + 4096 - 1028, b.memory.host() + 8192, 1028);
  EXPECT_EQ(std::memcmp(&c, &b.client.controller_data(), sizeof c), 0);
}

TEST(admin, an_unmapped_address_is_a_data_transfer_error) {
  bench b;
  EXPECT_EQ(b.status_of(nvme::identify(nvme::identify_what::controller, 0, {0x5000})),
            code::data_transfer_error.nvme_code());
}

TEST(admin, refuses_queues_that_break_the_rules) {
  bench b;
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(0, 16, b.at)), code::invalid_queue_id.nvme_code());
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(5, 16, b.at)), code::invalid_queue_id.nvme_code());
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(1, 1, b.at)), code::invalid_queue_size.nvme_code());
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(1, 257, b.at)), code::invalid_queue_size.nvme_code());
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(1, 16, b.at + 64)),
            code::prp_offset_invalid.nvme_code());
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(1, 16, {0x1000})),
            code::data_transfer_error.nvme_code());
  auto scattered = nvme::create_completion_queue(1, 16, b.at);
  scattered.cdw11 = 0;
  EXPECT_EQ(b.status_of(scattered), code::invalid_field.nvme_code());
  auto interrupting = nvme::create_completion_queue(1, 16, b.at);
  interrupting.cdw11 |= 2U | 3U << 16;
  EXPECT_EQ(b.status_of(interrupting), code::invalid_interrupt_vector.nvme_code());

  EXPECT_EQ(b.status_of(nvme::create_submission_queue(1, 16, b.at + 4096, 1)),
            code::completion_queue_invalid.nvme_code());
  EXPECT_EQ(b.status_of(nvme::create_submission_queue(1, 16, b.at + 4096, 9)),
            code::invalid_queue_id.nvme_code());
  ASSERT_EQ(b.status_of(nvme::create_completion_queue(1, 16, b.at)), 0U);
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(1, 16, b.at)), code::invalid_queue_id.nvme_code());
  ASSERT_EQ(b.status_of(nvme::create_submission_queue(2, 16, b.at + 4096, 1)), 0U);
  ASSERT_EQ(b.status_of(nvme::create_submission_queue(3, 16, b.at + 8192, 1)), 0U);
  EXPECT_EQ(b.status_of(nvme::delete_completion_queue(1)), code::invalid_queue_deletion.nvme_code());
  EXPECT_EQ(b.status_of(nvme::delete_submission_queue(1)), code::invalid_queue_id.nvme_code());
  EXPECT_EQ(b.status_of(nvme::delete_submission_queue(2)), 0U);
  EXPECT_EQ(b.status_of(nvme::delete_submission_queue(3)), 0U);
  EXPECT_EQ(b.status_of(nvme::delete_completion_queue(1)), 0U);
  EXPECT_EQ(b.status_of(nvme::delete_completion_queue(1)), code::invalid_queue_id.nvme_code());
}

TEST(admin, grants_no_more_queues_than_it_has) {
  bench b;
  EXPECT_EQ(b.client.get_feature(nvme::feature::number_of_queues), nvme::queue_counts(4, 4));
  EXPECT_EQ(b.client.admin(nvme::set_features(nvme::feature::number_of_queues, nvme::queue_counts(2, 2))),
            nvme::queue_counts(2, 2));
  EXPECT_EQ(b.status_of(nvme::create_completion_queue(3, 16, b.at)), code::invalid_queue_id.nvme_code());
  EXPECT_EQ(b.status_of(nvme::set_features(nvme::feature::number_of_queues, 0xffff)),
            code::invalid_field.nvme_code());
  ASSERT_EQ(b.status_of(nvme::create_completion_queue(1, 16, b.at)), 0U);
  EXPECT_EQ(b.status_of(nvme::set_features(nvme::feature::number_of_queues, 0)),
            code::command_sequence_error.nvme_code());
}

TEST(admin, the_driver_runs_out_of_queues_with_a_clear_word) {
  bench b;
  std::vector<std::unique_ptr<test::host_queue>> queues;
  for (int i = 0; i < 4; ++i) queues.push_back(std::make_unique<test::host_queue>(b.client, 8));
  try {
    test::host_queue one_more(b.client, 8);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::unavailable);
  }
}

TEST(admin, an_error_names_drive_command_and_status) {
  bench b;
  try {
    b.client.create_queue({b.at + 64, b.at, 16}, backend::cpu, 0);
    FAIL();
  } catch (const error& e) {
    const std::string line = e.what();
    EXPECT_NE(line.find("mem:8MiB"), std::string::npos) << line;
    EXPECT_NE(line.find("Create I/O Submission Queue"), std::string::npos) << line;
    EXPECT_NE(line.find("PRP Offset Invalid"), std::string::npos) << line;
  }
  test::host_queue works(b.client, 16);  // and the half that was made is gone again
  EXPECT_EQ(works.id(), 1);
}

TEST(admin, features_can_be_read_and_set) {
  bench b;
  b.client.set_feature(nvme::feature::arbitration, 3);
  EXPECT_EQ(b.client.get_feature(nvme::feature::arbitration), 3U);
  EXPECT_EQ(b.client.admin(nvme::get_features(nvme::feature::arbitration, nvme::feature_select::initial)),
            7U);
  EXPECT_EQ(b.client.admin(nvme::get_features(nvme::feature::arbitration, nvme::feature_select::supported)),
            4U);
  EXPECT_EQ(b.status_of(nvme::get_features(static_cast<nvme::feature>(0x7e))),
            code::invalid_field.nvme_code());
  EXPECT_EQ(b.status_of(nvme::set_features(nvme::feature::volatile_write_cache, 1)),
            code::invalid_field.nvme_code());
  auto save = nvme::set_features(nvme::feature::arbitration, 1);
  save.cdw10 |= 1U << 31;
  EXPECT_EQ(b.status_of(save), code::feature_not_saveable.nvme_code());
}

TEST(admin, refuses_commands_it_does_not_know) {
  bench b;
  nvme::submission_entry entry = nvme::abort_command(0, 0);
  entry.cdw0 = 0x7f;
  EXPECT_EQ(b.status_of(entry), code::invalid_opcode.nvme_code());
}

TEST(admin, the_error_log_tells_what_failed) {
  bench b;
  test::host_queue queue(b.client, 16);
  EXPECT_FALSE(queue.run(nvme::block_command(nvme::opcode::read, 77, 1, {1 << 20}, 1, b.at, {})).code());
  const auto log = b.client.error_log();
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(log[0].command, 77);
  EXPECT_EQ(log[0].submission_queue, queue.id());
  EXPECT_EQ(log[0].block, 1U << 20);
  EXPECT_EQ((log[0].status_field >> 1) & 0x7ffU, code::lba_out_of_range.nvme_code());
  EXPECT_EQ(b.client.health().error_log_entries.low, log[0].error_count);
}

TEST(admin, log_pages_may_be_read_in_parts) {
  bench b;
  b.status_of(nvme::get_features(static_cast<nvme::feature>(0x7e)));  // leaves an entry
  ASSERT_EQ(b.status_of(nvme::get_log_page(nvme::log_page::error_information, 64, b.at)), 0U);
  auto rest = nvme::get_log_page(nvme::log_page::error_information, 56, b.at + 8192);
  rest.cdw12 = 8;
  ASSERT_EQ(b.status_of(rest), 0U);
  EXPECT_EQ(std::memcmp(b.memory.host() + 8, b.memory.host() + 8192, 56), 0);
  rest.cdw12 = 8192;
  EXPECT_EQ(b.status_of(rest), code::invalid_field.nvme_code());
  EXPECT_EQ(b.status_of(nvme::get_log_page(static_cast<nvme::log_page>(0x70), 64, b.at)),
            code::invalid_log_page.nvme_code());
}

TEST(admin, health_counts_what_was_moved) {
  bench b;
  test::host_queue queue(b.client, 16);
  for (std::uint16_t i = 0; i < 5; ++i)
    ASSERT_TRUE(queue.run(nvme::block_command(nvme::opcode::read, i, 1, {0}, 8, b.at, {})).code());
  EXPECT_EQ(b.client.health().host_reads.low, 5U);
  EXPECT_EQ(b.client.counters().bytes_read, 5U * 4096);
}

TEST(admin, aborts_a_command_whose_answer_is_held_back) {
  drive::fault_plan late;
  late.delay_us = 60'000'000;
  bench b({.max_queues = 4, .max_depth = 256, .faults = late});
  test::host_queue queue(b.client, 16);
  queue.submit(nvme::flush_command(9, 1));
  while (b.client.counters().served == 0) std::this_thread::yield();
  EXPECT_EQ(b.client.admin(nvme::abort_command(queue.id(), 8)), 1U);
  EXPECT_EQ(b.client.admin(nvme::abort_command(queue.id(), 9)), 0U);
  EXPECT_EQ(queue.await().code(), code::abort_requested);
}

std::vector<nvme::async_event> await_event(nvme_client& client) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::vector<nvme::async_event> events;
  while (events.empty() && std::chrono::steady_clock::now() < end) events = client.take_events();
  return events;
}

TEST(admin, a_tail_outside_the_ring_is_an_event_and_the_queue_lives_on) {
  bench b;
  test::host_queue queue(b.client, 16);
  lane::ring(queue.grant().submission_tail, 16);
  const auto events = await_event(b.client);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], nvme::async_event::make(nvme::error_event::invalid_doorbell_value));
  EXPECT_TRUE(queue.run(nvme::flush_command(1, 1)).code());
}

TEST(admin, a_tail_that_overruns_unfetched_entries_is_an_event) {
  bench b;
  test::host_queue queue(b.client, 4);
  for (std::uint16_t i = 0; i < 3; ++i) queue.put(nvme::flush_command(i, 1));
  queue.ring();
  while (b.client.counters().served < 3) std::this_thread::yield();
  for (std::uint16_t i = 3; i < 6; ++i)
    queue.put(nvme::flush_command(i, 1));  // answered, but they find no room
  queue.ring();
  while (b.client.counters().served < 6) std::this_thread::yield();
  for (std::uint16_t i = 6; i < 9; ++i) queue.put(nvme::flush_command(i, 1));  // not even fetched
  queue.ring();
  test::host_queue(b.client, 2).run(nvme::flush_command(0, 1));
  EXPECT_EQ(b.client.counters().served, 7U);
  queue.put(nvme::flush_command(9, 1));  // one too many: it overwrites entry 6
  queue.ring();
  const auto events = await_event(b.client);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], nvme::async_event::make(nvme::error_event::invalid_doorbell_value));
}

TEST(admin, a_completion_head_past_the_tail_is_an_event) {
  bench b;
  test::host_queue queue(b.client, 16);
  EXPECT_TRUE(queue.run(nvme::flush_command(1, 1)).code());
  lane::ring(queue.grant().completion_head, 9);
  EXPECT_EQ(await_event(b.client).size(), 1U);
}

TEST(admin, a_doorbell_of_no_queue_is_an_event) {
  auto port = make_port({.max_queues = 4});
  software_port* raw = port.get();
  nvme_client client(std::move(port), {.uri = "mem:8MiB", .max_queues = 4});
  raw->write32(reg::doorbells + nvme::submission_doorbell(3) * doorbells::stride, 1);
  const auto events = await_event(client);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0], nvme::async_event::make(nvme::error_event::invalid_doorbell_register));
}

TEST(admin, an_event_repeats_only_after_its_log_page_was_read) {
  bench b;
  test::host_queue queue(b.client, 16);
  for (const std::uint32_t wrong : {16U, 17U, 18U}) {
    lane::ring(queue.grant().submission_tail, wrong);
    EXPECT_EQ(await_event(b.client).size(), 1U);  // the driver reads the page
  }
}

}  // namespace
}  // namespace sluice::controller
