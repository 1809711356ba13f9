// The host's driver for any NVMe controller: brings it up, talks to it over an admin queue in memory, grants
// queue pairs.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drive/controller_port.h"
#include "sluice/drive/drive.h"
#include "sluice/drive/uri.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/events.h"
#include "sluice/nvme/features.h"
#include "sluice/nvme/identify.h"
#include "sluice/nvme/log_pages.h"
#include "sluice/nvme/registers.h"

namespace sluice::drive {

struct nvme_client_options {
  std::string uri;                 ///< for messages
  std::uint32_t page_shift = 12;   ///< CC.MPS
  std::uint32_t max_queues = 256;  ///< I/O queue pairs to ask for
  bool forgets = false;
  memory::place media = memory::place::pinned;      ///< what info() tells of it
  std::uint32_t deadline_ms = default_deadline_ms;  ///< what info() tells those who wait for commands
};

/// Errors: every call throws error with the drive's URI, the command, and the specification's name of the
/// status.
class nvme_client final : public drive {
 public:
  /// Resets and enables the controller, identifies it, asks for queues. Waits at most CAP.TO for each step.
  nvme_client(std::unique_ptr<controller_port> port, const nvme_client_options& options);
  /// Deletes what queues are left and shuts the controller down.
  ~nvme_client() override;

  const drive_info& info() const override { return info_; }
  memory::place reachable_place(backend on) const override { return port_->reachable_place(on); }
  bool reaches_frames(backend on) const override { return port_->reaches_frames(on); }
  bus_address map(const memory::region& bytes) override;
  void unmap(const memory::region& bytes) override;
  queue_grant create_queue(const queue_rings& rings, backend on, std::uint16_t again) override;
  void delete_queue(std::uint16_t id, bool keep_id) override;
  drive_counters counters() const override { return port_->counters(); }

  /// What an admin command was answered.
  struct admin_answer {
    status code;
    std::uint32_t result = 0;
  };
  /// Sends one admin command and waits for its answer. Throws only where none came.
  admin_answer submit_admin(const nvme::submission_entry& entry);
  /// The same; throws error{io_failure} where the status is not ok. Returns DW0.
  std::uint32_t admin(const nvme::submission_entry& entry);
  /// 4 KiB of memory for admin data. Hold one such command at a time.
  const memory::region& scratch() const { return scratch_.view(); }
  bus_address scratch_address() const { return scratch_at_; }

  const nvme::identify_controller& controller_data() const { return *controller_; }
  const nvme::identify_namespace& namespace_data() const { return *namespace_; }
  std::uint32_t get_feature(nvme::feature which);
  void set_feature(nvme::feature which, std::uint32_t value);
  /// The newest error log entries, oldest omitted; empty entries left out.
  std::vector<nvme::error_information_entry> error_log();
  nvme::health_log health();
  /// Events that arrived since the last call; reads the log page that each names, so that more may come.
  std::vector<nvme::async_event> take_events();

  /// Lets go of the drive by rule: CC.SHN, then waits for CSTS.SHST.
  void shut_down();

 private:
  static constexpr std::uint32_t admin_entries = 32;

  void reset();
  void enable();
  void identify();
  void ask_for_queues(std::uint32_t wanted);
  void await_ready(bool ready);
  void put(const nvme::submission_entry& entry);
  /// Takes in what the admin completion queue holds.
  void reap();
  void request_event();
  std::uint16_t free_queue_id() const;
  [[noreturn]] void fail(const std::string& what, std::optional<status> code = std::nullopt) const;

  struct slot {
    bool in_flight = false;
    bool answered = false;
    bool event = false;
    admin_answer answer{};
  };

  std::unique_ptr<controller_port> port_;
  nvme_client_options options_;
  nvme::capabilities cap_;
  drive_info info_;
  std::recursive_mutex mutex_;

  memory::buffer rings_, scratch_;
  bus_address scratch_at_;
  nvme::submission_entry* submissions_ = nullptr;
  nvme::completion_entry* completions_ = nullptr;
  std::uint32_t tail_ = 0, head_ = 0, phase_ = 1;
  std::array<slot, admin_entries> slots_{};
  std::deque<nvme::async_event> events_;

  std::unique_ptr<nvme::identify_controller> controller_;
  std::unique_ptr<nvme::identify_namespace> namespace_;
  std::vector<bool> used_;  // queue identifiers, from 0
  std::vector<bool> kept_;  // identifiers of deleted queues that come again
  bool lost_ = false;       // the admin queue does not answer any more
};

}  // namespace sluice::drive
