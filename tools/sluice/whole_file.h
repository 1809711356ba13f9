// A file that appears whole or not at all: what is written goes into one beside it, which takes its name at
// the end.
#pragma once

#include <fstream>
#include <string>

namespace sluice::tool {

class whole_file {
 public:
  /// Throws error{bad_input} where it cannot be written, or is there and no regular file.
  explicit whole_file(std::string path);
  /// Without keep() what was there stays.
  ~whole_file();
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;

  std::ostream& out() { return out_; }
  /// Once all is written. Throws error{io_failure}.
  void keep();

 private:
  std::string path_, part_;
  std::ofstream out_;
};

}  // namespace sluice::tool
