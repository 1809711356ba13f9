// The controller's registers as a host that follows no driver's manners meets them.
#include <gtest/gtest.h>

#include <memory>

#include "controller/controller.h"
#include "controller/memory_media.h"
#include "controller/software_port.h"
#include "sluice/nvme/admin.h"
#include "sluice/nvme/registers.h"
#include "sluice/nvme/status_codes.h"
#include "tests/support/raw_admin.h"

namespace sluice::controller {
namespace {

namespace code = nvme::code;
namespace reg = nvme::reg;
using nvme::controller_status;
using test::raw_admin;

struct register_bench {
  register_bench()
      : port(std::make_unique<controller>(std::make_unique<memory_media>(1 << 20, true),
                                          controller_options{.max_queues = 4, .max_depth = 1024})),
        raw(port) {}
  software_port port;
  raw_admin raw;
};

TEST(registers, capabilities_tell_the_truth) {
  register_bench b;
  const nvme::capabilities cap{b.port.read64(reg::cap)};
  EXPECT_EQ(cap.max_queue_entries(), 1024U);
  EXPECT_TRUE(cap.contiguous_queues());
  EXPECT_TRUE(cap.nvm_command_set());
  EXPECT_EQ(cap.doorbell_stride(), doorbells::stride);
  EXPECT_EQ(cap.min_page_shift(), 12U);
  EXPECT_EQ(cap.max_page_shift(), 16U);
  EXPECT_GT(cap.timeout_ms(), 0U);
  EXPECT_EQ(b.port.read32(reg::cap) | std::uint64_t{b.port.read32(reg::cap + 4)} << 32, cap.bits);
  EXPECT_EQ(b.port.read32(reg::vs), nvme::version_2_0);
}

TEST(registers, ready_follows_enable_both_ways) {
  register_bench b;
  EXPECT_FALSE(controller_status{b.port.read32(reg::csts)}.ready());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(b.raw.enable());
    EXPECT_FALSE(controller_status{b.port.read32(reg::csts)}.fatal());
    EXPECT_EQ(b.raw.run(nvme::identify(nvme::identify_what::controller, 0, b.raw.data())), 0U);
    b.raw.set_cc(0);
    ASSERT_TRUE(b.raw.await([](controller_status s) { return !s.ready(); }));
  }
}

TEST(registers, base_addresses_can_be_written_in_halves) {
  register_bench b;
  b.port.write32(reg::asq, 0x89abc000);
  b.port.write32(reg::asq + 4, 0x1234567);
  EXPECT_EQ(b.port.read64(reg::asq), 0x0123456789abc000U);
  b.port.write32(reg::asq, 0x1000);
  EXPECT_EQ(b.port.read64(reg::asq), 0x0123456700001000U);
}

TEST(registers, a_configuration_that_is_not_offered_is_fatal) {
  const auto fatal = [](std::uint32_t cc, auto&& spoil) {
    register_bench b;
    b.raw.configure();
    spoil(b.port);
    b.raw.set_cc(cc);
    return b.raw.await([](controller_status s) { return s.fatal(); });
  };
  const auto nothing = [](software_port&) {};
  const std::uint32_t good = nvme::configuration::make(12).bits;
  EXPECT_TRUE(fatal(nvme::configuration::make(17).bits, nothing));  // pages larger than CAP.MPSMAX
  EXPECT_TRUE(fatal(good | 1U << 4, nothing));                      // an unknown command set
  EXPECT_TRUE(fatal(good ^ 1U << 16, nothing));                     // entries of 128 bytes
  EXPECT_TRUE(fatal(good, [](software_port& p) { p.write64(reg::asq, 0x1000); }));  // not mapped
  EXPECT_TRUE(fatal(good, [](software_port& p) { p.write32(reg::aqa, 0); }));       // one entry
}

TEST(registers, shutdown_completes) {
  register_bench b;
  ASSERT_TRUE(b.raw.enable());
  b.raw.set_cc(b.port.read32(reg::cc) | nvme::configuration::normal_shutdown);
  EXPECT_TRUE(b.raw.await([](controller_status s) { return s.shut_down(); }));
}

TEST(registers, a_reset_forgets_queues_and_features) {
  register_bench b;
  ASSERT_TRUE(b.raw.enable());
  ASSERT_EQ(b.raw.run(nvme::create_completion_queue(1, 16, b.raw.data())), 0U);
  ASSERT_EQ(b.raw.run(nvme::set_features(nvme::feature::arbitration, 2)), 0U);
  b.raw.set_cc(0);
  ASSERT_TRUE(b.raw.await([](controller_status s) { return !s.ready(); }));
  ASSERT_TRUE(b.raw.enable());
  EXPECT_EQ(b.raw.run(nvme::delete_completion_queue(1)), code::invalid_queue_id.nvme_code());
  b.raw.submit(nvme::get_features(nvme::feature::arbitration));
  EXPECT_EQ(b.raw.await_within(std::chrono::seconds(5))->result, 7U);
}

TEST(registers, takes_four_event_requests_and_no_more) {
  register_bench b;
  ASSERT_TRUE(b.raw.enable());
  for (std::uint16_t i = 0; i < 4; ++i) b.raw.submit(nvme::with_id(nvme::async_event_request(), i));
  EXPECT_FALSE(b.raw.await_within(std::chrono::milliseconds(20)));
  EXPECT_EQ(b.raw.run(nvme::with_id(nvme::async_event_request(), 4)),
            code::async_event_limit_exceeded.nvme_code());
}

TEST(registers, larger_memory_pages_are_served) {
  register_bench b;
  b.raw.configure();
  b.raw.set_cc(nvme::configuration::make(14).bits);
  // The raw driver's rings start at 4 KiB boundaries: good or bad for 16 KiB pages as the allocator pleased.
  const bool fits = b.raw.address().value % (16 << 10) == 0;
  ASSERT_TRUE(b.raw.await([](controller_status s) { return s.ready() || s.fatal(); }));
  EXPECT_EQ(controller_status{b.port.read32(reg::csts)}.fatal(), !fits);
}

TEST(registers, an_event_waits_for_a_request) {
  register_bench b;
  ASSERT_TRUE(b.raw.enable());
  lane::ring(b.port.doorbell(nvme::submission_doorbell(0)), raw_admin::entries);
  EXPECT_FALSE(b.raw.await_within(std::chrono::milliseconds(20)));
  b.raw.submit(nvme::async_event_request());
  const auto seen = b.raw.await_within(std::chrono::seconds(5));
  ASSERT_TRUE(seen);
  EXPECT_EQ(nvme::async_event{seen->result},
            nvme::async_event::make(nvme::error_event::invalid_doorbell_value));
}

}  // namespace
}  // namespace sluice::controller
