#include "tools/sluice/calm_drives.h"

#include <array>
#include <string_view>

#include "sluice/drive/uri.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

namespace {

/// What uri::take_faults() takes.
constexpr std::array<std::string_view, 10> fault_options{"error_rate", "error_lba", "error_at", "status",
                                                         "delay_us",   "drop_rate", "drop_at",  "tear_rate",
                                                         "shuffle",    "seed"};

}  // namespace

std::vector<std::string> without_faults(std::vector<std::string> uris) {
  for (const std::string& uri : uris) drive::uri::parse(uri).take_faults();
  if (all_forget(uris)) return uris;
  for (std::string& uri : uris) uri = drive::uri::parse(uri).text_without(fault_options);
  return uris;
}

}  // namespace sluice::tool
