#include "controller/io_queues.h"

#include <algorithm>

#include "sluice/nvme/registers.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::controller {

namespace code = nvme::code;
using nvme::do_not_retry;

io_queues::io_queues(std::vector<std::unique_ptr<service_thread>>& threads, const doorbells& bells,
                     queue_server* others, std::uint32_t max_queues, std::uint32_t max_entries)
    : threads_(threads),
      bells_(bells),
      others_(others),
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

status io_queues::find_ring(const queue_request& want, std::uint64_t bytes, const region_table& regions,
                            std::uint32_t page, std::byte*& ring) const {
  if (want.ring.value % page != 0) return do_not_retry(code::prp_offset_invalid);
  const bool elsewhere = is_served_elsewhere(want.id);
  ring = elsewhere ? nullptr : regions.reach(want.ring, bytes);
  const bool reached = elsewhere ? others_->reaches(want.ring, bytes) : ring != nullptr;
  return reached ? status::ok : do_not_retry(code::data_transfer_error);
}

status io_queues::create_completion(const queue_request& want, const region_table& regions,
                                    std::uint32_t page) {
  if (const status s = check(want, want.id <= max_queues_ && completions_[want.id].ring.exists()); !s)
    return s;
  const std::uint64_t bytes = std::uint64_t{want.entries} * sizeof(nvme::completion_entry);
  std::byte* ring = nullptr;
  if (const status s = find_ring(want, bytes, regions, page, ring); !s) return s;

  completion_slot& slot = completions_[want.id];
  slot.ring = {want.ring, want.entries, bytes};
  if (ring == nullptr) return status::ok;
  const std::uint32_t bell = nvme::completion_doorbell(want.id);
  bells_.reset(lanes_of(want.id), bell);
  slot.queue = std::make_unique<completion_queue>(want.id, reinterpret_cast<nvme::completion_entry*>(ring),
                                                  want.entries, bells_.host(lanes_of(want.id), bell));
  // An identifier keeps its thread: lanes of a queue that comes back still know the word that wakes it.
  if (owner_of_[want.id] == nullptr) owner_of_[want.id] = &least_loaded();
  slot.owner = owner_of_[want.id];
  sleeper_of_[want.id].store(slot.owner->sleeper());
  return status::ok;
}

status io_queues::create_submission(const queue_request& want, const region_table& regions,
                                    std::uint32_t page) {
  if (const status s = check(want, want.id <= max_queues_ && submissions_[want.id].ring.exists()); !s)
    return s;
  if (want.completion_queue == 0 || want.completion_queue > granted_)
    return do_not_retry(code::invalid_queue_id);
  completion_slot& answers = completions_[want.completion_queue];
  if (!answers.ring.exists()) return do_not_retry(code::completion_queue_invalid);
  const std::uint64_t bytes = std::uint64_t{want.entries} * sizeof(nvme::submission_entry);
  std::byte* ring = nullptr;
  if (const status s = find_ring(want, bytes, regions, page, ring); !s) return s;

  const ring_place place{want.ring, want.entries, bytes};
  if (ring == nullptr) {
    // Whoever else serves queues knows pairs only.
    if (want.completion_queue != want.id) return do_not_retry(code::completion_queue_invalid);
    others_->adopt({want.id, want.ring, answers.ring.at, want.entries, answers.ring.entries, seen_[want.id]});
    submissions_[want.id] = {place, want.completion_queue, nullptr};
  } else {
    if (answers.queue == nullptr) return do_not_retry(code::completion_queue_invalid);
    const std::uint32_t bell = nvme::submission_doorbell(want.id);
    const backend on = lanes_of(want.id);
    bells_.reset(on, bell);
    auto queue =
        std::make_unique<submission_queue>(want.id, reinterpret_cast<const nvme::submission_entry*>(ring),
                                           want.entries, bells_.host(on, bell), *answers.queue, on);
    queue->seen = seen_[want.id];
    answers.owner->call([&] { answers.owner->adopt(*queue); });
    submissions_[want.id] = {place, want.completion_queue, std::move(queue)};
  }
  ++answers.users;
  return status::ok;
}

status io_queues::delete_submission(std::uint16_t id) {
  if (id == 0 || id > max_queues_ || !submissions_[id].ring.exists())
    return do_not_retry(code::invalid_queue_id);
  submission_slot& slot = submissions_[id];
  completion_slot& answers = completions_[slot.completions];
  if (slot.queue == nullptr) {
    seen_[id] = others_->retire(id);
  } else {
    answers.owner->call([&] { answers.owner->retire(*slot.queue); });
    seen_[id] = slot.queue->seen;
    bells_.reset(lanes_of(id), nvme::submission_doorbell(id));
  }
  --answers.users;
  slot = {};
  return status::ok;
}

status io_queues::delete_completion(std::uint16_t id) {
  if (id == 0 || id > max_queues_ || !completions_[id].ring.exists())
    return do_not_retry(code::invalid_queue_id);
  if (completions_[id].users > 0) return do_not_retry(code::invalid_queue_deletion);
  if (completions_[id].queue != nullptr) bells_.reset(lanes_of(id), nvme::completion_doorbell(id));
  completions_[id] = {};
  sleeper_of_[id].store(nullptr);
  return status::ok;
}

void io_queues::delete_all() {
  for (std::uint32_t id = 1; id <= max_queues_; ++id)
    if (submissions_[id].ring.exists()) delete_submission(static_cast<std::uint16_t>(id));
  for (std::uint32_t id = 1; id <= max_queues_; ++id)
    if (completions_[id].ring.exists()) delete_completion(static_cast<std::uint16_t>(id));
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
                     [](const auto& slot) { return slot.ring.exists(); });
}

bool io_queues::uses(bus_address at, std::uint64_t bytes) const {
  const auto meets = [&](const auto& slot) {
    const ring_place& ring = slot.ring;
    return ring.exists() && ring.at.value < at.value + bytes && at.value < ring.at.value + ring.bytes;
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
