#include "sluice/drive/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "sluice/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/scratch_file.h"

namespace sluice::drive {
namespace {

using test::scratch_file;
using testing::HasSubstr;

/// What `body` returns in another process: 0..255.
int in_another_process(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int how = 0;
  ::waitpid(child, &how, 0);
  return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

bool locks_elsewhere(const std::string& path, access mode) {
  return in_another_process([&]() -> int {
           try {
             const drive_lock lock(path, mode, "file:" + path);
             return 0;
           } catch (const error& e) {
             return e.kind() == error_kind::in_use ? 1 : 2;
           }
         }) == 0;
}

TEST(drive_lock, lets_readers_share) {
  const scratch_file file;
  const drive_lock mine(file.path(), access::read, "file:x");
  EXPECT_TRUE(locks_elsewhere(file.path(), access::read));
}

TEST(drive_lock, keeps_writers_out_while_somebody_reads) {
  const scratch_file file;
  const drive_lock mine(file.path(), access::read, "file:x");
  EXPECT_FALSE(locks_elsewhere(file.path(), access::write));
}

TEST(drive_lock, keeps_everybody_out_while_somebody_writes) {
  const scratch_file file;
  const drive_lock mine(file.path(), access::write, "file:x");
  EXPECT_FALSE(locks_elsewhere(file.path(), access::read));
  EXPECT_FALSE(locks_elsewhere(file.path(), access::write));
}

TEST(drive_lock, lets_go_at_its_end) {
  const scratch_file file;
  { const drive_lock mine(file.path(), access::write, "file:x"); }
  EXPECT_TRUE(locks_elsewhere(file.path(), access::write));
}

TEST(drive_lock, lets_go_when_its_process_dies) {
  const scratch_file file;
  in_another_process([&]() -> int {
    const drive_lock held(file.path(), access::write, "file:x");
    ::_exit(0);
  });
  EXPECT_NO_THROW(drive_lock(file.path(), access::write, "file:x"));
}

TEST(drive_lock, binds_a_second_opener_of_the_same_process) {
  const scratch_file file;
  const drive_lock mine(file.path(), access::write, "file:x");
  EXPECT_EQ(test::refusal_of([&] { drive_lock(file.path(), access::write, "file:x"); }).kind,
            error_kind::in_use);
}

TEST(drive_lock, names_the_holder_and_the_drive) {
  const scratch_file file;
  const drive_lock mine(file.path(), access::write, "file:x");
  const test::refusal no = test::refusal_of([&] { drive_lock(file.path(), access::read, "file:x"); });
  EXPECT_THAT(no.line, HasSubstr("process " + std::to_string(::getpid())));
  EXPECT_THAT(no.line, HasSubstr("file:x"));
}

TEST(drive_lock, moves_with_its_owner) {
  const scratch_file file;
  drive_lock first(file.path(), access::write, "file:x");
  drive_lock second = std::move(first);
  EXPECT_TRUE(second.held());
  EXPECT_FALSE(locks_elsewhere(file.path(), access::read));
  second = drive_lock();
  EXPECT_TRUE(locks_elsewhere(file.path(), access::read));
}

TEST(drive_lock, refuses_a_file_that_is_not_there) {
  const test::refusal no =
      test::refusal_of([] { drive_lock("/nowhere/at/all", access::read, "file:/nowhere/at/all"); });
  EXPECT_EQ(no.kind, error_kind::bad_input);
  EXPECT_THAT(no.line, HasSubstr("/nowhere/at/all"));
}

}  // namespace
}  // namespace sluice::drive
