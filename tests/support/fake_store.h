// A page store over plain memory whose transfers finish late, out of order, in parts, with errors, or only
// when their queue is given up.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "sluice/cache/page_store.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/lane/sleep.h"
#include "sluice/lane/team.h"

namespace sluice::testing {

struct fake_store_options {
  std::uint64_t pages = 16;
  std::uint32_t page_bytes = 64;
  std::uint32_t read_reports = 1;
  std::uint32_t write_reports = 1;
  std::uint32_t sources = 1;
  bool writable = true;
  std::uint32_t most_delay = 3;  ///< looks that a part of a transfer waits, at most
  bool others_help = false;      ///< a look may finish any part, not only the one that is asked for
  std::uint64_t seed = 1;
  std::set<std::uint64_t> bad_reads = {};                  ///< pages whose reads fail
  std::set<std::uint64_t> bad_sources = {};                ///< pages that only the last source gives
  std::map<std::uint64_t, std::uint32_t> bad_writes = {};  ///< how many writes of a page fail
  std::uint32_t lost_every = 0;  ///< each so-manieth transfer is never answered; its queue is given up later
  std::uint32_t lost_looks = 20;
  std::uint32_t refuse_every = 0;  ///< each so-manieth transfer is not even started
  status refusal = status::aborted;
};

/// Owns the pages. Their words are stamped: page and position show in each.
class fake_store {
 public:
  static constexpr std::uint32_t read_failure = 0x281;   // Unrecovered Read Error
  static constexpr std::uint32_t write_failure = 0x280;  // Write Fault

  explicit fake_store(fake_store_options options)
      : options_(std::move(options)), random_(options_.seed), media_(options_.pages * options_.page_bytes) {
    for (std::uint64_t page = 0; page < options_.pages; ++page) {
      for (std::uint32_t at = 0; at < words_per_page(); ++at) media_word(page, at) = stamp(page, at);
    }
  }

  static constexpr std::uint64_t stamp(std::uint64_t page, std::uint64_t at) { return page << 32 | at << 16; }
  std::uint32_t words_per_page() const { return options_.page_bytes / 8; }
  /// What lies in the store now, behind the cache.
  std::uint64_t& media_word(std::uint64_t page, std::uint32_t at) {
    return reinterpret_cast<std::uint64_t*>(media_.data())[page * words_per_page() + at];
  }

  const fake_store_options& options() const { return options_; }
  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t batches() const { return batches_; }
  std::uint64_t flushes() const { return flushes_; }
  std::size_t pending() const { return parts_.size(); }
  void let_reads_succeed() { options_.bad_reads.clear(); }
  void fail_flush(status with) { flush_status_ = with; }

  template <class Team>
  status submit(const Team& team, bool active, const cache::page_transfer& transfer) {
    const bool starts_batch = team.leads();
    const std::uint32_t reports = transfer.write ? options_.write_reports : options_.read_reports;
    std::uint64_t first = 0;
    if (active) first = next_hint_.fetch_add(reports, std::memory_order_relaxed);
    for (std::uint32_t part = 0; active && part < reports; ++part)
      lane::on_device(transfer.to.detail[part]).store(first + part, lane::relaxed);
    const std::lock_guard lock(mutex_);  // no schedule point may stand under it
    batches_ += starts_batch ? 1 : 0;
    if (!active) return status::ok;
    if (transfer.page.value >= options_.pages) return status::out_of_range;
    ++started_;
    if (options_.refuse_every != 0 && started_ % options_.refuse_every == 0) return options_.refusal;
    const bool lost = options_.lost_every != 0 && started_ % options_.lost_every == 0;
    (transfer.write ? writes_ : reads_) += 1;
    const status outcome = outcome_of(transfer);
    for (std::uint32_t part = 0; part < reports; ++part) {
      parts_.push_back({transfer, first + part, part, reports / (transfer.write ? options_.sources : 1),
                        lost ? options_.lost_looks : delay(),
                        lost        ? status::aborted
                        : part == 0 ? outcome
                                    : status::ok,
                        lost && random_() % 2 == 0});
    }
    return status::ok;
  }

