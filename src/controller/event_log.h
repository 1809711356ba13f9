// What went wrong, kept for the host: error log entries and asynchronous events, from any service thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "sluice/base/status.h"
#include "sluice/nvme/events.h"
#include "sluice/nvme/log_pages.h"

namespace sluice::controller {

/// Threads: any.
class event_log {
 public:
  static constexpr std::uint8_t entries = 64;
  static constexpr std::uint16_t no_location = 0xffff;

  /// `on_event` is called, outside the lock, when an event has been raised.
  explicit event_log(std::function<void()> on_event) : on_event_(std::move(on_event)) {}

  void record(std::uint16_t queue, std::uint16_t command, status code, std::uint64_t block,
              std::uint32_t nsid, std::uint16_t location = no_location);
  void raise(nvme::error_event what);

  /// The next event to report; none while its type waits for the host to read the log page (NVMe
  /// Base 2.0, 5.2).
  std::optional<nvme::async_event> next_event();
  /// The host has read the page of error events.
  void unmask_errors();
  /// A controller reset: events and masks go, the error count stays (5.16.1.2).
  void reset();

  /// Newest first, padded with empty entries.
  std::vector<nvme::error_information_entry> snapshot() const;
  std::uint64_t count() const;

 private:
  mutable std::mutex mutex_;
  std::deque<nvme::error_information_entry> log_;
  std::deque<nvme::async_event> events_;
  std::uint64_t count_ = 0;
  bool masked_ = false;
  std::function<void()> on_event_;
};

}  // namespace sluice::controller
