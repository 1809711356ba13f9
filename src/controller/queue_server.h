// Somebody else who serves I/O queues of a controller, beside its service threads: residents of a GPU.
#pragma once

#include <cstdint>

#include "controller/event_log.h"
#include "controller/limits.h"
#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/lane/doorbell.h"

namespace sluice::controller {

/// What a server of queues has done so far.
struct served_counts {
  drive::drive_counters io;
  std::uint64_t reads = 0, writes = 0, media_errors = 0;
};

/// A submission queue and the completion queue of the same identifier, to be served.
struct queue_in_service {
  std::uint16_t id = 0;
  bus_address submissions, completions;
  std::uint32_t entries = 0, completion_entries = 0;
  std::uint64_t seen = 0;  ///< commands of this identifier so far
};

/// Calls come from the controller's admin thread, but for doorbell() and counts(), which any thread may call.
class queue_server {
 public:
  virtual ~queue_server() = default;
  /// True where it takes the queues that lanes of that backend ring.
  virtual bool serves(backend lanes) const = 0;
  /// True where its DMA reaches those bytes.
  virtual bool reaches(bus_address at, std::uint64_t bytes) const = 0;
  virtual void adopt(const queue_in_service& queue) = 0;
  /// After it returns nothing of the queue moves any more. Returns the commands of its identifier so far.
  virtual std::uint64_t retire(std::uint16_t id) = 0;
  virtual lane::doorbell doorbell(std::uint32_t index) = 0;
  virtual void set_limits(const limits& bounds) = 0;
  /// Hands on what went wrong since the last call.
  virtual void report(event_log& to) = 0;
  virtual served_counts counts() const = 0;
};

}  // namespace sluice::controller
