// Pages of a volume, fetched and written through the queues of its drives: where cache and queue meet.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/array/volume_store_ref.h"
#include "sluice/drive/volume.h"
#include "sluice/queue/queue_set.h"

namespace sluice {

struct store_options {
  std::uint32_t page_bytes = 4096;
  std::uint32_t queues = 4;    ///< queue pairs a drive; fewer where the drive grants fewer
  std::uint32_t depth = 1024;  ///< entries a queue; less where the drive grants less
};

/// What lanes asked of the drives, and what the drives say they did.
struct io_counts {
  std::uint64_t issued = 0;
  std::uint64_t served = 0;
  std::uint64_t dropped = 0;
  std::uint32_t queues_lost = 0;
};

/// Owns the queues. Lanes' side is ref(), a cache::page_store; good while this object lives.
class volume_store {
 public:
  /// `drives` in the volume's own order. Serves the `bytes` from `first_byte` of the volume (a multiple of
  /// the page size) as pages counted from 0; the last may reach past `bytes` into the dataset's padding.
  volume_store(const drive::volume& on, std::vector<drive::drive*> drives, backend lanes,
               std::uint64_t first_byte, std::uint64_t bytes, const store_options& options);
  volume_store(const volume_store&) = delete;
  volume_store& operator=(const volume_store&) = delete;
  ~volume_store();

  /// Names the memory that pages move to and from: frames of page_bytes, one after another. Once, before
  /// ref().
  void attach_frames(const memory::region& frames);
  /// What lanes check and note. Before ref().
  void attach_seals(const seal_ref& seals) { ref_.seals_ = seals; }
  volume_store_ref ref() const { return ref_; }

  /// Replicas, as bits, that failed a write which another one took: lanes have left them out, and nobody else
  /// knows. For when no lane uses the store.
  std::uint64_t lost_replicas() const;
  /// Lets lanes leave out `replicas` too. Likewise.
  void leave_out(std::uint64_t replicas);

  /// Of the commands since this store began.
  io_counts counts() const;
  std::uint32_t queues() const;
  std::uint32_t depth() const { return depth_; }

 private:
  void check(const drive::volume& on, std::uint64_t first_byte, const store_options& options) const;

  backend lanes_;
  std::vector<drive::drive*> drives_;
  std::vector<std::unique_ptr<queue::queue_set>> queues_;
  std::vector<queue::prp_table> prps_;
  std::vector<drive::drive_counters> before_;
  memory::region frames_;
  memory::buffer table_;   // drive_port, one a drive
  memory::buffer shared_;  // store_words
  std::uint32_t depth_ = 0;
  std::uint64_t left_out_ = 0;
  volume_store_ref ref_;
};

}  // namespace sluice
