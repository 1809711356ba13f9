#include "sluice/drive/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "sluice/base/error.h"

namespace sluice::drive {

namespace {

constexpr std::chrono::milliseconds patience{200};
constexpr std::chrono::milliseconds between_tries{10};

std::string reason(int code) { return std::system_category().message(code); }

int open_node(const std::string& path, const std::string& uri) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd >= 0) return fd;
  const int code = errno;
  const error_kind kind = code == EACCES || code == EPERM ? error_kind::unavailable : error_kind::bad_input;
  throw error(kind, "cannot open '" + path + "': " + reason(code), "look at the path and its permissions",
              {.drive = uri});
}

/// True once held; false where somebody kept it for all our patience.
bool lock_within_patience(int fd, access mode) {
  const int how = (mode == access::write ? LOCK_EX : LOCK_SH) | LOCK_NB;
  const auto until = std::chrono::steady_clock::now() + patience;
  while (::flock(fd, how) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) throw std::system_error(errno, std::system_category());
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(between_tries);
  }
  return true;
}

/// "8:1:1234" in the kernel's spelling of /proc/locks: device and inode.
std::string proc_locks_name(const struct stat& node) {
  char text[64];
  std::snprintf(text, sizeof text, "%02x:%02x:%ju", major(node.st_dev), minor(node.st_dev),
                static_cast<std::uintmax_t>(node.st_ino));
  return text;
}

/// The process that holds a lock on this file as the kernel lists it, or 0 where it does not tell.
long holder(int fd) {
  struct stat node {};
  if (::fstat(fd, &node) != 0) return 0;
  const std::string wanted = proc_locks_name(node);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, sort, advice, mode, place;
    long pid = 0;
    words >> number >> sort >> advice >> mode >> pid >> place;
    if (sort == "FLOCK" && place == wanted && pid > 0) return pid;
  }
  return 0;
}

[[noreturn]] void refuse(int fd, access mode, const std::string& uri) {
  const long pid = holder(fd);
  const std::string who = pid > 0 ? "process " + std::to_string(pid) : "another program";
  const std::string what = mode == access::write ? "is open in " : "is open for writing in ";
  throw error(error_kind::in_use, "the drive " + what + who,
              pid > 0 ? "wait for it to end, or stop it: kill " + std::to_string(pid) : "wait for it to end",
              {.drive = uri});
}

}  // namespace

drive_lock::drive_lock(const std::string& path, access mode, const std::string& uri)
    : fd_(open_node(path, uri)) {
  try {
    if (!lock_within_patience(fd_, mode)) refuse(fd_, mode, uri);
  } catch (const std::system_error& e) {
    ::close(fd_);
    throw error(error_kind::unavailable, "cannot lock '" + path + "': " + e.code().message(),
                "keep the file on a file system that knows flock", {.drive = uri});
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

drive_lock::drive_lock(drive_lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

drive_lock& drive_lock::operator=(drive_lock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

drive_lock::~drive_lock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace sluice::drive
