// The host's end of one NVMe queue pair, in the plainest way: tests fill entries, ring, and poll completions
// by hand.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include "sluice/base/bits.h"
#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/lane/doorbell.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"

namespace sluice::test {

class host_queue {
 public:
  host_queue(drive::drive& on, std::uint32_t depth)
      : drive_(on),
        depth_(depth),
        completion_at_(align_up(depth * sizeof(nvme::submission_entry), page)),
        rings_(backend::cpu, on.reachable_place(backend::cpu),
               completion_at_ + align_up(depth * sizeof(nvme::completion_entry), page)),
        at_(on.map(rings_.view())),
        grant_(on.create_queue({at_, at_ + completion_at_, depth}, backend::cpu)) {}
  ~host_queue() {
    if (open_) close();
  }
  host_queue(const host_queue&) = delete;
  host_queue& operator=(const host_queue&) = delete;

  /// Deletes the queue on the drive and lets go of its memory.
  void close() {
    open_ = false;
    drive_.delete_queue(grant_.id);
    drive_.unmap(rings_.view());
  }

  std::uint16_t id() const { return grant_.id; }
  std::uint32_t depth() const { return depth_; }
  std::uint32_t tail() const { return tail_; }
  const drive::queue_grant& grant() const { return grant_; }
  nvme::completion_entry& completion(std::uint32_t at) { return completions()[at]; }

  /// Writes an entry at the tail; ring() shows it to the drive.
  void put(const nvme::submission_entry& entry) {
    submissions()[tail_] = entry;
    tail_ = tail_ + 1 == depth_ ? 0 : tail_ + 1;
  }
  void ring() { lane::ring(grant_.submission_tail, tail_); }
  void submit(const nvme::submission_entry& entry) {
    put(entry);
    ring();
  }

  /// The next completion, if it is there. Its entry is freed only by free_entries().
  std::optional<nvme::completion_entry> poll() {
    nvme::completion_entry& entry = completions()[head_];
    // Acquire: pairs with the drive's release of the phase bit.
    const std::uint32_t tail = std::atomic_ref(entry.tail).load(std::memory_order_acquire);
    if (((tail >> 16) & 1U) != phase_) return std::nullopt;
    const nvme::completion_entry seen{entry.result, entry.dw1, entry.sq_head, tail};
    head_ = head_ + 1 == depth_ ? 0 : head_ + 1;
    if (head_ == 0) phase_ ^= 1U;
    return seen;
  }
  void free_entries() { lane::ring(grant_.completion_head, head_); }

  /// Waits for the next completion and frees its entry. Throws after ten seconds.
  nvme::completion_entry await() {
    const auto seen = await_within(std::chrono::seconds(10));
    if (!seen) throw std::runtime_error("no completion came within ten seconds");
    return *seen;
  }
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
  nvme::completion_entry run(const nvme::submission_entry& entry) {
    submit(entry);
    return await();
  }

 private:
  static constexpr std::size_t page = 4096;
  nvme::submission_entry* submissions() const {
    return reinterpret_cast<nvme::submission_entry*>(rings_.host());
  }
  nvme::completion_entry* completions() const {
    return reinterpret_cast<nvme::completion_entry*>(rings_.host() + completion_at_);
  }

  drive::drive& drive_;
  std::uint32_t depth_;
  std::size_t completion_at_;
  memory::buffer rings_;
  bus_address at_;
  drive::queue_grant grant_;
  bool open_ = true;
  std::uint32_t tail_ = 0, head_ = 0, phase_ = 1;
};

}  // namespace sluice::test
