#include "sluice/array/lane_seals.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice {

namespace {

constexpr std::uint64_t sums_at_once = std::uint64_t{1} << 18;  // a multiple of any block's

void need_large_pages(const drive::volume& of, std::uint32_t page_bytes) {
  for (const drive::dataset& each : of.datasets()) {
    if (each.sealed && each.sealed->unit > page_bytes)
      throw error(error_kind::bad_input,
                  "dataset '" + each.name + "' is sealed by units of " + std::to_string(each.sealed->unit) +
                      " bytes, so smaller pages cannot be checked",
                  "use such pages, or seal it again with --unit " + std::to_string(page_bytes));
  }
}

memory::buffer sums_of(const drive::seal_record& record, backend lanes) {
  const std::uint64_t units = record.shape().units;
  memory::buffer made(lanes, memory::place::device, units * sizeof(std::uint32_t));
  std::vector<std::uint32_t> part;
  for (std::uint64_t at = 0; at < units; at += sums_at_once) {
    part.resize(std::min(sums_at_once, units - at));
    record.sums(at, part);
    memory::copy_in(made.view(), at * sizeof(std::uint32_t), std::as_bytes(std::span(part)));
  }
  return made;
}

}  // namespace

lane_seals::lane_seals(const drive::volume& of, std::shared_ptr<const seal_marks> marks, bool checks,
                       std::uint32_t page_bytes)
    : marks_(std::move(marks)), checks_(checks) {
  if (checks) need_large_pages(of, page_bytes);
  std::vector<seal_extent> extents;
  for (const seal_marks::marked& each : marks_->datasets()) {
    const drive::seal_record record = of.record_of(each.of);
    seal_extent extent{.first_byte = each.of.first_byte,
                       .units = record.shape().units,
                       .unit_shift = log2_exact(each.of.sealed->unit),
                       .sums = nullptr,
                       .written = each.units.lanes_as<std::uint32_t>()};
    if (checks) {
      sums_.push_back(sums_of(record, marks_->lanes()));
      extent.sums = sums_.back().lanes_as<const std::uint32_t>();
    }
    extents.push_back(extent);
  }
  std::vector<std::byte> bytes(offsetof(seal_table, extent) +
                               std::max<std::size_t>(1, extents.size()) * sizeof(seal_extent));
  const lane::crc32c_lookup lookup = lane::make_crc32c_lookup();
  const auto count = static_cast<std::uint32_t>(extents.size());
  std::memcpy(bytes.data() + offsetof(seal_table, lookup), &lookup, sizeof lookup);
  std::memcpy(bytes.data() + offsetof(seal_table, extents), &count, sizeof count);
  if (count != 0)
    std::memcpy(bytes.data() + offsetof(seal_table, extent), extents.data(), count * sizeof(seal_extent));
  table_ = memory::buffer(marks_->lanes(), memory::place::device, bytes.size());
  memory::copy_in(table_.view(), 0, bytes);
}

seal_ref lane_seals::ref() const { return {table_.lanes_as<seal_table>(), checks_}; }

std::uint64_t lane_seals::mismatches() const {
  std::uint64_t pages = 0;
  memory::copy_out(table_.view(), offsetof(seal_table, mismatches),
                   std::as_writable_bytes(std::span(&pages, 1)));
  return pages;
}

}  // namespace sluice
