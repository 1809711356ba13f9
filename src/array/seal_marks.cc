#include "sluice/array/seal_marks.h"

#include <span>
#include <utility>

#include "sluice/base/error.h"

namespace sluice {

seal_marks::seal_marks(drive::volume& of, backend lanes) : volume_(of), lanes_(lanes) {
  for (const drive::dataset& each : of.datasets()) {
    if (!each.sealed) continue;
    const drive::seal_record record = of.record_of(each);
    if (!record.counts()) continue;
    const auto bits = std::as_bytes(std::span(record.written()));
    marked made{.of = each, .units = memory::buffer(lanes, memory::place::device, bits.size())};
    memory::copy_in(made.units.view(), 0, bits);
    datasets_.push_back(std::move(made));
  }
  of.begin_writing();
}

seal_marks::~seal_marks() {
  try {
    for (const marked& each : datasets_) {
      std::vector<std::uint32_t> bits(each.units.size() / sizeof(std::uint32_t));
      memory::copy_out(each.units.view(), 0, std::as_writable_bytes(std::span(bits)));
      if (volume_.is_writable()) volume_.note_written(each.of, bits);
    }
    volume_.end_writing();
  } catch (const error&) {
    // The mark stays: the seals cover nothing, until the datasets are sealed again.
  }
}

}  // namespace sluice
