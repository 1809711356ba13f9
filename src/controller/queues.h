// The controller's end of submission and completion queues: where it fetches and posts, and what the
// doorbells allow.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>

#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/nvme/command.h"

namespace sluice::controller {

/// A doorbell as read: a new valid value, nothing new, or nonsense that is reported once.
enum class ring_news : std::uint8_t { none, moved, invalid };

struct submission_queue;

/// The answer to one command, before it has found its place in the ring.
struct answer {
  submission_queue* queue = nullptr;
  std::uint16_t command = 0;
  status code;
  std::uint32_t result = 0;
};

/// On lines of its own: queues of different threads do not disturb each other. Posts completions; an entry
/// that the host has not freed is never overwritten (NVMe Base 2.0, 3.3.1.2).
class alignas(line_bytes) completion_queue {
 public:
  completion_queue(std::uint16_t id, nvme::completion_entry* ring, std::uint32_t size,
                   std::uint32_t* head_doorbell)
      : id_(id), ring_(ring), size_(size), doorbell_(head_doorbell) {}

  std::uint16_t id() const { return id_; }
  /// Takes in the host's head. Order: acquire, from the host's ring: its reads of the freed entries came
  /// before.
  ring_news look();
  /// Posts now, or when the host has made room.
  void post(const answer& a);
  /// Posts what waited for room; true where some could be.
  bool pump();
  bool has_backlog() const { return !backlog_.empty(); }
  /// True where the doorbell says something that look() has not seen.
  bool stirred() const { return read_doorbell() != last_read_; }
  void forget(const submission_queue* queue);

 private:
  std::uint32_t read_doorbell() const { return std::atomic_ref(*doorbell_).load(std::memory_order_seq_cst); }
  std::uint32_t next(std::uint32_t at) const { return at + 1 == size_ ? 0 : at + 1; }
  bool full() const { return next(tail_) == head_; }
  void put(const answer& a);

  std::uint16_t id_;
  nvme::completion_entry* ring_;
  std::uint32_t size_;
  std::uint32_t* doorbell_;
  std::uint32_t head_ = 0, tail_ = 0, phase_ = 1;
  std::uint32_t last_read_ = 0;
  std::deque<answer> backlog_;
};

/// Fetches commands. Touched by its service thread only.
struct alignas(line_bytes) submission_queue {
  submission_queue(std::uint16_t identifier, const nvme::submission_entry* entries, std::uint32_t entry_count,
                   std::uint32_t* tail_doorbell, completion_queue& answers, backend lanes)
      : id(identifier),
        ring(entries),
        size(entry_count),
        completions(&answers),
        on(lanes),
        doorbell_(tail_doorbell) {}

  /// Takes in the host's tail. Order: acquire, from the host's ring: the entries before the tail are visible.
  ring_news look();
  std::uint32_t waiting() const { return tail_ >= head ? tail_ - head : tail_ + size - head; }
  const nvme::submission_entry& peek(std::uint32_t ahead) const {
    const std::uint32_t at = head + ahead;
    return ring[at >= size ? at - size : at];
  }
  void advance(std::uint32_t entries) {
    head += entries;
    if (head >= size) head -= size;
  }
  bool stirred() const { return std::atomic_ref(*doorbell_).load(std::memory_order_seq_cst) != last_read_; }

  std::uint16_t id;
  const nvme::submission_entry* ring;
  std::uint32_t size;
  std::uint32_t head = 0;
  completion_queue* completions;
  backend on;
  std::uint64_t seen = 0;  ///< commands of this identifier so far, over all queues that bore it
  unsigned in_flight = 0;  ///< fetched, with media work under way
  bool retired = false;    ///< being deleted: answers go nowhere

 private:
  std::uint32_t* doorbell_;
  std::uint32_t tail_ = 0;
  std::uint32_t last_read_ = 0;
};

}  // namespace sluice::controller
