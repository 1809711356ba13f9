#include "sluice/array/mailbox.h"

#include <string>

#include "sluice/array/cached_volume.h"

namespace sluice {

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
  if (code == status::out_of_range) throw error(error_kind::bad_input, message + ": beyond the array's end");
  const drive::volume_place place = from.volume().ref().locate(first.page * page_bytes);
  throw error(error_kind::io_failure, message, {},
              {.drive = from.drives()[place.drive]->info().uri, .block = place.first, .code = code});
}

}  // namespace sluice
