#include "sluice/drive/uri.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sluice/base/error.h"
#include "tests/support/refusal.h"

namespace sluice::drive {
namespace {

using test::refusal;
using testing::HasSubstr;

TEST(uri, splits_scheme_subject_and_options) {
  uri name = uri::parse("file:/data/a.bin?size=4KiB&seed=7");
  EXPECT_EQ(name.scheme(), "file");
  EXPECT_EQ(name.subject(), "/data/a.bin");
  EXPECT_EQ(name.text(), "file:/data/a.bin?size=4KiB&seed=7");
  EXPECT_TRUE(name.has("size"));
  EXPECT_FALSE(name.has("siz"));
  EXPECT_EQ(name.take_bytes("size", 0), 4096U);
  EXPECT_EQ(name.take_count("seed", 1), 7U);
  EXPECT_NO_THROW(name.finish());
}

TEST(uri, keeps_colons_and_equals_signs_of_its_parts) {
  uri name = uri::parse("pci:0000:41:00.0?tag=a=b");
  EXPECT_EQ(name.subject(), "0000:41:00.0");
  EXPECT_EQ(name.take("tag", ""), "a=b");
}

TEST(uri, hands_an_option_out_once) {
  uri name = uri::parse("mem:1GiB?seed=7");
  EXPECT_EQ(name.take_count("seed", 1), 7U);
  EXPECT_EQ(name.take_count("seed", 1), 1U);
}

TEST(uri, gives_the_default_of_an_absent_option) {
  uri name = uri::parse("mem:1GiB");
  EXPECT_EQ(name.take("media", "host"), "host");
  EXPECT_EQ(name.take_bytes("size", 9), 9U);
  EXPECT_DOUBLE_EQ(name.take_real("scale", 0.5), 0.5);
  EXPECT_FALSE(name.take_flag("shuffle"));
  EXPECT_EQ(name.take_deadline_ms(), 5000U);
}

TEST(uri, refuses_what_is_not_a_uri) {
  for (const char* text :
       {"", "mem", ":4GiB", "mem:", "MEM:4GiB", "m3m:4GiB", "mem:4GiB?", "mem:4GiB?=1", "mem:4GiB?a",
        "mem:4GiB?a=", "mem:4GiB?a=1&a=2", "mem:4GiB?a=1&&b=2", "mem:4\nGiB"}) {
    const refusal no = test::refusal_of([&] { uri::parse(text); });
    EXPECT_EQ(no.kind, error_kind::bad_input) << text;
    EXPECT_FALSE(no.mend.empty()) << text;
    EXPECT_EQ(no.line.find('\n'), std::string::npos) << text;
  }
}

TEST(uri, offers_file_for_a_bare_path) {
  EXPECT_EQ(test::refusal_of([] { uri::parse("/data/a.bin"); }).mend, "write file:/data/a.bin");
}

TEST(uri, reads_every_fault) {
  uri name = uri::parse(
      "mem:1GiB?error_rate=1e-3&error_lba=100-120&status=0x286&delay_us=50&drop_rate=0.25&tear_rate=1&"
      "shuffle=1&"
      "seed=9&deadline_ms=250&error_at=7&drop_at=0");
  const fault_plan plan = name.take_faults();
  EXPECT_DOUBLE_EQ(plan.error_rate, 1e-3);
  ASSERT_TRUE(plan.error_lba.has_value());
  EXPECT_EQ(plan.error_lba->first.value, 100U);
  EXPECT_EQ(plan.error_lba->last.value, 120U);
  EXPECT_EQ(plan.code.nvme_code(), 0x286U);
  EXPECT_EQ(plan.delay_us, 50U);
  EXPECT_DOUBLE_EQ(plan.drop_rate, 0.25);
  EXPECT_DOUBLE_EQ(plan.tear_rate, 1);
  EXPECT_TRUE(plan.shuffle);
  EXPECT_EQ(plan.seed, 9U);
  EXPECT_EQ(plan.error_at, 7U);
  EXPECT_EQ(plan.drop_at, 0U);
  EXPECT_EQ(name.take_deadline_ms(), 250U);
  EXPECT_NO_THROW(name.finish());
}

TEST(uri, plans_no_fault_unless_asked) {
  const fault_plan plan = uri::parse("mem:1GiB").take_faults();
  EXPECT_FALSE(plan.any());
  EXPECT_EQ(plan.code.nvme_code(), 0x281U);
}

TEST(uri, takes_one_block_for_a_range) {
  const fault_plan plan = uri::parse("mem:1GiB?error_lba=7").take_faults();
  EXPECT_EQ(plan.error_lba->first, plan.error_lba->last);
}

TEST(uri, refuses_faults_out_of_range_naming_option_and_uri) {
  for (const char* option : {"error_rate=1.5", "error_rate=-0.1", "drop_rate=nan", "tear_rate=2",
                             "shuffle=yes", "status=0", "status=0x8000", "error_lba=120-100", "error_lba=1-",
                             "error_lba=-5", "error_lba=1-2-3", "delay_us=99999999", "seed=-1"}) {
    const std::string text = "mem:1GiB?" + std::string(option);
    const refusal no = test::refusal_of([&] { uri::parse(text).take_faults(); });
    EXPECT_EQ(no.kind, error_kind::bad_input) << option;
    EXPECT_THAT(no.line, HasSubstr(text));
    EXPECT_THAT(no.line,
                HasSubstr("option '" + std::string(option).substr(0, std::string(option).find('=')) + "'"));
  }
}

TEST(uri, refuses_a_deadline_of_nothing_or_of_a_day) {
  for (const char* text : {"mem:1GiB?deadline_ms=0", "mem:1GiB?deadline_ms=86400000"})
    EXPECT_EQ(test::refusal_of([&] { uri::parse(text).take_deadline_ms(); }).kind, error_kind::bad_input)
        << text;
}

TEST(uri, names_an_unknown_option_the_nearest_and_all_that_exist) {
  uri name = uri::parse("mem:1GiB?error_rat=1");
  name.take_faults();
  const refusal no = test::refusal_of([&] { name.finish(); });
  EXPECT_THAT(no.line, HasSubstr("mem: knows no option 'error_rat'"));
  EXPECT_THAT(no.line, HasSubstr("did you mean 'error_rate'?"));
  for (const char* key : {"error_lba", "status", "delay_us", "drop_rate", "tear_rate", "shuffle", "seed"})
    EXPECT_THAT(no.mend, HasSubstr(key));
}

TEST(uri, guesses_nothing_from_afar) {
  EXPECT_EQ(nearest("colour", {"size", "seed"}), "");
  EXPECT_EQ(nearest("sed", {"size", "seed"}), "seed");
}

}  // namespace
}  // namespace sluice::drive
