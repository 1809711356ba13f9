// The seals of a volume: how one is made, and how it is kept while somebody writes.
#include <algorithm>
#include <optional>
#include <utility>

#include "drive/by_unit.h"
#include "drive/free_space.h"
#include "sluice/base/bits.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/seal_record.h"
#include "sluice/drive/volume.h"
#include "sluice/lane/mutant.h"

namespace sluice::drive {

namespace {

constexpr std::uint64_t sealed_at_once = MiB;  // of a dataset, read at once; whole units

std::uint32_t checksum_of(std::span<const std::uint32_t> words) { return crc32c(std::as_bytes(words)); }

void check_unit(std::uint32_t unit, std::uint32_t block_size) {
  if (is_power_of_two(unit) && unit >= block_size && unit <= largest_page) return;
  throw error(error_kind::bad_input, "a seal's unit cannot be " + format_bytes(unit),
              "use a power of two from " + format_bytes(block_size) + ", the volume's block, to " +
                  format_bytes(static_cast<double>(largest_page)));
}

/// Reads a part of all live replicas, which must agree.
class agreed_reader {
 public:
  agreed_reader(replica_io from, const dataset& of) : from_(std::move(from)), of_(of) {}

  std::span<const std::byte> read(std::uint64_t offset, std::uint64_t bytes) {
    bool first = true;
    for (std::uint32_t i = 0; i < from_.replicas(); ++i) {
      if (!from_.alive(i)) continue;
      std::vector<std::byte>& to = first ? first_ : other_;
      to.resize(bytes);
      from_.read(i, of_.first_byte + offset, to);
      if (!first) need_same(i, offset);
      first = false;
    }
    return first_;
  }

 private:
  void need_same(std::uint32_t replica, std::uint64_t offset) const {
    const auto [a, b] = std::mismatch(first_.begin(), first_.end(), other_.begin());
    if (a == first_.end()) return;
    const std::uint64_t at = of_.first_byte + offset + static_cast<std::uint64_t>(a - first_.begin());
    throw error(error_kind::corrupt, "the replicas of dataset '" + of_.name + "' differ",
                "sluice scrub makes them equal; then seal it again",
                {.drive = from_.drive_name(at, replica), .block = from_.locate(at, replica).first});
  }

