#include "sluice/drive/scrub.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "sluice/base/bits.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"

namespace sluice::drive {

namespace {

constexpr std::uint64_t scrubbed_at_once = MiB;  // read of each replica at once; whole pages

/// True where `act` ended without a failure of a drive.
template <class Act>
bool drive_did(const Act& act) {
  try {
    act();
    return true;
  } catch (const error& e) {
    if (e.kind() != error_kind::io_failure) throw;
    return false;
  }
}

/// A run of one replica, and which of its pages the drive gave.
class part_copy {
 public:
  void read(const replica_io& from, std::uint32_t replica, std::uint64_t first_byte, std::uint64_t bytes,
            std::uint32_t page) {
    bytes_.resize(bytes);
    page_ = page;
    readable_.assign(bytes / page, true);
    if (drive_did([&] { from.read(replica, first_byte, bytes_); })) return;
    for (std::uint64_t i = 0; i < readable_.size(); ++i)
      readable_[i] = drive_did([&] { from.read(replica, first_byte + i * page, writable(i)); });
  }
  bool readable(std::uint64_t i) const { return readable_[i]; }
  std::span<const std::byte> page(std::uint64_t i) const {
    return std::span(bytes_).subspan(i * page_, page_);
  }

 private:
  std::span<std::byte> writable(std::uint64_t i) { return std::span(bytes_).subspan(i * page_, page_); }

  std::vector<std::byte> bytes_;
  std::vector<bool> readable_;
  std::uint32_t page_ = 0;
};

class scrubber {
 public:
  scrubber(volume& on, const scrub_options& options)
      : volume_(on), options_(options), io_(on.copies()), parts_(io_.replicas()) {}

  scrub_report run() {
    for (const dataset& each : volume_.datasets())
      if (each.state == dataset_state::complete && each.bytes != 0) walk(each);
    for (std::uint32_t i = 0; i < io_.replicas(); ++i)
      if (!io_.alive(i)) bring_back(i);
    return std::move(report_);
  }

 private:
  void walk(const dataset& each) {
    row_ = {.name = each.name, .page_bytes = std::max(usual_seal_unit, io_.block_size()), .counts = {}};
    dataset_ = &each;
    record_.reset();
    if (each.sealed) look_at_seal(each);
    const std::uint32_t page = row_.page_bytes;
    const std::uint64_t bytes = align_up(each.bytes, page);
    std::vector<std::uint32_t> sums;
    for (std::uint64_t at = 0; at < bytes; at += scrubbed_at_once) {
      const std::uint64_t now = std::min(scrubbed_at_once, bytes - at);
      for_live([&](std::uint32_t i) {
        parts_[i].read(io_, i, each.first_byte + at, now, page);
        if (options_.step) options_.step(now);
      });
      for (std::uint64_t k = 0; k < now / page; ++k) {
        const std::uint64_t number = at / page + k;
        if (covered(number)) {
          judge_covered(number, k, sum_of(number, sums));
        } else {
          judge_uncovered(number, k);
        }
      }
    }
    for_live([&](std::uint32_t i) {
      if (std::exchange(touched_, touched_ & ~bit(i)) & bit(i)) io_.flush(i);
    });
    report_.datasets.push_back(row_);
  }

  bool covered(std::uint64_t page) const { return record_ && record_->covers(page); }

  /// Sums are read as they are needed, some blocks at once.
  std::uint32_t sum_of(std::uint64_t page, std::vector<std::uint32_t>& sums) {
    const std::uint64_t together = record_->step() * std::max<std::uint64_t>(1, 4096 / record_->step());
    const std::uint64_t first = page / together * together;
    if (sums.empty() || sums_first_ != first) {
      sums.resize(std::min(together, record_->shape().units - first));
      record_->sums(first, sums);
      sums_first_ = first;
    }
    return sums[page - first];
  }

  void look_at_seal(const dataset& each) {
    row_.page_bytes = each.sealed->unit;
    record_ = volume_.record_of(each);
    if (record_->counts()) {
      row_.standing = seal_standing::counts;
      mend_records(each);
      return;
    }
    row_.standing = each.sealed->being_written ? seal_standing::broken : seal_standing::lost;
    record_.reset();
    if (row_.standing == seal_standing::lost) for_live([&](std::uint32_t i) { note_record(each, i, false); });
  }

