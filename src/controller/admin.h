// The admin command set: identify, queues, features, logs, abort, asynchronous events (NVMe Base 2.0, section
// 5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "controller/event_log.h"
#include "controller/executor.h"
#include "controller/feature_set.h"
#include "controller/io_queues.h"
#include "controller/media.h"
#include "controller/queues.h"
#include "controller/region_table.h"
#include "sluice/nvme/command.h"

namespace sluice::controller {

/// What Identify tells besides the medium's traits.
struct identity {
  std::string serial;
  std::uint32_t block_shift = 9;
  std::uint64_t blocks = 0;
  std::uint32_t max_transfer = 1U << 20;
  bool writable = true;
};

/// Belongs to the admin thread.
class admin {
 public:
  /// `health` adds up the counters of all threads; `write_cache` is told when the host switches the cache.
  admin(const media& on, const identity& self, io_queues& queues, event_log& log,
        std::function<void(nvme::health_log&)> health, std::function<void(bool)> write_cache);

  /// Executes one command of the admin queue; its answer is posted now, or, for an event request, later.
  void execute(submission_queue& queue, const nvme::submission_entry& entry);
  /// Answers waiting event requests. True where one was answered.
  bool deliver_events(submission_queue& queue);
  void reset();

  region_table regions;
  std::uint32_t page = 4096;

 private:
  status dispatch(const nvme::submission_entry& entry, std::uint32_t& result);
  status identify(const nvme::submission_entry& entry);
  status create_queue(const nvme::submission_entry& entry, bool completion);
  status set_features(const nvme::submission_entry& entry, std::uint32_t& result);
  status grant_queues(std::uint32_t wanted, std::uint32_t& result);
  status get_features(const nvme::submission_entry& entry, std::uint32_t& result);
  status get_log_page(const nvme::submission_entry& entry);
  status abort(const nvme::submission_entry& entry, std::uint32_t& result);
  /// Puts bytes where the command's PRPs say.
  status send(const nvme::submission_entry& entry, std::span<const std::byte> bytes) const;

  void fill_controller(std::span<std::byte> page) const;
  void fill_namespace(std::span<std::byte> page) const;
  void fill_descriptors(std::span<std::byte> page) const;
  std::vector<std::byte> log_bytes(nvme::log_page which) const;

  const media& media_;
  identity self_;
  io_queues& queues_;
  event_log& log_;
  std::function<void(nvme::health_log&)> health_;
  std::function<void(bool)> write_cache_;
  feature_set features_;
  std::vector<std::uint16_t> event_requests_;
};

}  // namespace sluice::controller
