#include "controller/service_thread.h"

#include <algorithm>
#include <array>

#include "controller/nap.h"
#include "sluice/lane/sleep.h"
#include "sluice/nvme/events.h"

namespace sluice::controller {

namespace {

constexpr std::uint32_t batch = executor::largest_fetch;
// How long to look before sleeping. On a machine of two cores a spinning controller takes time from the lanes
// it waits for.
constexpr std::uint64_t spin_ns = 10'000;
// A GPU's store wakes nobody, so the thread looks again by itself.
constexpr std::uint64_t gpu_spin_ns = 1'000'000;
constexpr std::uint64_t gpu_nap_ns = 20'000;
// Nothing is lost by sleeping longer; it bounds the harm of a ring that was made without waking.
constexpr std::uint64_t long_sleep_ns = 100'000'000;
// With media transfers under way and nothing that wakes the thread, the longest that a new ring stays unseen.
constexpr std::uint64_t media_wait_ns = 50'000;
// While draining, how often to look even if nothing came.
constexpr std::uint64_t drain_look_ns = 1'000'000;

}  // namespace

service_thread::service_thread(media& on, unsigned depth, const fault_dice& dice, event_log& log,
                               std::uint64_t salt)
    : executor_(on, depth, dice, log, salt), log_(log), thread_([this] { run(); }) {}

service_thread::~service_thread() {
  call([this] { stop_ = true; });
  thread_.join();
}

void service_thread::run() {
  set_fine_timers();
  while (!stop_.load(std::memory_order_relaxed)) {
    const bool mail = mailbox_.deliver();
    if (pass() || mail)
      idle_since_ = 0;
    else
      idle();
  }
}

bool service_thread::pass() {
  bool moved = false;
  for (submission_queue* queue : queues_) moved |= serve(*queue);
  if (executor_.in_flight() > 0) moved |= executor_.reap(0);
  return post() || moved;
}

bool service_thread::post() {
  const bool posted = executor_.pending().post(executor_.pending().needs_clock() ? now_ns() : 0);
  if (posted) lane::spread_news();
  return posted;
}

bool service_thread::serve(submission_queue& queue) {
  completion_queue& completions = *queue.completions;
  const ring_news tail = queue.look();
  const ring_news head = completions.look();
  heed(tail, head);
  const bool moved = completions.has_backlog() && completions.pump();
  if (moved) lane::spread_news();
  // The ring is full of answers: fetching more would only pile up others.
  if (completions.has_backlog()) return moved;
  const auto n =
      static_cast<std::uint32_t>(std::min<std::size_t>({queue.waiting(), batch, executor_.room()}));
  if (n == 0) return moved;

  std::array<nvme::submission_entry, batch> entries;
  for (std::uint32_t i = 0; i < n; ++i) {
    entries[i] = queue.peek(i);
    executor_.prefetch(entries[i]);
  }
  queue.advance(n);
  executor::direct_batch done;
  for (std::uint32_t i = 0; i < n; ++i)
    if (!executor_.serve_directly(entries[i], done)) executor_.begin(queue, entries[i]);
  executor_.finish_directly(queue, done);
  return true;
}

void service_thread::heed(ring_news tail, ring_news head) {
  if (tail == ring_news::invalid || head == ring_news::invalid)
    log_.raise(nvme::error_event::invalid_doorbell_value);
}

void service_thread::idle() {
  const std::uint64_t now = now_ns();
  if (executor_.in_flight() > 0) return await_media(now);
  if (idle_since_ == 0) idle_since_ = now;
  const bool gpu = gpu_rings();
  if (now - idle_since_ < (gpu ? gpu_spin_ns : spin_ns)) {
    for (int i = 0; i < 8; ++i) relax();
    return;
  }
  const std::uint64_t due = executor_.pending().next_due();
  if (due <= now) return;
  mailbox_.sleep(std::min(gpu ? gpu_nap_ns : long_sleep_ns, due - now), [this] { return stirred(); });
}

void service_thread::await_media(std::uint64_t now) {
  const std::uint64_t due = executor_.pending().next_due();
  if (due <= now) return;
  const int bell = executor_.bell();
  if (bell < 0 || gpu_rings())
    executor_.reap(std::min(media_wait_ns, due - now));
  else
    mailbox_.sleep_in(
        bell, [this] { return stirred(); }, [&] { executor_.reap(std::min(long_sleep_ns, due - now)); });
  post();
}

bool service_thread::stirred() const {
  return std::any_of(queues_.begin(), queues_.end(), [](const submission_queue* queue) {
    return queue->stirred() || queue->completions->stirred();
  });
}

bool service_thread::gpu_rings() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const submission_queue* queue) { return queue->on == backend::cuda; });
}

void service_thread::exchange_regions(const region_table& regions) {
  while (executor_.in_flight() > 0) executor_.reap(drain_look_ns);
  executor_.exchange_regions(regions);
}

void service_thread::retire(submission_queue& queue) {
  std::erase(queues_, &queue);
  queue.retired = true;
  while (queue.in_flight > 0) executor_.reap(drain_look_ns);
  executor_.pending().forget(&queue);
}

}  // namespace sluice::controller
