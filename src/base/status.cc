#include "sluice/base/status.h"

#include <cstdio>

#include "sluice/base/error.h"

namespace sluice {

std::string describe(status code) {
  if (code == status::ok) return "success";
  if (code == status::timed_out) return "timed out";
  if (code == status::aborted) return "aborted with its queue";
  if (code == status::out_of_range) return "out of range";
  if (code == status::no_frame) return "no frame free";
  if (code == status::read_only) return "read only";
  if (code == status::queue_lost) return "no open queue left";
  if (code == status::bad_checksum) return "checksum mismatch";
  if (code == status::cancelled) return "cancelled";
  char text[32];
  std::snprintf(text, sizeof text, "status 0x%03x", code.is_nvme() ? code.nvme_code() : code.bits());
  return text;
}

}  // namespace sluice
