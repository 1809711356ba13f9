#include "sluice/drive/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/refusal.h"

namespace sluice::drive {
namespace {

using test::refusal_of;
using testing::HasSubstr;

TEST(open, sends_mem_to_the_software_controller) {
  const std::unique_ptr<drive> opened = open("mem:1MiB", {.mode = access::write});
  EXPECT_EQ(opened->info().bytes(), MiB);
  EXPECT_TRUE(opened->info().forgets);
}

// The URI's deadline once stayed in the URI, and everybody waited for 5 s.
TEST(open, tells_those_who_wait_how_long_a_command_may_take) {
  EXPECT_EQ(open("mem:1MiB?deadline_ms=300", {})->info().deadline_ms, 300U);
  EXPECT_EQ(open("mem:1MiB", {})->info().deadline_ms, default_deadline_ms);
}

TEST(open, names_the_nearest_scheme_and_all_that_exist) {
  const auto no = refusal_of([] { open("men:1MiB", {}); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_THAT(no.line, HasSubstr("did you mean 'mem:'?"));
  for (const char* scheme : {"mem:", "file:", "block:", "emu:", "pci:", "host:"})
    EXPECT_THAT(no.mend, HasSubstr(scheme));
}

TEST(open, says_what_serves_instead_of_a_scheme_that_is_not_there_yet) {
  for (const char* text : {"pci:0000:41:00.0", "host:1GiB"}) {
    const auto no = refusal_of([&] { open(text, {}); });
    EXPECT_EQ(no.kind, error_kind::unavailable) << text;
    EXPECT_THAT(no.mend, HasSubstr("use ")) << text;
  }
}

}  // namespace
}  // namespace sluice::drive
