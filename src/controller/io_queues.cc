#include "controller/io_queues.h"

#include <algorithm>

#include "sluice/nvme/registers.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::controller {

namespace code = nvme::code;
using nvme::do_not_retry;

io_queues::io_queues(std::vector<std::unique_ptr<service_thread>>& threads, const doorbells& bells,
                     std::uint32_t max_queues, std::uint32_t max_entries)
    : threads_(threads),
      bells_(bells),
      max_queues_(max_queues),
      max_entries_(max_entries),
      granted_(max_queues),
      completions_(max_queues + 1),
      submissions_(max_queues + 1),
      seen_(max_queues + 1),
      owner_of_(max_queues + 1),
      lanes_of_(max_queues + 1),
      sleeper_of_(max_queues + 1) {}

status io_queues::check(const queue_request& want, bool exists) const {
  if (want.id == 0 || want.id > granted_ || exists) return do_not_retry(code::invalid_queue_id);
  if (want.entries < 2 || want.entries > max_entries_) return do_not_retry(code::invalid_queue_size);
  if (!want.contiguous) return do_not_retry(code::invalid_field);  // CAP.CQR is set
  return status::ok;
}

service_thread& io_queues::least_loaded() const {
  std::vector<unsigned> load(threads_.size());
  for (const completion_slot& slot : completions_)
    for (std::size_t i = 0; i < threads_.size(); ++i) load[i] += slot.owner == threads_[i].get() ? 1 : 0;
  return *threads_[static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin())];
}

status io_queues::create_completion(const queue_request& want, const region_table& regions,
                                    std::uint32_t page) {
  if (const status s = check(want, want.id <= max_queues_ && completions_[want.id].queue != nullptr); !s)
    return s;
  if (want.ring.value % page != 0) return do_not_retry(code::prp_offset_invalid);
  const std::uint64_t bytes = std::uint64_t{want.entries} * sizeof(nvme::completion_entry);
  std::byte* ring = regions.reach(want.ring, bytes);
  if (ring == nullptr) return do_not_retry(code::data_transfer_error);

  completion_slot& slot = completions_[want.id];
  const std::uint32_t bell = nvme::completion_doorbell(want.id);
  bells_.reset(lanes_of(want.id), bell);
  slot.queue = std::make_unique<completion_queue>(want.id, reinterpret_cast<nvme::completion_entry*>(ring),
                                                  want.entries, bells_.host(lanes_of(want.id), bell));
  slot.at = want.ring;
  slot.bytes = bytes;
  // An identifier keeps its thread: lanes of a queue that comes back still know the word that wakes it.
  if (owner_of_[want.id] == nullptr) owner_of_[want.id] = &least_loaded();
  slot.owner = owner_of_[want.id];
  sleeper_of_[want.id].store(slot.owner->sleeper());
  return status::ok;
}

status io_queues::create_submission(const queue_request& want, const region_table& regions,
                                    std::uint32_t page) {
  if (const status s = check(want, want.id <= max_queues_ && submissions_[want.id].queue != nullptr); !s)
    return s;
  if (want.completion_queue == 0 || want.completion_queue > granted_)
    return do_not_retry(code::invalid_queue_id);
  if (completions_[want.completion_queue].queue == nullptr)
    return do_not_retry(code::completion_queue_invalid);
  if (want.ring.value % page != 0) return do_not_retry(code::prp_offset_invalid);
  const std::uint64_t bytes = std::uint64_t{want.entries} * sizeof(nvme::submission_entry);
  const std::byte* ring = regions.reach(want.ring, bytes);
  if (ring == nullptr) return do_not_retry(code::data_transfer_error);

  completion_slot& answers = completions_[want.completion_queue];
  const std::uint32_t bell = nvme::submission_doorbell(want.id);
  const backend on = lanes_of(want.id);
  bells_.reset(on, bell);
  auto queue =
      std::make_unique<submission_queue>(want.id, reinterpret_cast<const nvme::submission_entry*>(ring),
                                         want.entries, bells_.host(on, bell), *answers.queue, on);
  queue->seen = seen_[want.id];
  ++answers.queue->users;
  answers.owner->call([&] { answers.owner->adopt(*queue); });
  submissions_[want.id] = {std::move(queue), want.ring, bytes};
  return status::ok;
}

status io_queues::delete_submission(std::uint16_t id) {
  if (id == 0 || id > max_queues_ || submissions_[id].queue == nullptr)
    return do_not_retry(code::invalid_queue_id);
  submission_queue& queue = *submissions_[id].queue;
  completion_slot& answers = completions_[queue.completions->id()];
  answers.owner->call([&] { answers.owner->retire(queue); });
  seen_[id] = queue.seen;
  --answers.queue->users;
  submissions_[id] = {};
  bells_.reset(lanes_of(id), nvme::submission_doorbell(id));
  return status::ok;
}

status io_queues::delete_completion(std::uint16_t id) {
  if (id == 0 || id > max_queues_ || completions_[id].queue == nullptr)
    return do_not_retry(code::invalid_queue_id);
  if (completions_[id].queue->users > 0) return do_not_retry(code::invalid_queue_deletion);
  completions_[id] = {};
  sleeper_of_[id].store(nullptr);
  bells_.reset(lanes_of(id), nvme::completion_doorbell(id));
  return status::ok;
}

void io_queues::delete_all() {
  for (std::uint32_t id = 1; id <= max_queues_; ++id)
    if (submissions_[id].queue != nullptr) delete_submission(static_cast<std::uint16_t>(id));
  for (std::uint32_t id = 1; id <= max_queues_; ++id)
    if (completions_[id].queue != nullptr) delete_completion(static_cast<std::uint16_t>(id));
}

bool io_queues::abort(std::uint16_t id, std::uint16_t command) {
  if (id > max_queues_ || submissions_[id].queue == nullptr) return false;
  submission_queue& queue = *submissions_[id].queue;
  service_thread& owner = *completions_[queue.completions->id()].owner;
  bool aborted = false;
  owner.call([&] { aborted = owner.work().pending().abort(&queue, command); });
  return aborted;
}

bool io_queues::any() const {
  return std::any_of(completions_.begin(), completions_.end(),
                     [](const auto& slot) { return slot.queue != nullptr; });
}

bool io_queues::uses(bus_address at, std::uint64_t bytes) const {
  const auto meets = [&](const auto& slot) {
    return slot.queue != nullptr && slot.at.value < at.value + bytes && at.value < slot.at.value + slot.bytes;
  };
  return std::any_of(completions_.begin(), completions_.end(), meets) ||
         std::any_of(submissions_.begin(), submissions_.end(), meets);
}

bool io_queues::stray_ring() {
  bool stray = false;
  for (std::uint32_t id = 1; id <= max_queues_; ++id) {
    const auto look = [&](std::uint32_t bell) {
      if (std::atomic_ref(*bells_.host(backend::cpu, bell)).exchange(0, std::memory_order_relaxed) != 0)
        stray = true;
    };
    const bool rings_here = lanes_of(static_cast<std::uint16_t>(id)) == backend::cpu;
    if (submissions_[id].queue == nullptr || !rings_here) look(nvme::submission_doorbell(id));
    if (completions_[id].queue == nullptr || !rings_here) look(nvme::completion_doorbell(id));
  }
  return stray;
}

}  // namespace sluice::controller
