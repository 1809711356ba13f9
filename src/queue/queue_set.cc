#include "sluice/queue/queue_set.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>

namespace sluice::queue {

namespace {
/// Between two looks at the queues' attention words; short against any deadline, long against the cost of a
/// look.
constexpr std::chrono::milliseconds watch_every{2};
}  // namespace

queue_set::queue_set(drive::drive& on, backend lanes, std::uint32_t count, const queue_options& options)
    : drive_(on) {
  std::vector<queue_fields> refs;
  for (std::uint32_t i = 0; i < count; ++i) {
    pairs_.push_back(std::make_unique<queue_pair>(on, lanes, options));
    refs.push_back(pairs_.back()->fields());
  }
  table_ =
      memory::buffer(lanes, memory::place::device, std::max<std::size_t>(1, count) * sizeof(queue_fields));
  memory::copy_in(table_.view(), 0, std::as_bytes(std::span(refs)));
  watcher_ = std::thread([this] { watch(); });
}

queue_set::~queue_set() {
  {
    const std::lock_guard guard(mutex_);
    stop_ = true;
  }
  stop_signal_.notify_all();
  watcher_.join();
}

void queue_set::watch() {
  std::unique_lock guard(mutex_);
  while (!stop_signal_.wait_for(guard, watch_every, [this] { return stop_; }))
    for (const auto& pair : pairs_)
      if (pair->needs_recovery()) pair->recover();
}

std::uint64_t queue_set::issued() const {
  const std::lock_guard guard(mutex_);
  return std::accumulate(pairs_.begin(), pairs_.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& pair) { return sum + pair->issued(); });
}

std::uint32_t queue_set::losses() const {
  const std::lock_guard guard(mutex_);
  return std::accumulate(pairs_.begin(), pairs_.end(), 0U,
                         [](std::uint32_t sum, const auto& pair) { return sum + pair->losses(); });
}

}  // namespace sluice::queue