  /// True where it was at work: time passes with every look, and the part that the hint names may be finished
  /// by it. So whoever waits for a page alone must ask for all of its parts.
  bool poll(std::uint64_t hint) {
    part next;
    {
      const std::lock_guard lock(mutex_);
      if (parts_.empty()) return false;
      for (part& p : parts_) p.looks_left -= p.looks_left != 0 ? 1 : 0;
      auto chosen =
          std::find_if(parts_.begin(), parts_.end(), [hint](const part& p) { return p.hint == hint; });
      if (options_.others_help)
        chosen = parts_.begin() + static_cast<std::ptrdiff_t>(random_() % parts_.size());
      if (chosen == parts_.end() || chosen->looks_left != 0) return true;
      next = *chosen;
      parts_.erase(chosen);
    }
    finish(next);
    return true;
  }

  status flush() {
    flushes_.fetch_add(1, std::memory_order_relaxed);
    return flush_status_;
  }

 private:
  struct part {
    cache::page_transfer transfer;
    std::uint64_t hint = 0;
    std::uint32_t index = 0;
    std::uint32_t of = 1;
    std::uint32_t looks_left = 0;
    status outcome;
    bool moved_though_lost = false;
  };

  std::uint32_t delay() { return static_cast<std::uint32_t>(random_() % (options_.most_delay + 1)); }

  status outcome_of(const cache::page_transfer& transfer) {
    if (!transfer.write) {
      const bool last_source = transfer.attempt % options_.sources == options_.sources - 1;
      const bool fails = options_.bad_reads.contains(transfer.page.value) ||
                         (options_.bad_sources.contains(transfer.page.value) && !last_source);
      return fails ? status::from_nvme(read_failure) : status::ok;
    }
    const auto bad = options_.bad_writes.find(transfer.page.value);
    if (bad == options_.bad_writes.end() || bad->second == 0) return status::ok;
    --bad->second;
    return status::from_nvme(write_failure);
  }

  void finish(const part& p) {
    if (p.outcome.is_ok() || p.moved_though_lost) move(p);
    const report_to& to = p.transfer.to;
    if (!p.outcome.is_ok()) lane::on_device(to.detail[p.index]).store(p.outcome.bits(), lane::relaxed);
    lane::on_device(*to.word).fetch_add(p.outcome.is_ok() ? to.on_ok : to.on_error, lane::release);
  }
  void move(const part& p) {
    // The last copy, which never fails, stands for all: each would have a place of its own.
    if (p.transfer.write && p.index / p.of != options_.sources - 1) return;
    const std::uint32_t bytes = options_.page_bytes / p.of;
    const std::uint32_t at = p.index % p.of * bytes;
    std::byte* const page = media_.data() + p.transfer.page.value * options_.page_bytes + at;
    if (p.transfer.write) {
      lane::copy_from_frame(lane::solo(), page, p.transfer.frame + at, bytes);
    } else {
      lane::copy_into_frame(lane::solo(), p.transfer.frame + at, page, bytes);
    }
  }

  fake_store_options options_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::byte> media_;
  std::vector<part> parts_;
  std::atomic<std::uint64_t> next_hint_ = std::uint64_t{7} << 60;
  std::uint64_t started_ = 0;
  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t batches_ = 0;
  std::atomic<std::uint64_t> flushes_ = 0;
  status flush_status_;
};

/// Lanes' view of it.
struct fake_store_ref {
  fake_store* store = nullptr;

  template <class Team>
  status submit(const Team& team, bool active, const cache::page_transfer& transfer,
                lane::budget& /*patience*/) const {
    return store->submit(team, active, transfer);
  }
  template <class Team>
  void poll(const Team& team, std::uint64_t hint) const {
    if ((team.leads() || hint != 0) && store->poll(hint))
      lane::spread_news();  // nobody naps between two looks
  }
  template <class Team>
  status flush(const Team& /*team*/, lane::budget& /*patience*/) const {
    return store->flush();
  }
  std::uint32_t reports(bool write) const {
    return write ? store->options().write_reports : store->options().read_reports;
  }
  bool writable() const { return store->options().writable; }
  std::uint32_t sources() const { return store->options().sources; }
  std::uint32_t page_bytes() const { return store->options().page_bytes; }
  std::uint64_t pages() const { return store->options().pages; }
};

static_assert(cache::page_store<fake_store_ref>);

}  // namespace sluice::testing