  void mend_records(const dataset& each) {
    for_live([&](std::uint32_t i) {
      if (record_->is_whole(i)) return;
      const bool mended = options_.repair && drive_did([&] { copy_record(each, i); }) && record_->is_whole(i);
      note_record(each, i, mended);
    });
  }
  void copy_record(const dataset& each, std::uint32_t to) {
    std::vector<std::byte> part(scrubbed_at_once);
    for (std::uint64_t at = 0; at < record_->shape().bytes(); at += part.size()) {
      const std::span now =
          std::span(part).first(std::min<std::uint64_t>(part.size(), record_->shape().bytes() - at));
      io_.read(record_->source(), each.sealed->first_byte + at, now);
      io_.write(to, each.sealed->first_byte + at, now);
    }
    io_.flush(to);
  }
  void note_record(const dataset& each, std::uint32_t replica, bool mended) {
    report_.records_left += mended ? 0 : 1;
    name({each.name, 0, scrub_fault::record, io_.drive_name(each.sealed->first_byte, replica),
          io_.locate(each.sealed->first_byte, replica).first, mended});
  }

  void judge_covered(std::uint64_t page, std::uint64_t k, std::uint32_t sum) {
    const auto is_good = [&](std::uint32_t i) {
      return parts_[i].readable(k) && crc32c(parts_[i].page(k)) == sum;
    };
    std::uint64_t good = 0, wrong = 0;
    for_live([&](std::uint32_t i) { (is_good(i) ? good : wrong) |= bit(i); });
    row_.counts.good += static_cast<std::uint64_t>(std::popcount(good));
    if (wrong == 0) return;
    std::span<const std::byte> source;
    if (good != 0) {
      source = parts_[static_cast<std::uint32_t>(std::countr_zero(good))].page(k);
    } else {
      source = from_left_out(page, sum);
    }
    for_live([&](std::uint32_t i) {
      if ((wrong & bit(i)) == 0) return;
      const bool read = parts_[i].readable(k);
      (read ? row_.counts.bad : row_.counts.unreadable) += 1;
      note(page, i, read ? scrub_fault::bad : scrub_fault::unreadable, source);
    });
  }

  /// A replica that missed some write may still have this page: its sum says so. Empty where none has.
  std::span<const std::byte> from_left_out(std::uint64_t page, std::uint32_t sum) {
    spare_.resize(row_.page_bytes);
    for (std::uint32_t i = 0; i < io_.replicas(); ++i) {
      if (io_.alive(i)) continue;
      if (drive_did([&] { io_.read(i, address(page), spare_); }) && crc32c(spare_) == sum) return spare_;
    }
    return {};
  }

  void judge_uncovered(std::uint64_t page, std::uint64_t k) {
    std::span<const std::byte> source;
    for_live([&](std::uint32_t i) {
      if (source.empty() && parts_[i].readable(k)) source = parts_[i].page(k);
    });
    for_live([&](std::uint32_t i) {
      if (!parts_[i].readable(k)) {
        ++row_.counts.unreadable;
        note(page, i, scrub_fault::unreadable, source);
        return;
      }
      ++row_.counts.unsealed;
      if (std::ranges::equal(parts_[i].page(k), source)) return;
      ++row_.counts.differing;
      note(page, i, scrub_fault::differing, source);
    });
  }

  void note(std::uint64_t page, std::uint32_t replica, scrub_fault what, std::span<const std::byte> source) {
    const bool mended = options_.repair && !source.empty() && rewrite(page, replica, source);
    row_.counts.mended += mended ? 1 : 0;
    name({row_.name, page, what, io_.drive_name(address(page), replica),
          io_.locate(address(page), replica).first, mended});
  }
  bool rewrite(std::uint64_t page, std::uint32_t replica, std::span<const std::byte> source) {
    std::vector<std::byte> back(source.size());
    touched_ |= bit(replica);
    return drive_did([&] {
             io_.write(replica, address(page), source);
             io_.read(replica, address(page), back);
           }) &&
           std::ranges::equal(back, source);
  }

