#include "controller/file_media.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "controller/pool_channel.h"
#include "controller/uring_channel.h"
#include "sluice/base/error.h"

namespace sluice::controller {

namespace {

[[noreturn]] void refuse(const std::string& path, int code, bool device) {
  if (code == EBUSY && device)
    throw error(error_kind::in_use, "'" + path + "' is mounted or held by another program",
                "unmount it, or stop what holds it: lsblk " + path);
  const error_kind kind =
      code == EACCES || code == EPERM || code == EROFS ? error_kind::unavailable : error_kind::bad_input;
  throw error(kind, "cannot open '" + path + "': " + std::system_category().message(code),
              "look at the path and its permissions");
}

int open_or_refuse(const std::string& path, int flags, bool device) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) refuse(path, errno, device);
  return fd;
}

/// The alignment that direct reads of this file need, or 0 where it takes none.
std::uint32_t direct_granule(int fd) {
  constexpr std::uint32_t most = 4096;
  const aligned_bytes probe = allocate_aligned(2 * most);
  for (std::uint32_t granule = 512; granule <= most; granule *= 2) {
    // Aligned to the granule and to no more, in memory and in the file.
    if (::pread(fd, probe.get() + granule, granule, granule) >= 0) return granule;
    if (errno != EINVAL) return 0;
  }
  return 0;
}

std::uint64_t device_bytes(int fd) {
  std::uint64_t bytes = 0;
  return ::ioctl(fd, BLKGETSIZE64, &bytes) == 0 ? bytes : 0;
}

}  // namespace

file_media::file_media(const std::string& path, const file_options& options) : engine_(options.engine) {
  const int flags = (options.writable ? O_RDWR : O_RDONLY) | (options.device ? O_EXCL : 0);
  // Look before opening for good: a device must not be opened exclusively twice, nor a pipe at all.
  struct stat node {};
  if (::stat(path.c_str(), &node) != 0) refuse(path, errno, options.device);
  if (options.device ? !S_ISBLK(node.st_mode) : !S_ISREG(node.st_mode))
    throw error(error_kind::bad_input,
                "'" + path + "' is not " + (options.device ? "a block device" : "a regular file"),
                S_ISBLK(node.st_mode) ? "use block:" + path : "name another one");

  fd_ = ::open(path.c_str(), flags | O_DIRECT | O_CLOEXEC);
  std::uint32_t granule = fd_ >= 0 ? direct_granule(fd_) : 0;
  if (fd_ < 0 && errno != EINVAL) refuse(path, errno, options.device);
  // Direct transfers of less than the granule are refused: then the page cache serves smaller blocks.
  const bool too_small = options.block_size != 0 && options.block_size < granule;
  if (granule == 0 || too_small) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = open_or_refuse(path, flags, options.device);
    granule = 1;
  }
  traits_ = {.model = options.device ? "Sluice block drive" : "Sluice file drive",
             .bytes = options.device ? device_bytes(fd_) : static_cast<std::uint64_t>(node.st_size),
             .block_size = std::max<std::uint32_t>(granule, 512),
             .granule = granule,
             .writable = options.writable,
             .write_cache = true};
  if (options.device) {
    int sector = 512;
    if (::ioctl(fd_, BLKSSZGET, &sector) == 0 && sector > 0)
      traits_.block_size = static_cast<std::uint32_t>(sector);
  }
}

file_media::~file_media() { ::close(fd_); }

std::unique_ptr<media_channel> file_media::open_channel(unsigned depth) {
  const file_target target{fd_, traits_.granule};
  if (engine_ == file_engine::best) {
    if (auto channel = open_uring_channel(target, depth)) return channel;
    std::fprintf(stderr, "sluice: this machine refuses io_uring; using threads, which is slower\n");
    engine_ = file_engine::threads;
  }
  return std::make_unique<pool_channel>(target, depth);
}

bool file_media::sync() { return !traits_.writable || ::fdatasync(fd_) == 0; }

}  // namespace sluice::controller
