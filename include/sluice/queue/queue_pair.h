// Owns a submission and a completion queue of one drive, and everything that lanes need to use them.
#pragma once

#include <chrono>
#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/memory/buffer.h"
#include "sluice/queue/prp_table.h"
#include "sluice/queue/queue_pair_ref.h"

namespace sluice::queue {

struct queue_options {
  std::uint32_t depth = 256;                    ///< entries, a power of two from 2 to what the drive grants
  std::uint32_t transfer_bytes = 4096;          ///< the most that one command moves; a staging slot's size
  std::chrono::microseconds deadline{5000000};  ///< how long a command may stay unanswered
  bool staged = false;  ///< through staging bytes, also where the drive reaches the lanes' own memory
  std::uint32_t first_turn = 0;  ///< tests start close to the wrap of the turn count
};

/// Lanes' side is ref(); it stays good until the owner ends, also across a loss of the queue.
/// Threads: recover() by one thread at a time; the rest is const.
class queue_pair {
 public:
  /// Creates the queue pair on the drive. `lanes`: whose lanes will use it.
  /// Throws error{bad_input} for a depth or size that the drive does not grant, error{io_failure} where it
  /// refuses.
  queue_pair(drive::drive& on, backend lanes, const queue_options& options);
  queue_pair(const queue_pair&) = delete;
  queue_pair& operator=(const queue_pair&) = delete;
  ~queue_pair();

  /// For lanes of the CPU backend and host threads.
  queue_pair_ref ref() const { return queue_pair_ref(&fields_); }
  /// What lanes elsewhere need a copy of.
  const queue_fields& fields() const { return fields_; }
  drive::drive& owner() const { return drive_; }

  /// Commands that lanes put on the ring so far.
  std::uint64_t issued() const;

  /// True where a lane failed the queue and recover() has work to do.
  bool needs_recovery() const;
  /// One step of bringing a failed queue back (design section 4, rules 9 and 10): once no lane is about to
  /// write to it, deletes it on the drive, which ends all DMA, lets its commands be aborted, and re-creates
  /// it at the next unused turn. True where the queue is open again or dead; false where lanes must move
  /// first: call again.
  bool recover();
  /// Times the queue was lost.
  std::uint32_t losses() const { return losses_; }

 private:
  void make_memory(const queue_options& options);
  void create_on_drive();
  void write_first_life(std::uint32_t first_turn);
  void begin_life(std::uint64_t ticket);

  drive::drive& drive_;
  backend lanes_;
  queue_options options_;
  memory::buffer words_, slots_;    // lanes' memory
  memory::buffer rings_, staging_;  // where the drive reaches
  prp_table staging_prps_;
  memory::buffer attention_;  // where the host polls
  bus_address rings_bus_;
  queue_fields fields_;
  std::uint64_t life_began_ = 0;     // ticket at the start of the present life
  std::uint64_t issued_before_ = 0;  // commands of earlier lives
  std::uint64_t left_before_ = 0;
  std::uint32_t losses_ = 0;
};

}  // namespace sluice::queue
