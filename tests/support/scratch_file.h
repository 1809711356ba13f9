// A file that exists for the length of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace sluice::test {

/// Where files are memory, if there is such a place: no other program's disk traffic stalls them.
inline std::filesystem::path memory_folder() {
  const std::filesystem::path shared = "/dev/shm";
  return ::access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
}

class scratch_file {
 public:
  explicit scratch_file(const std::filesystem::path& folder = std::filesystem::temp_directory_path())
      : path_((folder / "sluice-XXXXXX").string()) {
    const int fd = ::mkstemp(path_.data());
    if (fd >= 0) ::close(fd);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace sluice::test
