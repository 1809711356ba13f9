// Answers on their way to completion queues: at once, late, or in another order than fetched, as the faults
// ask.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "controller/fault_dice.h"
#include "controller/queues.h"

namespace sluice::controller {

/// Belongs to one service thread.
class answers {
 public:
  answers(const fault_dice& dice, std::uint64_t salt)
      : delay_ns_(std::uint64_t{dice.plan().delay_us} * 1000),
        shuffle_(dice.plan().shuffle),
        state_(dice.plan().seed + salt) {}

  void add(const answer& a);
  /// Posts what is due. True where something was posted.
  bool post(std::uint64_t now);
  /// When the next late answer is due; 0 for at once, UINT64_MAX where none waits.
  std::uint64_t next_due() const;
  /// Drops the answers of a queue that is being deleted.
  void forget(const submission_queue* queue);
  /// Turns a late answer into "Command Abort Requested"; false where there is no such answer.
  bool abort(const submission_queue* queue, std::uint16_t command);
  bool needs_clock() const { return delay_ns_ > 0; }

 private:
  struct late {
    std::uint64_t due;
    answer what;
  };
  void shuffle();

  std::uint64_t delay_ns_;
  bool shuffle_;
  std::uint64_t state_;
  std::vector<answer> ready_;
  std::size_t held_ = 0;  // the first of ready_, held over once by shuffle
  std::deque<late> late_;
};

}  // namespace sluice::controller
