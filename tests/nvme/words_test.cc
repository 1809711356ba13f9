// The specification's words: status names, registers, and entries without an undefined byte.
#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

#include "sluice/base/error.h"
#include "sluice/nvme/admin.h"
#include "sluice/nvme/dataset.h"
#include "sluice/nvme/events.h"
#include "sluice/nvme/registers.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::nvme {
namespace {

TEST(status_codes, each_has_a_name_of_its_own) {
  std::set<std::string> names;
  for (const status s : status_codes) {
    const std::string name = describe(s);
    EXPECT_NE(name.find('('), std::string::npos) << name;
    EXPECT_NE(name.rfind("status", 0), 0U) << name;
    EXPECT_TRUE(names.insert(name.substr(0, name.find('('))).second) << name;
  }
}

TEST(status_codes, are_named_as_the_specification_does) {
  EXPECT_EQ(describe(code::lba_out_of_range), "LBA Out of Range (0x080)");
  EXPECT_EQ(describe(status::from_nvme(0x4281)), "Unrecovered Read Error (0x281)");
  EXPECT_EQ(describe(status::from_nvme(0x101)), "Invalid Queue Identifier (0x101)");
  EXPECT_EQ(describe(status::from_nvme(0x712)), "Vendor Specific (0x712)");
  EXPECT_EQ(describe(status::from_nvme(0x17f)), "status (0x17f)");
}

TEST(status_codes, do_not_retry_keeps_the_code) {
  EXPECT_TRUE(do_not_retry(code::invalid_field).do_not_retry());
  EXPECT_EQ(do_not_retry(code::invalid_field).nvme_code(), code::invalid_field.nvme_code());
}

TEST(registers, fields_lie_where_the_specification_puts_them) {
  constexpr capabilities cap = capabilities::make(0x1000, 20, 5, 0, 4);
  static_assert(cap.bits == 0x0040'0025'1401'0fffULL);
  static_assert(cap.doorbell_stride() == 128 && cap.timeout_ms() == 10000 && cap.max_page_shift() == 16);
  static_assert(configuration::make(12).bits == 0x00460001);
  static_assert(configuration::make(16).page_shift() == 16);
  static_assert(admin_queue_attributes::make(32, 64).bits == 0x003f001f);
  static_assert(controller_status{8}.shut_down() && !controller_status{4}.shut_down());
}

TEST(entries, have_every_dword_where_it_belongs) {
  constexpr auto read = block_command(opcode::read, 0x1234, 1, {0x1122334455667788}, 8, {0x1000}, {0x2000});
  static_assert(read.cdw0 == 0x12340002 && read.nsid == 1 && read.cdw10 == 0x55667788 &&
                read.cdw11 == 0x11223344);
  static_assert(read.cdw12 == 7 && read.prp1 == 0x1000 && read.prp2 == 0x2000 && read.cdw15 == 0);
  constexpr auto create = create_submission_queue(3, 256, {0x5000}, 2);
  static_assert(create.cdw0 == 1 && create.cdw10 == 0x00ff0003 && create.cdw11 == 0x00020001);
  constexpr auto log = get_log_page(log_page::error_information, 64, {0x1000});
  static_assert(log.cdw0 == 2 && log.cdw10 == 0x000f0001 && log.nsid == 0xffffffff);
  constexpr auto trim = deallocate_command(1, 1, 256, {0x1000}, {});
  static_assert(trim.cdw10 == 255 && trim.cdw11 == 4);
  static_assert(with_id(create, 7).cdw0 == 0x00070001);
  static_assert(queue_counts(4, 8) == 0x00070003);
  static_assert(async_event::make(error_event::invalid_doorbell_value).bits == 0x00010100);
}

}  // namespace
}  // namespace sluice::nvme
