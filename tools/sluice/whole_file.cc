#include "tools/sluice/whole_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "sluice/base/error.h"

namespace sluice::tool {

whole_file::whole_file(std::string path) : path_(std::move(path)), part_(path_ + ".part") {
  std::error_code ignored;
  const auto there = std::filesystem::status(path_, ignored);
  if (!std::filesystem::exists(there) || std::filesystem::is_regular_file(there))
    out_.open(part_, std::ios::trunc);
  if (!out_.is_open())
    throw error(error_kind::bad_input, "cannot write the file '" + path_ + "'",
                "look at the path and its permissions");
}

whole_file::~whole_file() {
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void whole_file::keep() {
  out_.close();
  std::error_code fault;
  if (out_) std::filesystem::rename(part_, path_, fault);
  if (!out_ || fault)
    throw error(error_kind::io_failure, "writing '" + path_ + "' failed", "look at the free space");
}

}  // namespace sluice::tool
