// A fork of the test that works until it is killed, and tells how far it is.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::test {

/// Runs `body(report)`, where `report(number)` tells the parent how far it is. Fork before there are threads.
class doomed {
 public:
  template <class Body>
  explicit doomed(const Body& body) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[0]);
      try {
        body([&ends](std::uint64_t number) {
          if (::write(ends[1], &number, sizeof number) != sizeof number) ::_exit(2);
        });
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    reports_ = ends[0];
  }
  doomed(const doomed&) = delete;
  doomed& operator=(const doomed&) = delete;
  ~doomed() { kill(); }

  std::optional<std::uint64_t> next_report() const {
    std::uint64_t number = 0;
    if (::read(reports_, &number, sizeof number) != sizeof number) return std::nullopt;
    return number;
  }
  /// Kills it, and gives its last report that nobody has taken, or `otherwise`.
  std::uint64_t kill(std::uint64_t otherwise = 0) {
    if (process_ == 0) return otherwise;
    ::kill(process_, SIGKILL);
    int how = 0;
    ::waitpid(process_, &how, 0);
    process_ = 0;
    while (const auto number = next_report()) otherwise = *number;
    ::close(reports_);
    failed_ = WIFEXITED(how) && WEXITSTATUS(how) != 0;
    return otherwise;
  }
  /// True where it had ended by itself before, and not well.
  bool failed() const { return failed_; }

 private:
  pid_t process_ = 0;
  int reports_ = -1;
  bool failed_ = false;
};

}  // namespace sluice::test
