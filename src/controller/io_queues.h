// The I/O queues that exist, and who serves each: a service thread, or somebody else.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "controller/doorbells.h"
#include "controller/queue_server.h"
#include "controller/queues.h"
#include "controller/region_table.h"
#include "controller/service_thread.h"
#include "sluice/base/status.h"

namespace sluice::controller {

/// What Create I/O Completion Queue and Create I/O Submission Queue ask for (NVMe Base 2.0, 5.4, 5.5).
struct queue_request {
  std::uint16_t id = 0;
  std::uint32_t entries = 0;
  bus_address ring;
  bool contiguous = true;
  std::uint16_t completion_queue = 0;  ///< of a submission queue
};

/// Belongs to the admin thread; statuses are those of the specification.
class io_queues {
 public:
  /// `others`: see controller; may be null.
  io_queues(std::vector<std::unique_ptr<service_thread>>& threads, const doorbells& bells,
            queue_server* others, std::uint32_t max_queues, std::uint32_t max_entries);
  ~io_queues() { delete_all(); }

  status create_completion(const queue_request& want, const region_table& regions, std::uint32_t page);
  status create_submission(const queue_request& want, const region_table& regions, std::uint32_t page);
  status delete_completion(std::uint16_t id);
  status delete_submission(std::uint16_t id);
  void delete_all();
  /// Aborts a command whose answer is still held back; false where it is too late.
  bool abort(std::uint16_t id, std::uint16_t command);

  /// How many of each the host was granted (Set Features, Number of Queues); limits the identifiers.
  void grant(std::uint32_t count) { granted_ = count; }
  std::uint32_t granted() const { return granted_; }
  std::uint32_t max_queues() const { return max_queues_; }
  bool any() const;
  bool uses(bus_address at, std::uint64_t bytes) const;
  /// A doorbell of a queue that does not exist was written (once told, the word is cleared).
  bool stray_ring();

  // From any thread.
  void choose_lanes(std::uint16_t queue, backend on) { lanes_of_[queue].store(on); }
  backend lanes_of(std::uint16_t queue) const { return lanes_of_[queue].load(); }
  std::uint32_t* sleeper_of(std::uint16_t queue) const { return sleeper_of_[queue].load(); }

 private:
  /// Where a ring lies; of no entries where there is none.
  struct ring_place {
    bus_address at;
    std::uint32_t entries = 0;
    std::uint64_t bytes = 0;
    bool exists() const { return entries > 0; }
  };
  struct completion_slot {
    ring_place ring;
    unsigned users = 0;                       // submission queues that complete here
    std::unique_ptr<completion_queue> queue;  // of a service thread
    service_thread* owner = nullptr;
  };
  struct submission_slot {
    ring_place ring;
    std::uint16_t completions = 0;
    std::unique_ptr<submission_queue> queue;
  };
  status check(const queue_request& want, bool exists) const;
  /// Checks where the ring lies, and finds it for a service thread; null where somebody else serves it.
  status find_ring(const queue_request& want, std::uint64_t bytes, const region_table& regions,
                   std::uint32_t page, std::byte*& ring) const;
  bool is_served_elsewhere(std::uint16_t id) const {
    return others_ != nullptr && others_->serves(lanes_of(id));
  }
  service_thread& least_loaded() const;

  std::vector<std::unique_ptr<service_thread>>& threads_;
  const doorbells& bells_;
  queue_server* others_;
  std::uint32_t max_queues_, max_entries_, granted_;
  std::vector<completion_slot> completions_;  // by identifier, from 0
  std::vector<submission_slot> submissions_;
  std::vector<std::uint64_t>
      seen_;  // commands by identifier, so that a re-created queue does not repeat its faults
  std::vector<service_thread*> owner_of_;  // the thread that an identifier was first given to
  std::vector<std::atomic<backend>> lanes_of_;
  std::vector<std::atomic<std::uint32_t*>> sleeper_of_;
};

}  // namespace sluice::controller
