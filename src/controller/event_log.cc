#include "controller/event_log.h"

#include <algorithm>

namespace sluice::controller {

void event_log::record(std::uint16_t queue, std::uint16_t command, status code, std::uint64_t block,
                       std::uint32_t nsid, std::uint16_t location) {
  const std::lock_guard lock(mutex_);
  nvme::error_information_entry entry{};
  entry.error_count = ++count_;
  entry.submission_queue = queue;
  entry.command = command;
  entry.status_field = static_cast<std::uint16_t>(code.bits() << 1);
  entry.parameter_location = location;
  entry.block = block;
  entry.nsid = nsid;
  log_.push_front(entry);
  if (log_.size() > entries) log_.pop_back();
}

void event_log::raise(nvme::error_event what) {
  {
    const std::lock_guard lock(mutex_);
    const auto event = nvme::async_event::make(what);
    // One of a kind is enough: the host learns the rest from the log page.
    if (std::find(events_.begin(), events_.end(), event) == events_.end()) events_.push_back(event);
  }
  on_event_();
}

std::optional<nvme::async_event> event_log::next_event() {
  const std::lock_guard lock(mutex_);
  if (masked_ || events_.empty()) return std::nullopt;
  const nvme::async_event event = events_.front();
  events_.pop_front();
  masked_ = true;
  return event;
}

void event_log::unmask_errors() {
  const std::lock_guard lock(mutex_);
  masked_ = false;
}

void event_log::reset() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  masked_ = false;
}

std::vector<nvme::error_information_entry> event_log::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<nvme::error_information_entry> all(log_.begin(), log_.end());
  all.resize(entries);
  return all;
}

std::uint64_t event_log::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace sluice::controller
