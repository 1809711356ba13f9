// A file that exists for the length of a test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace sluice::test {

class scratch_file {
 public:
  scratch_file() : path_((std::filesystem::temp_directory_path() / "sluice-XXXXXX").string()) {
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
