#include "lane/worker.h"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace sluice::lane::executor {

namespace {

/// Relaxations between two offers of the core to other threads, at least: an offer costs about as much as 20
/// of them.
constexpr std::uint32_t relaxations_a_turn = 32;

// Of a thread outside any launch.
thread_local napper own_naps;
thread_local std::uint32_t own_relaxations = 0;

thread_local std::uint32_t looks = 0;

}  // namespace

void cpu_launch::fail(std::exception_ptr what) {
  const std::lock_guard lock(failure_guard);
  if (!failure) failure = std::move(what);
  failed.store(true, std::memory_order_relaxed);
}

void worker::work_on(cpu_launch& launch) {
  launch_ = &launch;
  cursor_ = nullptr;
  ready_ = wakes_ = relaxations_ = 0;
  naps_.expect_news();
  crew_shape shape = launch.shape;
  shape.processor = processor_;
  begin(shape, launch.body);
  run(launch.most_blocks);
  launch_ = nullptr;
}

bool worker::claim_block(std::uint32_t& index) {
  if (launch_->next_block.load(std::memory_order_relaxed) >= launch_->shape.blocks) return false;
  index = launch_->next_block.fetch_add(1, std::memory_order_relaxed);
  naps_.expect_news();
  return index < launch_->shape.blocks;
}

void worker::make_ready(strand& which, bool soon) {
  constexpr std::uint32_t fair_every = 64;  // or a warp that only meets would keep the ring from turning
  ++ready_;
  if (cursor_ == nullptr) {
    cursor_ = which.next = which.previous = &which;
    return;
  }
  strand* const before =
      soon && ++wakes_ % fair_every != 0 && running() == cursor_ ? cursor_ : cursor_->previous;
  which.previous = before;
  which.next = before->next;
  before->next->previous = &which;
  before->next = &which;
}

void worker::make_waiting(strand& which) {
  --ready_;
  which.previous->next = which.next;
  which.next->previous = which.previous;
  if (cursor_ == &which) cursor_ = which.next == &which ? nullptr : which.next;
}

void worker::relax() {
  if (++relaxations_ >= std::max(ready_, relaxations_a_turn)) {
    relaxations_ = 0;
    naps_.pause();
  }
  note_relaxed(running()->home);
  cursor_ = cursor_->next;
  give_way();
}

void relax() {
  if (here != nullptr) return here->relax();
  if (++own_relaxations % relaxations_a_turn == 0)
    own_naps.pause();
  else
    sched_yield();
}

bool now_and_then() {
  constexpr std::uint32_t every = 61;  // a prime: of lanes that take turns, each comes to be the one
  return exploring || ++looks % every == 0;
}

void note_bell() {
  if (here != nullptr)
    here->note_bell();
  else
    own_naps.expect_news();
}

}  // namespace sluice::lane::executor
