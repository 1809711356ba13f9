// The host's end of one submission ring and its completion ring, in the plainest way: entries are written,
// rung and polled by hand. Whose memory and whose doorbells they are is its owner's affair.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "sluice/lane/doorbell.h"
#include "sluice/nvme/command.h"

namespace sluice::test {

class ring_pair {
 public:
  /// Completion entries must be zero.
  ring_pair(nvme::submission_entry* submissions, nvme::completion_entry* completions, std::uint32_t depth,
            lane::doorbell submission_tail, lane::doorbell completion_head)
      : submissions_(submissions),
        completions_(completions),
        depth_(depth),
        submission_tail_(submission_tail),
        completion_head_(completion_head) {}

  std::uint32_t depth() const { return depth_; }
  std::uint32_t tail() const { return tail_; }
  nvme::completion_entry& completion(std::uint32_t at) { return completions_[at]; }

  /// Whether the next slot is one that the controller is known, by its completions, to have fetched: until
  /// then it may still read what the slot holds.
  bool has_room() const { return next(tail_) != fetched_; }

  /// Writes an entry at the tail; ring() shows it to the controller.
  void put(const nvme::submission_entry& entry) {
    submissions_[tail_] = entry;
    tail_ = next(tail_);
  }
  void ring() { lane::ring(submission_tail_, tail_); }
  void submit(const nvme::submission_entry& entry) {
    put(entry);
    ring();
  }

  /// The next completion, if it is there. Its entry is freed only by free_entries().
  std::optional<nvme::completion_entry> poll() {
    nvme::completion_entry& entry = completions_[head_];
    // Acquire: pairs with the controller's release of the phase bit.
    const std::uint32_t tail = std::atomic_ref(entry.tail).load(std::memory_order_acquire);
    if (((tail >> 16) & 1U) != phase_) return std::nullopt;
    const nvme::completion_entry seen{entry.result, entry.dw1, entry.sq_head, tail};
    head_ = next(head_);
    if (head_ == 0) phase_ ^= 1U;
    fetched_ = seen.sq_head & 0xffffU;
    return seen;
  }
  void free_entries() { lane::ring(completion_head_, head_); }

  /// Waits for the next completion and frees its entry.
  std::optional<nvme::completion_entry> await_within(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (const auto seen = poll()) {
        free_entries();
        return seen;
      }
      if (std::chrono::steady_clock::now() > end) return std::nullopt;
      std::this_thread::yield();
    }
  }

 private:
  std::uint32_t next(std::uint32_t at) const { return at + 1 == depth_ ? 0 : at + 1; }

  nvme::submission_entry* submissions_;
  nvme::completion_entry* completions_;
  std::uint32_t depth_;
  lane::doorbell submission_tail_, completion_head_;
  std::uint32_t tail_ = 0, head_ = 0, phase_ = 1;
  std::uint32_t fetched_ = 0;
};

}  // namespace sluice::test
