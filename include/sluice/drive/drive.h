// Something that grants NVMe queue pairs: a real SSD, a software controller, an emulated SSD.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sluice/base/types.h"
#include "sluice/lane/doorbell.h"
#include "sluice/memory/buffer.h"

namespace sluice::drive {

/// What identify told, and what this drive can do for us. Sizes in bytes unless said.
struct drive_info {
  std::string uri;
  std::string model;
  std::string serial;
  std::string firmware;
  std::uint32_t nsid = 1;
  std::uint32_t block_size = 512;     ///< logical block, a power of two from 512
  std::uint64_t blocks = 0;           ///< logical blocks of the namespace
  std::uint32_t max_queues = 0;       ///< I/O queue pairs granted
  std::uint32_t max_depth = 0;        ///< entries a queue may have
  std::uint32_t max_transfer = 0;     ///< bytes one command may move (MDTS)
  std::uint32_t dma_page = 4096;      ///< unit of PRP entries (CC.MPS)
  bool volatile_write_cache = false;  ///< a FLUSH is needed for writes to last
  bool forgets = false;               ///< its bytes end with the process (mem:)
  bool writable = true;
  memory::place media = memory::place::pinned;  ///< where its bytes are fetched from at last
  std::uint32_t deadline_ms = 5000;  ///< how long a command may stay unanswered (the URI's deadline_ms)

  std::uint64_t bytes() const { return blocks * block_size; }
};

/// Rings that the queue's owner made; the drive fetches from and posts into them.
struct queue_rings {
  bus_address submission;   ///< depth × 64 bytes, contiguous on the bus
  bus_address completion;   ///< depth × 16 bytes, zeroed
  std::uint32_t depth = 0;  ///< entries, a power of two from 2 up to max_depth
};

struct queue_grant {
  std::uint16_t id = 0;  ///< NVMe queue identifier of both queues
  lane::doorbell submission_tail;
  lane::doorbell completion_head;
};

/// What the drive's own side counted, for the I/O truth.
struct drive_counters {
  std::uint64_t served = 0;   ///< I/O commands completed (with any status)
  std::uint64_t dropped = 0;  ///< I/O commands that fault injection left unanswered
  std::uint64_t failed = 0;   ///< completed with an error status
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;
};

/// Threads: any host thread; calls are serialised inside.
class drive {
 public:
  virtual ~drive() = default;
  virtual const drive_info& info() const = 0;

  /// Where rings and staging memory must lie for this drive to reach them when lanes run on `on`.
  virtual memory::place reachable_place(backend on) const = 0;
  /// True where the drive's DMA reaches lanes' own frames (peer path); else data go through staging slots.
  virtual bool reaches_frames(backend on) const = 0;

  /// Lets the drive's DMA reach `bytes`; contiguous on the bus. Idempotent for one region. Throws
  /// error{unavailable}.
  virtual bus_address map(const memory::region& bytes) = 0;
  virtual void unmap(const memory::region& bytes) = 0;

  /// Creates a completion and a submission queue (NVMe Base 2.0, 5.4, 5.5) over rings that were mapped.
  /// `on`: whose lanes will ring. `again`: 0, or the identifier that a deletion kept: the new queue takes it
  /// over with the same doorbells, reset to 0, so that lanes need not be told. Throws error{io_failure} with
  /// the drive's status where it refuses.
  virtual queue_grant create_queue(const queue_rings& rings, backend on, std::uint16_t again = 0) = 0;
  /// Deletes both queues; after it returns no DMA of theirs is under way or will ever happen. `keep_id`:
  /// nobody else gets the identifier until create_queue() has it again, or until it is deleted without
  /// keeping.
  virtual void delete_queue(std::uint16_t id, bool keep_id = false) = 0;

  virtual drive_counters counters() const = 0;
};

}  // namespace sluice::drive
