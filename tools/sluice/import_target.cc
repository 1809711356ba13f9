#include "tools/sluice/import_target.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/drive/manifest.h"
#include "sluice/drive/uri.h"

namespace sluice::tool {

namespace {

namespace fs = std::filesystem;

bool forgets(const std::string& uri) { return drive::uri::parse(uri).forgets(); }

drive::manifest_area look_at(const std::string& uri) {
  const storage looked_at = storage::raw({{uri}}, {.mode = drive::access::read});
  return drive::look_at_manifest_area(looked_at.volume().drive_at(0));
}

[[noreturn]] void refuse(const std::string& uri, const std::string& message, const std::string& mend) {
  throw error(error_kind::bad_input, message, mend, {.drive = uri});
}

/// Before any file grows: a new volume only takes drives that hold nothing.
void need_blank(const std::vector<std::string>& uris) {
  for (const std::string& uri : uris) {
    if (forgets(uri) || new_files::is_blank(uri)) continue;
    const drive::manifest_area found = look_at(uri);
    if (found == drive::manifest_area::foreign)
      refuse(uri, "the drive holds something that is not a volume",
             "name another drive, or clear this one first");
    if (found == drive::manifest_area::volume)
      refuse(uri, "the drive is part of a volume, and other drives named here are not",
             "name exactly that volume's drives, or only new ones");
  }
}

std::uint64_t space_for(const std::vector<std::uint64_t>& datasets) {
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : datasets) sum += align_up(bytes, drive::largest_page);
  return sum;
}

/// Where the volume's last dataset ends.
std::uint64_t used_bytes(const drive::volume& of) {
  std::uint64_t end = 0;
  for (const drive::dataset& each : of.datasets())
    end = std::max(end, align_up(each.first_byte + each.bytes, drive::largest_page));
  return end;
}

/// What each drive must grow to, or 0 where there is room already.
std::uint64_t wanted_bytes(const drive_choice& to, std::uint64_t more) {
  const storage there = storage::open(to.uris, {.mode = drive::access::read});
  const drive::volume& volume = there.volume();
  const std::uint64_t needed = used_bytes(volume) + more;
  if (needed <= volume.bytes()) return 0;
  return drive::volume::drive_bytes_for(needed, volume.drives(), volume.how(), volume.unit());
}

}  // namespace

void need_drives_that_last(const drive_choice& to) {
  const auto forgetful = std::count_if(to.uris.begin(), to.uris.end(), forgets);
  const bool lasts = to.how == drive::layout::mirror ? forgetful < std::ssize(to.uris) : forgetful == 0;
  if (lasts) return;
  const std::string& named = *std::find_if(to.uris.begin(), to.uris.end(), forgets);
  refuse(named, "the drive forgets at the end of the program: what is imported there would be lost",
         "import to a file: or block: drive");
}

new_files::new_files(const std::vector<std::string>& uris) {
  for (const std::string& text : uris) {
    const drive::uri name = drive::uri::parse(text);
    if (name.scheme() == "file" && !fs::exists(name.subject())) paths_.push_back(name.subject());
  }
}

new_files::~new_files() {
  std::error_code ignored;
  for (const std::string& path : paths_) fs::remove(path, ignored);
}

bool new_files::is_blank(const std::string& uri) {
  const drive::uri name = drive::uri::parse(uri);
  if (name.scheme() != "file") return false;
  std::error_code ignored;
  return !fs::exists(name.subject()) ||
         (fs::is_regular_file(name.subject()) && fs::file_size(name.subject(), ignored) == 0);
}

storage open_import_target(const drive_choice& to, const std::vector<std::uint64_t>& datasets) {
  const std::uint64_t bytes = space_for(datasets);
  const bool all_readable = std::none_of(to.uris.begin(), to.uris.end(), new_files::is_blank);
  if (all_readable && storage::holds_volume(to.uris))
    return storage::open(to.uris, {.mode = drive::access::write, .create_bytes = wanted_bytes(to, bytes)});
  need_blank(to.uris);
  const auto drives = static_cast<std::uint32_t>(to.uris.size());
  const std::uint64_t each = drive::volume::drive_bytes_for(bytes, drives, to.how, to.unit);
  return storage::create(to.uris, {.mode = drive::access::write, .create_bytes = each}, to.how, to.unit,
                         "data");
}

}  // namespace sluice::tool
