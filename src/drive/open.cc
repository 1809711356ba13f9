#include "sluice/drive/open.h"

#include <string>
#include <utility>
#include <vector>

#include "sluice/base/error.h"

namespace sluice::drive {

namespace {

using opener = std::unique_ptr<drive> (*)(uri, const open_options&);

/// What a scheme leads to: an opener, or the reason why there is none and what serves instead.
struct scheme {
  std::string name;
  opener open;
  std::string lack;
  std::string mend;
};

const std::vector<scheme>& schemes() {
  static const std::vector<scheme> all{
      {"mem", open_software_controller, "", ""},
      {"file", open_software_controller, "", ""},
      {"block", open_software_controller, "", ""},
      {"emu", open_emulated_drive, "", ""},
      {"pci", nullptr, "this version has no user-space driver for a real SSD",
       "use block: with the SSD's device node, such as block:/dev/nvme0n1"},
      {"host", nullptr, "this version has no zero-copy page source", "use mem: for a drive in host memory"},
  };
  return all;
}

[[noreturn]] void refuse_unknown(const uri& name) {
  std::vector<std::string> names;
  std::string known;
  for (const scheme& each : schemes()) {
    names.push_back(each.name);
    known += (known.empty() ? "" : ", ") + each.name + ":";
  }
  const std::string meant = nearest(name.scheme(), names);
  throw error(error_kind::bad_input,
              "no drive has the scheme '" + name.scheme() + ":'" +
                  (meant.empty() ? "" : "; did you mean '" + meant + ":'?"),
              "use one of: " + known, {.drive = name.text()});
}

}  // namespace

std::unique_ptr<drive> open(std::string_view uri_text, const open_options& options) {
  uri name = uri::parse(uri_text);
  for (const scheme& each : schemes()) {
    if (each.name != name.scheme()) continue;
    if (each.open == nullptr)
      throw error(error_kind::unavailable, each.lack, each.mend, {.drive = name.text()});
    return each.open(std::move(name), options);
  }
  refuse_unknown(name);
}

}  // namespace sluice::drive
