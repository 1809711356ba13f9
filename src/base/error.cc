#include "sluice/base/error.h"

#include <utility>

namespace sluice {

const char* to_string(error_kind kind) {
  switch (kind) {
    case error_kind::bad_input:
      return "bad_input";
    case error_kind::unavailable:
      return "unavailable";
    case error_kind::in_use:
      return "in_use";
    case error_kind::io_failure:
      return "io_failure";
    case error_kind::corrupt:
      return "corrupt";
    case error_kind::wrong_answer:
      return "wrong_answer";
    case error_kind::cancelled:
      return "cancelled";
  }
  return "unknown";
}

int exit_status(error_kind kind) {
  switch (kind) {
    case error_kind::bad_input:
    case error_kind::unavailable:
      return 2;
    case error_kind::cancelled:
      return 130;
    default:
      return 1;
  }
}

namespace {

std::string one_line(const std::string& message, const error_place& place) {
  std::string line = message;
  if (!place.drive.empty())
    line += " [drive " + place.drive;
  else if (place.queue || place.command || place.block || !place.code.is_ok())
    line += " [";
  else
    return line;
  if (place.queue) line += " queue " + std::to_string(*place.queue);
  if (place.command) line += " command " + std::to_string(*place.command);
  if (place.block) line += " LBA " + std::to_string(place.block->value);
  if (!place.code.is_ok()) line += ": " + describe(place.code);
  return line + "]";
}

}  // namespace

error::error(error_kind kind, const std::string& message, std::string mend, error_place place)
    : std::runtime_error(one_line(message, place)),
      kind_(kind),
      mend_(std::move(mend)),
      place_(std::move(place)) {}

}  // namespace sluice
