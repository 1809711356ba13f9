// Where bytes come from: io_uring and O_DIRECT for files, and the ways to NVMe drives.
#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

#include "tools/sluice/doctor.h"

namespace sluice::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t block = 4096;

struct freer {
  void operator()(void* bytes) const { std::free(bytes); }
};
using aligned_block = std::unique_ptr<std::byte, freer>;

aligned_block make_block() {
  return aligned_block(static_cast<std::byte*>(std::aligned_alloc(block, block)));
}

std::string reason(int code) { return std::strerror(code); }

/// Sets a ring up, registers a buffer and has one command answered; what went wrong, or empty.
std::string try_io_uring() {
  io_uring ring{};
  if (const int code = io_uring_queue_init(8, &ring, 0); code < 0) return "io_uring_setup: " + reason(-code);
  const aligned_block bytes = make_block();
  const iovec buffer{bytes.get(), block};
  std::string fault;
  io_uring_cqe* answer = nullptr;
  if (const int code = io_uring_register_buffers(&ring, &buffer, 1); code < 0)
    fault = "registering a buffer: " + reason(-code);
  else if (io_uring_prep_nop(io_uring_get_sqe(&ring)); io_uring_submit_and_wait(&ring, 1) < 1)
    fault = "submitting a command failed";
  else if (io_uring_peek_cqe(&ring, &answer) != 0 || answer->res != 0)
    fault = "a command was not answered";
  io_uring_queue_exit(&ring);
  return fault;
}

check uring() {
  const std::string fault = try_io_uring();
  if (fault.empty()) return {"io_uring", health::ok, "a ring, a registered buffer and a command work"};
  return {"io_uring", health::missing, fault + "; file: and block: drives fall back to pread and pwrite",
          "sysctl kernel.io_uring_disabled=0; in a container, allow io_uring_setup in its seccomp profile"};
}

/// Writes and reads one block past the page cache in this folder; what went wrong, or empty.
std::string try_direct() {
  std::string name = "./.sluice-doctor-XXXXXX";
  const int made = mkstemp(name.data());
  if (made < 0) return "no file can be made here: " + reason(errno);
  close(made);
  const int fd = open(name.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC);
  std::string fault = fd < 0 ? "O_DIRECT: " + reason(errno) : "";
  unlink(name.c_str());
  if (fd < 0) return fault;
  const aligned_block bytes = make_block();
  std::memset(bytes.get(), 0x5a, block);
  if (pwrite(fd, bytes.get(), block, 0) != block || pread(fd, bytes.get(), block, 0) != block)
    fault = "reading and writing a block: " + reason(errno);
  close(fd);
  return fault;
}

check direct_io() {
  std::error_code ignored;
  const std::string here = fs::current_path(ignored).string();
  const std::string fault = try_direct();
  if (fault.empty()) return {"o_direct", health::ok, "works in " + here};
  return {"o_direct", health::warn, fault + " in " + here,
          "keep file: drives on ext4, xfs or another file system that takes O_DIRECT"};
}

std::size_t count_entries(const char* folder) {
  std::error_code failed;
  std::size_t count = 0;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) ++count;
  return count;
}

check iommu() {
  const std::size_t groups = count_entries("/sys/kernel/iommu_groups");
  if (groups > 0) return {"iommu", health::ok, fmt::format("{} groups", groups)};
  return {"iommu", health::missing, "no groups: a real SSD cannot be driven from user space safely",
          "enable VT-d or AMD-Vi in the firmware, boot with intel_iommu=on or amd_iommu=on"};
}

check vfio() {
  if (access("/dev/vfio/vfio", F_OK) != 0)
    return {"vfio", health::missing, "no /dev/vfio/vfio", "modprobe vfio-pci, as root, with an IOMMU"};
  if (access("/dev/vfio/vfio", R_OK | W_OK) != 0)
    return {"vfio", health::warn, "/dev/vfio/vfio is not open to this user",
            "run as root, or give this user the node"};
  return {"vfio", health::ok, fmt::format("/dev/vfio/vfio, {} group nodes", count_entries("/dev/vfio") - 1)};
}

check nvme() {
  std::string seen;
  std::error_code failed;
  for (fs::directory_iterator at("/sys/class/nvme", failed), end; !failed && at != end;
       at.increment(failed)) {
    const fs::path device = at->path();
    seen += fmt::format("{}{} ({}, serial {}, at {})", seen.empty() ? "" : "; ", device.filename().string(),
                        first_line_of_file(device / "model"), first_line_of_file(device / "serial"),
                        first_line_of_file(device / "address"));
  }
  if (!seen.empty()) return {"nvme", health::ok, seen};
  return {"nvme", health::missing, "no NVMe device", "none needed: mem: and file: drives work without"};
}

}  // namespace

std::vector<check> drive_checks() { return {uring(), direct_io(), nvme(), iommu(), vfio()}; }

}  // namespace sluice::tool
