// Executes I/O commands of the NVM command set for one service thread: decode, check, move the bytes, answer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "controller/answers.h"
#include "controller/direct_path.h"
#include "controller/event_log.h"
#include "controller/fault_dice.h"
#include "controller/limits.h"
#include "controller/media.h"
#include "controller/queues.h"
#include "controller/region_table.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/dataset.h"

namespace sluice::controller {

/// One thread writes, any reads. Release and acquire: who sees a command counted sees that its entry was
/// fetched.
class tally {
 public:
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  std::uint64_t get() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

struct tallies {
  tally served, dropped, failed, bytes_read, bytes_written, reads, writes, media_errors;
};

class executor {
 public:
  /// Commands that are fetched at once, at most.
  static constexpr std::uint32_t largest_fetch = 64;

  executor(media& on, unsigned depth, const fault_dice& dice, event_log& log, std::uint64_t salt);

  /// Takes on one fetched command. Its answer appears in pending(), now or after a later reap().
  void begin(submission_queue& queue, const nvme::submission_entry& entry);
  /// Commands of one fetch that were done on the spot: to be counted and answered together.
  struct direct_batch {
    std::array<std::uint16_t, largest_fetch> ids;
    std::uint32_t commands = 0;
    std::uint64_t reads = 0, bytes_read = 0, bytes_written = 0;
  };
  /// begin() for a command that is done at once where media are memory and no faults are asked for; false
  /// where it is not.
  bool serve_directly(const nvme::submission_entry& entry, direct_batch& done);
  /// Counts and answers them.
  void finish_directly(submission_queue& queue, const direct_batch& done);
  /// Brings the media bytes of a command close, before its turn comes.
  void prefetch(const nvme::submission_entry& entry) const;
  /// Finishes what the medium has finished; waits up to `wait_ns` where transfers are under way.
  bool reap(std::uint64_t wait_ns);
  int bell() const { return channel_->bell(); }
  std::size_t in_flight() const { return channel_->in_flight(); }
  std::size_t room() const { return channel_->room(); }

  answers& pending() { return answers_; }
  const tallies& counts() const { return counts_; }

  limits bounds;  ///< changed by the owning thread between commands
  void exchange_regions(const region_table& with);

 private:
  struct command {
    media_request request;
    submission_queue* queue = nullptr;
    nvme::submission_entry entry{};
    std::uint32_t step = 0;
    bool torn = false;
    status code;
    std::vector<iovec> pieces;
    std::vector<nvme::dataset_range> ranges;
    aligned_bytes scratch;
  };

  command* take();
  void give(command* c);
  std::uint64_t bytes_of(const command& c) const;
  /// Checks the command and rolls the dice. False where it needs no media work: answered or dropped already.
  bool prepare(command& c);
  status check(command& c);
  status check_blocks(const command& c) const;
  status check_ranges(command& c);
  status resolve(const nvme::submission_entry& entry, std::uint64_t bytes, std::vector<iovec>& pieces) const;
  void run(command& c);
  /// Sets up the next transfer of the command; false where there is none left.
  bool next(command& c);
  bool next_write(command& c);
  bool next_compare(command& c);
  bool next_zeroes(command& c);
  bool next_deallocate(command& c);
  bool transfer(command& c, media_op op, std::uint64_t offset, std::uint64_t bytes);
  void finish(command& c);

  region_table regions_;
  media& media_;
  std::unique_ptr<media_channel> channel_;
  std::byte* in_memory_;
  direct_path direct_;
  const fault_dice& dice_;
  event_log& log_;
  answers answers_;
  tallies counts_;
  std::vector<std::unique_ptr<command>> pool_;
  std::vector<command*> free_;
  std::vector<media_request*> done_;
  aligned_bytes zeroes_;  // what is written where the medium cannot zero by itself
  bool zeroes_itself_ = true;
};

}  // namespace sluice::controller
