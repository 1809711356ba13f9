// A volume with a cache in front of it: what kernels index. Launches kernels of its own, so only `.cu` files
// include it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sluice/array/array_ref.h"
#include "sluice/array/lane_seals.h"
#include "sluice/array/mailbox.h"
#include "sluice/array/storage.h"
#include "sluice/array/volume_store.h"
#include "sluice/base/error.h"
#include "sluice/cache/flush_pages.h"
#include "sluice/cache/page_cache.h"
#include "sluice/lane/launch.h"

namespace sluice {

struct cached_options {
  std::uint64_t cache_bytes = 64 * MiB;  ///< for frames
  std::uint32_t page_bytes = 4096;
  std::uint32_t queues = 4;            ///< queue pairs a drive
  std::uint32_t depth = 1024;          ///< entries a queue
  std::uint64_t patience_ms = 30'000;  ///< how long one access may wait
  bool verify_pages = false;           ///< check pages of sealed datasets when they come
  std::uint64_t tier_bytes = 0;        ///< for pages that frames gave up, in pinned host memory; 0: none
  cache::tier_kind tier = cache::tier_kind::exclusive;
};

/// What was asked, and what it took: the I/O truth of everything since the start.
struct io_truth {
  io_counts commands;
  cache::statistics cache;
  std::uint64_t bytes_moved = 0;  ///< by the drives, both ways
  /// Pages that came with other bytes than were sealed, from any replica; another one may have served.
  std::uint64_t mismatches = 0;

  double amplification() const {
    return cache.bytes_asked == 0 ? 0.0
                                  : static_cast<double>(bytes_moved) / static_cast<double>(cache.bytes_asked);
  }
};

/// Throws error{io_failure} for the first failure that a launch left in `box`, and empties it.
void throw_first_failure(const memory::buffer& box, const storage& from, std::uint32_t page_bytes);
/// Throws error{io_failure} for a flush that failed.
[[noreturn]] void throw_flush_failure(const cache::flush_report& told, const storage& to,
                                      std::uint32_t page_bytes);
/// Records in the volume's manifest which replicas lanes have found to miss a write, and lets lanes leave out
/// those that the host knows of. Throws error{io_failure} where that cannot be recorded.
void exchange_lost_replicas(volume_store& lanes, storage& host);

/// The seals that lanes of a cache check and note; none where they have no use for them. Throws as
/// lane_seals() does.
std::unique_ptr<lane_seals> seals_for(storage& over, backend lanes, bool checks, std::uint32_t page_bytes);

/// Owns cache and queues over one volume. Destroying it drops dirty pages: flush() first.
template <class Policy = cache::clock, cache::mode Mode = cache::mode::optimized, bool Counts = true>
class cached_volume {
 public:
  using cache_type = cache::cache_ref<volume_store_ref, Policy, Mode, Counts>;
  template <class T>
  using array_type = array_ref<T, cache_type>;

  /// `on` and `over` outlive it. Throws error{bad_input} where options do not fit each other or the drives.
  cached_volume(lane::machine& on, storage& over, const cached_options& options)
      : machine_(on),
        storage_(over),
        seals_(seals_for(over, on.kind(), options.verify_pages, options.page_bytes)),
        store_(over.volume(), over.drives(), on.kind(), 0, over.volume().bytes(),
               {.page_bytes = options.page_bytes, .queues = options.queues, .depth = options.depth}),
        cache_(on.kind(),
               {.bytes = options.cache_bytes,
                .page_bytes = options.page_bytes,
                .reports = store_.ref().reports(true),
                .patience_ms = options.patience_ms,
                .tier_bytes = options.tier_bytes,
                .tier = options.tier},
               store_.ref().pages()),
        mailbox_(on.kind(), memory::place::pinned, sizeof(mailbox)),
        before_(over.counters()) {
    store_.attach_frames(cache_.frame_memory());
    if (seals_) store_.attach_seals(seals_->ref());
    ref_ = cache_.template ref<Policy, Mode, Counts>(store_.ref());
  }

  cached_volume(const cached_volume&) = delete;
  cached_volume& operator=(const cached_volume&) = delete;
  ~cached_volume() {
    try {
      exchange_lost_replicas(store_, storage_);
    } catch (const error&) {
      // Nothing was promised of what was not flushed.
    }
  }

  const cache_type& cache() const { return ref_; }
  /// Lanes' view of `count` Ts from byte `first_byte` of the volume.
  template <class T>
  array_type<T> array(std::uint64_t first_byte, std::uint64_t count) const {
    return {ref_, first_byte, count, mailbox_.template lanes_as<mailbox>()};
  }
  /// Lanes' view of a dataset, as Ts.
  template <class T>
  array_type<T> array(const drive::dataset& of) const {
    return array<T>(of.first_byte, of.bytes / sizeof(T));
  }

  /// Call after a launch: throws error{io_failure} naming the drive, LBA and status of its first failed
  /// access. What lanes found out about a mirror's replicas is recorded.
  void sync() {
    exchange_lost_replicas(store_, storage_);
    throw_first_failure(mailbox_, storage_, cache_.page_bytes());
  }
  /// True once a lane has left a failure, perhaps while the launch still runs; sync() throws it.
  bool failed() const {
    return lane::on_system(mailbox_.template host_as<mailbox>()[0].is).load(lane::acquire) == mailbox::full;
  }
  /// Writes all dirty pages and makes them last; after it returns another process reads the new bytes. A
  /// mirror's replica that misses some is recorded as failed before.
  void flush() { flush_pages_of({0}, {store_.ref().pages()}); }
  /// Ends every wait of every lane: for Ctrl-C.
  void cancel() { cache_.stop_waits(); }

  io_truth truth() const {
    const drive::drive_counters now = storage_.counters();
    return {store_.counts(), cache_.counted(),
            now.bytes_read - before_.bytes_read + now.bytes_written - before_.bytes_written,
            seals_ ? seals_->mismatches() : 0};
  }
  std::uint64_t frames() const { return cache_.frames(); }
  const volume_store& store() const { return store_; }

 private:
  void flush_pages_of(page_id first, page_id last) {
    const cache::flush_report done = cache::flush_pages(machine_, ref_, first, last);
    exchange_lost_replicas(store_, storage_);
    if (!done.code.is_ok()) throw_flush_failure(done, storage_, cache_.page_bytes());
  }

  lane::machine& machine_;
  storage& storage_;
  std::unique_ptr<lane_seals> seals_;  // after the store in destruction order: no write is under way then
  volume_store store_;  // after the cache in destruction order: no transfer outlives its frames
  cache::page_cache cache_;
  memory::buffer mailbox_;
  drive::drive_counters before_;
  cache_type ref_;
};

}  // namespace sluice
