// A software NVMe controller: registers and doorbells on one side, a medium on the other, CPU threads
// between.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "controller/admin.h"
#include "controller/doorbells.h"
#include "controller/event_log.h"
#include "controller/fault_dice.h"
#include "controller/io_queues.h"
#include "controller/mailbox.h"
#include "controller/media.h"
#include "controller/queue_server.h"
#include "controller/service_thread.h"
#include "sluice/drive/drive.h"
#include "sluice/drive/faults.h"
#include "sluice/lane/doorbell.h"
#include "sluice/nvme/registers.h"

namespace sluice::controller {

struct controller_options {
  unsigned threads = 1;                   ///< service threads for I/O queues
  std::uint32_t block_size = 512;         ///< logical block, a power of two from 512 to 64 KiB
  std::uint32_t max_queues = 256;         ///< I/O queue pairs
  std::uint32_t max_depth = 32768;        ///< entries a queue may have
  std::uint32_t max_transfer = 1U << 20;  ///< bytes a command may move, a power of two from 4 KiB to 2 MiB
  unsigned media_depth = 1024;            ///< transfers that one thread may have under way
  std::string serial = "SLUICE1";
  drive::fault_plan faults{};
};

/// Threads: registers, doorbells and counters from any.
class controller {
 public:
  /// `others`: who serves queues in the service threads' place, or null; it outlives the controller.
  controller(std::unique_ptr<media> on, const controller_options& options, queue_server* others = nullptr);
  ~controller();
  controller(const controller&) = delete;
  controller& operator=(const controller&) = delete;

  // The register space (NVMe Base 2.0, 3.1.3), doorbells included. `bytes` is 4 or 8.
  std::uint64_t read_register(std::uint32_t offset, unsigned bytes) const;
  void write_register(std::uint32_t offset, std::uint64_t value, unsigned bytes);

  /// Says whose lanes will ring queue `id`; before it is created. Throws error{unavailable} without such a
  /// backend.
  void choose_lanes(std::uint16_t id, backend on);
  lane::doorbell doorbell(std::uint32_t index);

  /// The controller's IOMMU. After unmap() no DMA reaches the region. Throws error{in_use} where a queue's
  /// ring lies in it.
  void map(bus_address at, std::uint64_t bytes);
  void unmap(bus_address at, std::uint64_t bytes);

  drive::drive_counters counters() const { return sum().io; }
  const media_traits& traits() const { return media_->traits(); }

 private:
  struct admin_ring;

  void run();
  bool apply_configuration();
  bool enable();
  void disable();
  void shut_down();
  bool serve_admin();
  void set_limits(const limits& bounds);
  void publish_regions();
  void fill_health(nvme::health_log& health) const;
  served_counts sum() const;

  std::unique_ptr<media> media_;
  controller_options options_;
  queue_server* others_;
  fault_dice dice_;
  mailbox mailbox_;
  event_log log_;
  doorbells bells_;
  std::vector<std::unique_ptr<service_thread>> threads_;
  io_queues queues_;
  limits limits_;
  admin admin_;
  std::unique_ptr<admin_ring> ring_;
  region_table regions_;

  nvme::capabilities cap_;
  std::atomic<std::uint32_t> cc_{0}, csts_{0}, aqa_{0};
  std::atomic<std::uint64_t> asq_{0}, acq_{0};
  std::uint32_t applied_cc_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace sluice::controller