  void name(scrub_finding found) {
    if (report_.findings.size() < options_.most_findings)
      report_.findings.push_back(std::move(found));
    else
      ++report_.findings_left_off;
  }

  /// Copies everything that lies on live replicas, then has the replica read again.
  void bring_back(std::uint32_t replica) {
    const std::string& drive = io_.drive_name(0, replica);
    if (options_.repair && fits(volume_.drive_at(replica)) && drive_did([&] {
          fill(replica);
          io_.flush(replica);
          volume_.readmit(replica);
        })) {
      report_.readmitted.push_back(drive);
    } else {
      report_.left_out.push_back(drive);
    }
  }
  bool fits(const block_io& drive) const {
    return drive.block_size() == io_.block_size() && drive.bytes() >= manifest_area_bytes + io_.bytes();
  }
  void fill(std::uint32_t replica) {
    std::vector<std::byte> good(scrubbed_at_once), there(scrubbed_at_once);
    for (std::uint64_t at = 0; at < io_.bytes(); at += scrubbed_at_once) {
      const std::uint64_t now = std::min(scrubbed_at_once, io_.bytes() - at);
      const std::span wanted = std::span(good).first(now), found = std::span(there).first(now);
      volume_.read(at, wanted);
      if (!drive_did([&] { io_.read(replica, at, found); }) || !std::ranges::equal(wanted, found))
        io_.write(replica, at, wanted);
      if (options_.step) options_.step(now);
    }
  }

  template <class Act>
  void for_live(const Act& act) {
    for (std::uint32_t i = 0; i < io_.replicas(); ++i)
      if (io_.alive(i)) act(i);
  }
  static constexpr std::uint64_t bit(std::uint32_t replica) { return std::uint64_t{1} << replica; }
  std::uint64_t address(std::uint64_t page) const { return dataset_->first_byte + page * row_.page_bytes; }

  volume& volume_;
  const scrub_options& options_;
  replica_io io_;
  std::vector<part_copy> parts_;  // of each replica
  std::vector<std::byte> spare_;
  const dataset* dataset_ = nullptr;
  std::optional<seal_record> record_;
  std::uint64_t sums_first_ = 0;
  std::uint64_t touched_ = 0;  // replicas that were written to
  dataset_scrub row_;
  scrub_report report_;
};

}  // namespace

const char* to_string(scrub_fault what) {
  switch (what) {
    case scrub_fault::bad:
      return "bad";
    case scrub_fault::unreadable:
      return "unreadable";
    case scrub_fault::differing:
      return "differing";
    case scrub_fault::record:
      return "record";
  }
  return "";
}

const char* to_string(seal_standing how) {
  switch (how) {
    case seal_standing::none:
      return "none";
    case seal_standing::counts:
      return "counts";
    case seal_standing::broken:
      return "broken";
    case seal_standing::lost:
      return "lost";
  }
  return "";
}

scrub_counts& scrub_counts::operator+=(const scrub_counts& other) {
  good += other.good;
  bad += other.bad;
  unsealed += other.unsealed;
  unreadable += other.unreadable;
  differing += other.differing;
  mended += other.mended;
  return *this;
}

scrub_counts scrub_report::counts() const {
  scrub_counts sum;
  for (const dataset_scrub& each : datasets) sum += each.counts;
  return sum;
}

std::uint64_t scrub_bytes(const volume& of, bool repair) {
  const replica_io io = of.copies();
  std::uint64_t live = 0;
  for (std::uint32_t i = 0; i < io.replicas(); ++i) live += io.alive(i) ? 1 : 0;
  std::uint64_t bytes = repair ? (io.replicas() - live) * io.bytes() : 0;
  for (const dataset& each : of.datasets())
    if (each.state == dataset_state::complete) bytes += live * each.bytes;
  return bytes;
}

scrub_report scrub(volume& on, const scrub_options& options) {
  if (on.is_raw())
    throw error(error_kind::bad_input, "a raw volume keeps no datasets", "name the drives of a volume");
  if (options.repair && !on.is_writable())
    throw error(error_kind::bad_input, "volume '" + on.name() + "' is open for reading only",
                "open it for writing", {.code = status::read_only});
  return scrubber(on, options).run();
}

}  // namespace sluice::drive
