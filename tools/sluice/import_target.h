// The volume that an import fills: one that is there, or a new one, on drives that keep what they get.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/array/storage.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

/// Throws error{bad_input} where what is imported there would end with the program.
void need_drives_that_last(const drive_choice& to);

/// The files of `file:` drives that are not there yet. Those that came to be go again, unless kept.
class new_files {
 public:
  explicit new_files(const std::vector<std::string>& uris);
  new_files(const new_files&) = delete;
  new_files& operator=(const new_files&) = delete;
  ~new_files();
  bool none() const { return paths_.empty(); }
  /// True where the drive's file is not there, or empty: nothing can be read from it.
  static bool is_blank(const std::string& uri);
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

/// Opens the volume that lies on those drives, or makes one; `file:` drives are created or grown until each
/// of `datasets` (bytes) fits. Changes nothing where it throws error{bad_input}: drives that hold something
/// else, or only a part of a volume.
storage open_import_target(const drive_choice& to, const std::vector<std::uint64_t>& datasets);

}  // namespace sluice::tool
