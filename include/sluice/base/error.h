// The one exception that host calls throw: what failed, where, and what a person can do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include "sluice/base/status.h"
#include "sluice/base/types.h"

namespace sluice {

/// Coarse sort of a failure; decides a program's exit status.
enum class error_kind {
  bad_input,     ///< the caller's words are wrong: exit 2
  unavailable,   ///< this machine lacks something: exit 2
  in_use,        ///< somebody else holds it: exit 1
  io_failure,    ///< a drive answered with an error, or not at all: exit 1
  corrupt,       ///< bytes on a drive are not what they should be: exit 1
  wrong_answer,  ///< a result does not equal the truth: exit 1
  cancelled,     ///< Ctrl-C: exit 130
};

/// A short word for a kind, as `--json` prints it: "bad_input", "io_failure", ...
const char* to_string(error_kind kind);

/// What a program exits with after an error of this kind.
int exit_status(error_kind kind);

/// Where a failure happened, as far as it is known.
struct error_place {
  std::string drive{};                     ///< the drive's URI, or empty
  std::optional<std::uint32_t> queue{};    ///< queue identifier on that drive
  std::optional<std::uint32_t> command{};  ///< command identifier on that queue
  std::optional<lba> block{};
  status code{};  ///< ok where no command failed
};

/// Thrown by host calls. what() is one line: the fault, then the place, in words of the specification.
class error : public std::runtime_error {
 public:
  error(error_kind kind, const std::string& message, std::string mend = {}, error_place place = {});

  error_kind kind() const { return kind_; }
  /// What a person can do about it; may be empty.
  const std::string& mend() const { return mend_; }
  const error_place& place() const { return place_; }

 private:
  error_kind kind_;
  std::string mend_;
  error_place place_;
};

/// One word or phrase for a status: the specification's name of an NVMe code, or our own reason.
std::string describe(status code);

}  // namespace sluice
