#include "tools/sluice/comparators/source_file.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/memory/buffer.h"

namespace sluice::tool {

namespace {

std::string in_words(int code) { return std::system_category().message(code); }

[[noreturn]] void refuse_scratch(const std::string& folder, const std::string& why) {
  throw error(error_kind::unavailable, "no scratch file in '" + folder + "': " + why,
              "name another folder with --scratch");
}

/// A new file that no name leads to.
int open_nameless(const std::string& folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // File systems without O_TMPFILE: a name for a moment.
  std::string path = folder + "/sluice-scratch-XXXXXX";
  fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) refuse_scratch(folder, in_words(errno));
  ::unlink(path.c_str());
  return fd;
}

void make_room(int fd, const std::string& folder, std::uint64_t bytes) {
  struct statvfs system {};
  const std::string wanted = format_bytes(static_cast<double>(bytes));
  if (::fstatvfs(fd, &system) == 0 && system.f_bavail * system.f_frsize < bytes)
    refuse_scratch(folder, "there is no room for " + wanted);
  const int code = ::posix_fallocate(fd, 0, static_cast<off_t>(bytes));
  if (code != 0) refuse_scratch(folder, "there is no room for " + wanted + ": " + in_words(code));
}

/// Whether reads of that many bytes, aligned to no more than that, may go past the page cache.
bool reads_directly(int fd, std::uint32_t bytes) {
  const memory::buffer probe(backend::cpu, memory::place::host, std::size_t{2} * bytes);
  return ::pread(fd, probe.host() + bytes, bytes, bytes) == static_cast<ssize_t>(bytes);
}

}  // namespace

source_file::descriptor::descriptor(descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
source_file::descriptor& source_file::descriptor::operator=(descriptor&& other) noexcept {
  std::swap(fd, other.fd);
  return *this;
}
source_file::descriptor::~descriptor() {
  if (fd >= 0) ::close(fd);
}

source_file::~source_file() = default;

source_file source_file::of_drives(const std::vector<std::string>& paths, std::uint64_t each) {
  source_file made(each, false);
  for (const std::string& path : paths) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) throw error(error_kind::io_failure, "cannot open '" + path + "': " + in_words(errno));
    made.files_.emplace_back(fd);
  }
  return made;
}

source_file source_file::scratch(const std::string& folder, std::uint64_t bytes) {
  source_file made(bytes, true);
  made.folder_ = folder;
  const int fd = open_nameless(folder);
  made.files_.emplace_back(fd);
  make_room(fd, folder, bytes);
  return made;
}

void source_file::write(std::span<const std::byte> all) {
  constexpr std::size_t at_once = 16 * MiB;
  const int fd = files_.front().fd;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t bytes = std::min(at_once, all.size() - at);
    const ssize_t n = ::pwrite(fd, all.data() + at, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw error(error_kind::io_failure, "writing the scratch file: " + in_words(errno));
    at += static_cast<std::size_t>(n);
  }
  // What is read past the page cache comes from the device, and what is not should not be there already.
  if (::fsync(fd) != 0) throw error(error_kind::io_failure, "writing the scratch file: " + in_words(errno));
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

bool source_file::reopen(int flags) {
  readers_.clear();
  for (const descriptor& file : files_) {
    const std::string again = "/proc/self/fd/" + std::to_string(file.fd);
    const int fd = ::open(again.c_str(), O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0) return false;
    readers_.emplace_back(fd);
  }
  return true;
}

void source_file::open_for(std::uint32_t block_bytes) {
  direct_ = reopen(O_DIRECT) && std::all_of(readers_.begin(), readers_.end(), [&](const descriptor& reader) {
              return reads_directly(reader.fd, block_bytes);
            });
  if (!direct_ && !reopen(0)) throw error(error_kind::io_failure, "opening a file again: " + in_words(errno));
}

source_file::name::~name() { ::unlink(path_.c_str()); }

std::unique_ptr<source_file::name> source_file::open_by_name() {
  const std::string path = folder_ + "/sluice-scratch-" + std::to_string(::getpid());
  const std::string nameless = "/proc/self/fd/" + std::to_string(files_.front().fd);
  if (::linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0)
    throw error(error_kind::unavailable, "the scratch file can be given no name: " + in_words(errno));
  auto given = std::make_unique<name>(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (direct_ ? O_DIRECT : 0));
  if (fd < 0)
    throw error(error_kind::unavailable, "the scratch file cannot be opened by name: " + in_words(errno));
  readers_.clear();
  readers_.emplace_back(fd);
  return given;
}

std::vector<int> source_file::descriptors() const {
  std::vector<int> all;
  for (const descriptor& reader : readers_) all.push_back(reader.fd);
  return all;
}

}  // namespace sluice::tool
