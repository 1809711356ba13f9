// Where lanes run: cores, a GPU and its driver, and the memory that they share with drives.
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/lane/launch.h"
#include "tools/sluice/doctor.h"

namespace sluice::tool {

namespace {

namespace fs = std::filesystem;

check cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  const int count = sched_getaffinity(0, sizeof(mine), &mine) == 0 ? CPU_COUNT(&mine) : 1;
  const std::string detail = fmt::format("{} that this process may use", count);
  if (count < 2)
    return {"cores", health::warn, detail + "; lanes and controller threads take turns",
            "give the process two or more"};
  return {"cores", health::ok, detail};
}

/// A line of /proc/meminfo, in its unit (kB, or pages).
std::uint64_t meminfo(const std::string& key) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key + ":", 0) == 0) return std::strtoull(line.c_str() + key.size() + 1, nullptr, 10);
  }
  return 0;
}

check memory_left() {
  const double bytes = static_cast<double>(meminfo("MemAvailable") * KiB);
  if (bytes < static_cast<double>(1 * GiB))
    return {"memory", health::warn, format_bytes(bytes) + " available",
            "mem: drives and caches need some: end other programs"};
  return {"memory", health::ok, format_bytes(bytes) + " available"};
}

check huge_pages() {
  const std::string transparent = first_line_of_file("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::uint64_t reserved = meminfo("HugePages_Total");
  const bool automatic = transparent.find("[never]") == std::string::npos && !transparent.empty();
  const std::string detail = fmt::format("{} reserved; transparent ones {}", reserved,
                                         transparent.empty() ? "not offered by this kernel" : transparent);
  if (reserved > 0 || automatic) return {"hugepages", health::ok, detail};
  return {"hugepages", health::warn, detail,
          "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root: large memory is then mapped "
          "in 2 MiB pages"};
}

check locked_memory() {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) return {"memlock", health::ok, "unlimited"};
  const std::string detail = format_bytes(static_cast<double>(limit.rlim_cur)) + " may be locked";
  if (limit.rlim_cur >= 64 * MiB) return {"memlock", health::ok, detail};
  return {"memlock", health::warn,
          detail + "; io_uring's registered buffers and VFIO need more where not root",
          "ulimit -l unlimited, or memlock in /etc/security/limits.conf"};
}

std::string nvidia_device() {
  std::error_code ignored;
  for (const auto& device : fs::directory_iterator("/sys/bus/pci/devices", ignored)) {
    const std::string kind = first_line_of_file(device.path() / "class");
    if (first_line_of_file(device.path() / "vendor") == "0x10de" && kind.rfind("0x03", 0) == 0)
      return device.path().filename();
  }
  return {};
}

check gpu_driver() {
  const std::string driver = first_line_of_file("/proc/driver/nvidia/version");
  if (!driver.empty()) return {"gpu-driver", health::ok, driver};
  const std::string device = nvidia_device();
  if (!device.empty())
    return {"gpu-driver", health::missing, "an NVIDIA GPU at " + device + " without its driver",
            "install NVIDIA's driver 580 or later"};
  return {"gpu-driver", health::missing, "no NVIDIA GPU and no driver",
          "none needed: kernels run on the cpu backend"};
}

check gpu() {
  try {
    return {"gpu", health::ok, lane::machine::cuda()->name()};
  } catch (const error& lacking) {
    return {"gpu", health::missing, std::string(lacking.what()) + "; kernels run on the cpu backend",
            lacking.mend()};
  }
}

}  // namespace

std::vector<check> lane_checks() {
  return {cores(), memory_left(), huge_pages(), locked_memory(), gpu_driver(), gpu()};
}

}  // namespace sluice::tool
