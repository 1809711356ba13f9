#include "tools/sluice/comparators/host_room.h"

#include <fstream>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

/// What the host can still give without pushing anything out; 0 where it does not say.
std::uint64_t available_memory() {
  std::ifstream all("/proc/meminfo");
  for (std::string word; all >> word;) {
    std::uint64_t kib = 0;
    if (word == "MemAvailable:" && all >> kib) return kib * KiB;
  }
  return 0;
}

}  // namespace

void need_host_memory(std::uint64_t bytes, const std::string& mend) {
  const std::uint64_t available = available_memory();
  if (available == 0 || bytes <= available / 4 * 3) return;
  throw error(error_kind::unavailable,
              "comparators need " + format_bytes(static_cast<double>(bytes)) + " of host memory, of which " +
                  format_bytes(static_cast<double>(available)) + " are left",
              mend);
}

}  // namespace sluice::tool
