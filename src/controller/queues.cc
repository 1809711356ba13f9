#include "controller/queues.h"

#include <algorithm>

namespace sluice::controller {

namespace {

std::uint32_t distance(std::uint32_t from, std::uint32_t to, std::uint32_t size) {
  return to >= from ? to - from : to + size - from;
}

}  // namespace

ring_news completion_queue::look() {
  const std::uint32_t value = std::atomic_ref(*doorbell_).load(std::memory_order_acquire);
  if (value == last_read_) return ring_news::none;
  last_read_ = value;
  // A head may move up to the tail, never past it: past it there are no entries to free.
  if (value >= size_ || distance(head_, value, size_) > distance(head_, tail_, size_))
    return ring_news::invalid;
  head_ = value;
  return ring_news::moved;
}

void completion_queue::post(const answer& a) {
  if (!backlog_.empty() || full()) {
    backlog_.push_back(a);
    return;
  }
  put(a);
}

bool completion_queue::pump() {
  bool some = false;
  for (; !backlog_.empty() && !full(); some = true) {
    put(backlog_.front());
    backlog_.pop_front();
  }
  return some;
}

void completion_queue::put(const answer& a) {
  nvme::completion_entry& entry = ring_[tail_];
  entry.result = a.result;
  entry.dw1 = 0;
  entry.sq_head = a.queue->head | std::uint32_t{a.queue->id} << 16;
  // Release: pairs with the reaper's acquire of the phase; the dwords above and the command's data are
  // visible with it.
  std::atomic_ref(entry.tail)
      .store(nvme::completion_entry::make_tail(a.command, phase_, a.code), std::memory_order_release);
  tail_ = next(tail_);
  if (tail_ == 0) phase_ ^= 1U;
}

void completion_queue::forget(const submission_queue* queue) {
  std::erase_if(backlog_, [&](const answer& a) { return a.queue == queue; });
}

ring_news submission_queue::look() {
  const std::uint32_t value = std::atomic_ref(*doorbell_).load(std::memory_order_acquire);
  if (value == last_read_) return ring_news::none;
  last_read_ = value;
  // The tail may move through free entries only: one entry always stays free (NVMe Base 2.0, 3.3.1.5).
  const std::uint32_t free = size - 1 - waiting();
  if (value >= size || distance(tail_, value, size) > free) return ring_news::invalid;
  tail_ = value;
  return ring_news::moved;
}

}  // namespace sluice::controller
