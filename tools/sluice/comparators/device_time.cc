#include "tools/sluice/comparators/device_time.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <fstream>

namespace sluice::tool {

device_time::device_time(int fd) {
  struct stat node {};
  if (::fstat(fd, &node) != 0) {
    unknown_ = "the file's device is not known";
    return;
  }
  const dev_t device = S_ISBLK(node.st_mode) ? node.st_rdev : node.st_dev;
  const std::string number = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  path_ = "/sys/dev/block/" + number + "/stat";
  if (!std::ifstream(path_)) unknown_ = "the file system's device " + number + " is no block device";
}

device_reads device_time::now() const {
  device_reads all;
  std::uint64_t merged = 0, sectors = 0;
  std::ifstream(path_) >> all.reads >> merged >> sectors >> all.ticks_ms;
  return all;
}

}  // namespace sluice::tool
