#include "tools/sluice/process_time.h"

#include <ctime>

namespace sluice::tool {

double process_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace sluice::tool
