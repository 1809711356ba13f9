// What a cached volume tells the host after lanes used it: failures with their place, and lost replicas.
#include "sluice/array/cached_volume.h"

#include <string>
#include <utility>

namespace sluice {

namespace {

/// Where a byte of the volume lies; of a mirror's, on the first replica that is read at all.
error_place place_of(const storage& on, std::uint64_t byte, status code) {
  const drive::volume_ref volume = on.volume().ref();
  const drive::volume_place place = volume.locate(byte, volume.replicas() > 1 ? volume.live_replica(0) : 0);
  return {.drive = on.drives()[place.drive]->info().uri, .block = place.first, .code = code};
}

/// Names the page in the words of `scrub`: counted in its dataset, in units of the seal.
[[noreturn]] void throw_bad_page(const std::string& message, const storage& from, std::uint64_t byte) {
  std::string page;
  for (const drive::dataset& each : from.volume().datasets())
    if (each.sealed && byte >= each.first_byte && byte < each.first_byte + each.bytes)
      page = ": page " + std::to_string((byte - each.first_byte) / each.sealed->unit) + " of dataset '" +
             each.name + "' is not as it was sealed";
  if (from.volume().ref().replicas() > 1) page += ", on any replica";
  throw error(error_kind::corrupt, message + page, "sluice scrub names and mends what it can",
              place_of(from, byte, status::bad_checksum));
}

}  // namespace

std::unique_ptr<lane_seals> seals_for(storage& over, backend lanes, bool checks, std::uint32_t page_bytes) {
  std::shared_ptr<const seal_marks> marks = over.marks_for(lanes, checks);
  if (marks) return std::make_unique<lane_seals>(over.volume(), std::move(marks), checks, page_bytes);
  if (!checks) return {};
  throw error(error_kind::bad_input, "no dataset of volume '" + over.volume().name() + "' is sealed",
              "seal it first: sluice seal URI");
}

void throw_first_failure(const memory::buffer& box, const storage& from, std::uint32_t page_bytes) {
  mailbox& seen = box.host_as<mailbox>()[0];
  if (lane::on_system(seen.is).load(lane::acquire) != mailbox::full) return;  // pairs with put()
  const mailbox first = seen;
  seen = {};
  const status code = status::from_bits(first.code);
  const std::string what =
      first.operation == static_cast<std::uint32_t>(array_operation::read) ? "read" : "write";
  std::string message =
      "element " + std::to_string(first.element) + " could not be " + (what == "read" ? "read" : "written");
  if (first.failures > 1) message += " (the first of " + std::to_string(first.failures) + " failures)";
  if (code == status::bad_checksum) throw_bad_page(message, from, first.page * page_bytes);
  if (code == status::read_only)
    throw error(error_kind::bad_input, message + ": it was opened for reading", "open it for writing",
                place_of(from, first.page * page_bytes, code));
  if (code == status::out_of_range) throw error(error_kind::bad_input, message + ": beyond the array's end");
  throw error(error_kind::io_failure, message, {}, place_of(from, first.page * page_bytes, code));
}

void throw_flush_failure(const cache::flush_report& told, const storage& to, std::uint32_t page_bytes) {
  if (told.page == cache::no_page)
    throw error(error_kind::io_failure, "what was written could not be made to last",
                "mend the drive and flush again", {.code = told.code});
  throw error(error_kind::io_failure,
              "page " + std::to_string(told.page.value) + " could not be written back",
              "the page stays in the cache: mend the drive and flush again",
              place_of(to, told.page.value * page_bytes, told.code));
}

void exchange_lost_replicas(volume_store& lanes, storage& host) {
  const std::uint64_t lost = lanes.lost_replicas();
  for (std::uint32_t i = 0; i < drive::most_replicas; ++i)
    if (((lost >> i) & 1) != 0) host.volume().record_failed(i);
  lanes.leave_out(host.volume().failed());
}

}  // namespace sluice