  replica_io from_;
  const dataset& of_;
  std::vector<std::byte> first_, other_;
};

dataset& complete_entry(manifest& in, std::string_view name) {
  return *std::find_if(in.datasets.begin(), in.datasets.end(), [name](const dataset& each) {
    return each.name == name && each.state == dataset_state::complete;
  });
}

void set_bits(std::vector<std::uint32_t>& bits, std::uint64_t first, std::uint64_t end) {
  if (lane::planted("seal.drop_bits")) return;
  for (std::uint64_t unit = first; unit < end; ++unit) bits[unit / 32] |= 1U << (unit % 32);
}

}  // namespace

replica_io volume::copies() const {
  const std::scoped_lock turn(*turn_);
  return copies_now();
}

sealing volume::seal_dataset(std::string_view name, std::uint32_t unit,
                             const std::function<void(std::uint64_t)>& step) {
  const std::scoped_lock turn(*turn_);
  need_writable_manifest();
  check_unit(unit, block_size());
  if (writers_ != 0)
    throw error(error_kind::bad_input, "a cache may be writing to volume '" + this->name() + "'",
                "close it before a dataset is sealed");
  const dataset of = find_now(name);
  if (of.bytes == 0) throw error(error_kind::bad_input, "dataset '" + of.name + "' is empty");
  settle_seals();

  const seal_shape shape(of.bytes, unit, block_size());
  const std::uint64_t place = room_for_seal(of, shape);
  seal made{.unit = unit, .first_byte = place};
  // As many sums as are written at once: whole blocks.
  const std::uint64_t most_sums = largest_page / sizeof(std::uint32_t);
  agreed_reader data(copies_now(), of);
  std::vector<std::uint32_t> sums;
  std::uint64_t sums_at = place;
  std::uint32_t whole = 0;
  const std::uint64_t bytes = shape.units * unit;
  for (std::uint64_t at = 0; at < bytes; at += sealed_at_once) {
    const std::span<const std::byte> part = data.read(at, std::min(sealed_at_once, bytes - at));
    for (std::uint64_t k = 0; k < part.size(); k += unit) sums.push_back(crc32c(part.subspan(k, unit)));
    if (of.checksum) whole = crc32c(part.first(std::min(part.size(), of.bytes - at)), whole);
    if (sums.size() >= most_sums || at + sealed_at_once >= bytes) {
      made.sums_checksum = crc32c(std::as_bytes(std::span(sums)), made.sums_checksum);
      write_words(sums_at, sums);
      sums_at += sums.size() * sizeof(std::uint32_t);
      sums.clear();
    }
    if (step) step(part.size());
  }
  const std::vector<std::uint32_t> none(shape.written_words());
  write_words(place + shape.sums_bytes, none);
  made.written_checksum = checksum_of(none);

  const std::uint64_t lost = flush_live_drives();
  manifest next = parts_.newest.content;
  next.failed |= lost;
  dataset& entry = complete_entry(next, of.name);
  entry.sealed = made;
  sealing done{.of = entry};
  if (of.checksum) done.as_imported = whole == *of.checksum;
  publish(std::move(next));
  return done;
}

/// Where a record fits. A seal that the dataset has gives way only where there is no room for both.
std::uint64_t volume::room_for_seal(const dataset& of, const seal_shape& shape) {
  std::optional<std::uint64_t> place = first_gap(parts_.newest.content, shape.bytes());
  if (!place && of.sealed) {
    manifest without = parts_.newest.content;
    complete_entry(without, of.name).sealed.reset();
    place = first_gap(without, shape.bytes());
    if (place) publish(std::move(without));
  }
  if (place) return *place;
  throw error(error_kind::bad_input,
              "a seal of dataset '" + of.name + "' takes " +
                  format_bytes(static_cast<double>(shape.bytes())) + ", and volume '" + name() +
                  "' has no such room",
              "remove a dataset, or seal it with a larger unit");
}

/// Writes words of a record, and zeros up to a whole block.
void volume::write_words(std::uint64_t first_byte, std::vector<std::uint32_t> words) {
  words.resize(align_up(words.size() * sizeof(std::uint32_t), block_size()) / sizeof(std::uint32_t));
  const auto bytes = std::as_bytes(std::span(words));
  by_unit(first_byte, bytes.size(), unit(), [&](std::uint64_t at, std::uint64_t offset, std::uint64_t n) {
    write_piece(at, bytes.subspan(offset, n));
  });
}

void volume::mark_seals() {
  const auto wants_mark = [](const dataset& each) { return each.sealed && !each.sealed->being_written; };
  if (std::none_of(parts_.newest.content.datasets.begin(), parts_.newest.content.datasets.end(), wants_mark))
    return;
  manifest next = parts_.newest.content;
  std::map<std::uint64_t, std::vector<std::uint32_t>> marked;
  for (dataset& each : next.datasets) {
    if (!wants_mark(each)) continue;
    marked[each.sealed->first_byte] = seal_record(copies_now(), each).written();
    each.sealed->being_written = true;
  }
  if (!lane::planted("seal.drop_mark")) publish(std::move(next));
  for (auto& [place, units] : marked) written_.insert_or_assign(place, std::move(units));
}

void volume::settle_seals() {
  const auto ours = [this](const dataset& each) {
    return each.sealed && each.sealed->being_written && written_.contains(each.sealed->first_byte);
  };
  std::vector<dataset> kept = parts_.newest.content.datasets;
  std::erase_if(kept, std::not_fn(ours));
  if (kept.empty()) return written_.clear();
  for (const dataset& each : kept) {
    const seal_shape shape(each.bytes, each.sealed->unit, block_size());
    write_words(each.sealed->first_byte + shape.sums_bytes, written_[each.sealed->first_byte]);
  }
  if (const std::uint64_t lost = flush_live_drives(); lost != 0) record(lost);
  manifest next = parts_.newest.content;
  for (dataset& each : next.datasets) {
    if (!ours(each)) continue;
    each.sealed->written_checksum = checksum_of(written_[each.sealed->first_byte]);
    each.sealed->being_written = false;
  }
  publish(std::move(next));
  written_.clear();
}

void volume::note_write(std::uint64_t first_byte, std::uint64_t bytes) {
  if (is_raw() || !is_writable()) return;
  const auto touches = [&](const dataset& each) {
    return each.sealed && first_byte < align_up(each.first_byte + each.bytes, each.sealed->unit) &&
           each.first_byte < first_byte + bytes;
  };
  const auto& all = parts_.newest.content.datasets;
  if (std::none_of(all.begin(), all.end(), touches)) return;
  mark_seals();
  for (const dataset& each : parts_.newest.content.datasets) {
    if (!touches(each)) continue;
    const auto units = written_.find(each.sealed->first_byte);
    if (units == written_.end()) continue;  // it covers nothing anyway
    const std::uint64_t from = std::max(first_byte, each.first_byte) - each.first_byte;
    const std::uint64_t to = std::min(first_byte + bytes - each.first_byte, each.bytes);
    set_bits(units->second, from / each.sealed->unit, divide_up(to, each.sealed->unit));
  }
}

void volume::begin_writing() {
  const std::scoped_lock turn(*turn_);
  if (is_raw() || !is_writable()) return;
  mark_seals();
  ++writers_;
}

void volume::note_written(const dataset& of, std::span<const std::uint32_t> units) {
  const std::scoped_lock turn(*turn_);
  const auto known = written_.find(of.sealed.value().first_byte);
  if (known == written_.end()) return;
  for (std::size_t i = 0; i < std::min(units.size(), known->second.size()); ++i) known->second[i] |= units[i];
}

void volume::end_writing() {
  const std::scoped_lock turn(*turn_);
  if (is_raw() || !is_writable()) return;
  if (--writers_ == 0) settle_seals();
}

seal_record volume::record_of(const dataset& of) const {
  const std::scoped_lock turn(*turn_);
  const auto known = written_.find(of.sealed.value().first_byte);
  if (known == written_.end()) return {copies_now(), of};
  dataset marked_by_us = of;
  marked_by_us.sealed->being_written = false;
  seal_record record(copies_now(), marked_by_us);
  record.written_ = known->second;
  return record;
}

}  // namespace sluice::drive
