#include "lane/crew.h"

#include <bit>
#include <utility>

#include "sluice/base/error.h"

namespace sluice::lane::executor {

constinit thread_local crew* here = nullptr;

namespace {

constinit const identity nobody{};

std::string lane_name(const strand& lane) {
  return "lane " + std::to_string(lane.who.lane) + " (thread " + std::to_string(lane.who.thread) +
         " of block " + std::to_string(lane.who.block) + ")";
}

std::string hexadecimal(std::uint32_t mask) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += digits[(mask >> shift) & 15U];
  return text;
}

const char* name_of(collective what) {
  switch (what) {
    case collective::sync:
      return "sync";
    case collective::ballot:
      return "ballot";
    case collective::match:
      return "match";
    case collective::shuffle:
      return "shuffle";
  }
  return "?";
}

std::uint32_t lanes_mask(std::uint32_t lanes) {
  return lanes >= warp_width ? 0xffffffffU : (1U << lanes) - 1;
}

/// Calls visit(lane index) for each bit, from the highest: a lane made ready last runs first.
template <class Visit>
void each_lane(std::uint32_t mask, Visit visit) {
  while (mask != 0) {
    const auto lane = static_cast<std::uint32_t>(std::bit_width(mask) - 1);
    mask &= ~(1U << lane);
    visit(lane);
  }
}

}  // namespace

constinit thread_local const identity* current = &nobody;
constinit thread_local bool exploring = false;

// ---- strands and blocks

strand& crew::take_strand() {
  if (idle_strands_.empty()) {
    strand& fresh = strands_.emplace_back();
    fresh.context.own(stack::map());
    return fresh;
  }
  strand& used = *idle_strands_.back();
  idle_strands_.pop_back();
  return used;
}

void crew::start_strand(strand& which, const std::function<void()>& body) {
  which.body = &body;
  which.now = strand::state::ready;
  which.relaxed_in = 0;
  which.number = started_++;
  which.context.prepare(run_strand, &which, which.number);
  ++alive_;
  make_ready(which, false);
}

void crew::run_strand(void* self) {
  strand& me = *static_cast<strand*>(self);
  crew& mine = *here;
  edge_acquire(mine.begin_edge());
  try {
    (*me.body)();
  } catch (...) {
    mine.note_failure(std::current_exception());
  }
  edge_release(mine.end_edge());
  me.now = strand::state::done;
  mine.finished_ = &me;
  fiber::change(me.context, mine.thread_, true);
}

void crew::begin(const crew_shape& shape, const std::function<void()>& body) {
  if (shape.warps != shape_.warps) {
    idle_blocks_.clear();
    blocks_.clear();
  }
  shape_ = shape;
  body_ = &body;
  started_ = 0;
  edge_release(begin_edge());
}

void crew::add_task(const std::function<void()>& body) {
  strand& task = take_strand();
  task.home = nullptr;
  task.who = {};
  start_strand(task, body);
}

void crew::start_block(std::uint32_t index) {
  if (idle_blocks_.empty()) {
    block& fresh = blocks_.emplace_back();
    fresh.warps.resize(shape_.warps);
    idle_blocks_.push_back(&fresh);
  }
  block& started = *idle_blocks_.back();
  idle_blocks_.pop_back();
  const std::uint32_t lanes = shape_.warp_lanes;
  started.arrived = 0;
  started.live = shape_.warps * lanes;
  ++blocks_in_flight_;
  identity who{.warp_lanes = lanes, .block = index, .blocks = shape_.blocks, .processor = shape_.processor};
  who.block_lanes = shape_.warps == 1 ? lanes : shape_.warps * warp_width;
  for (std::uint32_t w = 0; w < shape_.warps; ++w) {
    warp& filled = started.warps[w];
    filled.home = &started;
    filled.alive = lanes_mask(lanes);
    filled.runnable = lanes;
    filled.converging = filled.patience = filled.open = 0;
    for (who.lane = 0; who.lane < lanes; ++who.lane) {
      strand& lane = take_strand();
      who.thread = w * warp_width + who.lane;
      lane.who = who;
      lane.home = &filled;
      filled.lane[who.lane] = &lane;
      start_strand(lane, *body_);
    }
  }
}

void crew::retire(strand& which) {
  make_waiting(which);
  --alive_;
  if (which.home != nullptr) retire_lane(which);
  idle_strands_.push_back(&which);
}

void crew::retire_lane(strand& which) {
  warp& home = *which.home;
  block& around = *home.home;
  home.alive &= ~(1U << which.who.lane);
  --home.runnable;
  for (std::uint32_t i = 0; i < home.open; ++i)
    if (((home.meetings[i].mask >> which.who.lane) & 1U) != 0)
      note_misuse(lane_name(which) + " left while lanes wait for it in a " + name_of(home.meetings[i].what) +
                  " of mask " + hexadecimal(home.meetings[i].mask));
  if (home.runnable == 0) part(home);
  if (--around.live == 0) {
    idle_blocks_.push_back(&around);
    --blocks_in_flight_;
  } else if (around.arrived == around.live) {
    release_block(around);
  }
}

void crew::abandon_all() {
  idle_strands_.clear();
  for (strand& each : strands_) {
    if (each.now != strand::state::done) {
      if (each.now == strand::state::ready) make_waiting(each);
      each.context.abandon(end_edge());
      each.now = strand::state::done;
    }
    idle_strands_.push_back(&each);
  }
  idle_blocks_.clear();
  for (block& each : blocks_) idle_blocks_.push_back(&each);
  alive_ = blocks_in_flight_ = 0;
}

// ---- the loop

void crew::run(std::uint32_t most_blocks) {
  here = this;
  thread_.adopt_thread();
  std::uint32_t index = 0;
  while (!failed()) {
    while (blocks_in_flight_ < most_blocks && claim_block(index)) start_block(index);
    if (alive_ == 0) break;
    strand* next = pick();
    if (next == nullptr) {
      note_misuse("no progress: every lane waits in a collective for a lane that will not come");
      break;
    }
    enter(*next);
    if (finished_ != nullptr) retire(*std::exchange(finished_, nullptr));
  }
  if (alive_ != 0) abandon_all();
  edge_acquire(end_edge());
  here = nullptr;
}

void crew::enter(strand& next) {
  running_ = &next;
  current = &next.who;
  fiber::change(thread_, next.context);
  running_ = nullptr;
  current = &nobody;
}

void crew::change_to(strand& next) {
  strand& me = *running_;
  if (&next == &me) return;
  running_ = &next;
  current = &next.who;
  fiber::change(me.context, next.context);
}

void crew::give_way() {
  strand* next = failed() ? nullptr : pick();
  if (next != nullptr) return change_to(*next);
  fiber::change(running_->context, thread_);
}

void crew::fail(std::string why) {
  note_misuse(std::exchange(why, {}));  // nothing that owns memory may stay on a stack that is dropped
  leave_for_good();
}

void crew::leave_for_good() {
  for (;;) fiber::change(running_->context, thread_);
}

void crew::note_misuse(const std::string& why) {
  note_failure(std::make_exception_ptr(
      error(error_kind::io_failure, "the kernel breaks a rule of its machine: " + why)));
}

// ---- waiting for one another

void crew::wait_in(strand::state what) {
  strand& me = *running_;
  make_waiting(me);
  me.now = what;
  if (--me.home->runnable == 0) part(*me.home);
  give_way();
}

void crew::wake(strand& which) {
  which.now = strand::state::ready;
  ++which.home->runnable;
  make_ready(which, true);
}

meeting& crew::join(warp& home, collective what, std::uint32_t mask) {
  for (std::uint32_t i = 0; i < home.open; ++i) {
    meeting& open = home.meetings[i];
    if (open.mask != mask) continue;
    if (open.what != what)
      fail(lane_name(*running_) + " calls " + name_of(what) + " where others of mask " + hexadecimal(mask) +
           " call " + name_of(open.what));
    return open;
  }
  meeting& fresh = home.meetings[home.open++];
  fresh = {mask, 0, what};
  return fresh;
}

std::uint64_t crew::meet(collective what, std::uint32_t mask, std::uint64_t value, std::uint32_t source) {
  strand& me = *running_;
  warp& home = *me.home;
  const std::uint32_t bit = 1U << me.who.lane;
  if ((mask & bit) == 0)
    fail(lane_name(me) + " calls " + name_of(what) + " under mask " + hexadecimal(mask) +
         ", which does not name it");
  if ((mask & ~home.alive) != 0)
    fail(lane_name(me) + " calls " + name_of(what) + " under mask " + hexadecimal(mask) +
         ", which names lanes that have left: " + hexadecimal(mask & ~home.alive));
  if (what == collective::shuffle && (source >= warp_width || ((mask >> source) & 1U) == 0))
    fail(lane_name(me) + " reads from lane " + std::to_string(source) + " outside mask " + hexadecimal(mask));
  me.value = value;
  me.source = source;
  void* const edge =
      home.lane[std::countr_zero(mask)];  // disjoint teams of a warp order nothing for one another
  if (what == collective::sync) edge_release(edge);
  meeting& at = join(home, what, mask);
  at.arrived |= bit;
  if (at.arrived == mask)
    conclude(home, at);
  else
    wait_in(strand::state::meeting);
  if (what == collective::sync) edge_acquire(edge);
  return me.result;
}

void crew::conclude(warp& home, meeting& done) {
  const meeting held = done;
  done = home.meetings[--home.open];
  std::uint64_t yes = 0;
  if (held.what == collective::ballot)
    each_lane(held.mask, [&](std::uint32_t lane) { yes |= home.lane[lane]->value != 0 ? 1ULL << lane : 0; });
  std::uint32_t unmatched = held.what == collective::match ? held.mask : 0;
  while (unmatched != 0) {
    const std::uint64_t key = home.lane[std::countr_zero(unmatched)]->value;
    std::uint32_t group = 0;
    each_lane(unmatched,
              [&](std::uint32_t lane) { group |= home.lane[lane]->value == key ? 1U << lane : 0; });
    each_lane(group, [&](std::uint32_t lane) { home.lane[lane]->result = group; });
    unmatched &= ~group;
  }
  each_lane(held.mask, [&](std::uint32_t lane) {
    strand& member = *home.lane[lane];
    if (held.what == collective::shuffle) member.result = home.lane[member.source]->value;
    if (held.what == collective::ballot || held.what == collective::sync) member.result = yes;
    if (&member != running_) wake(member);
  });
}

std::uint32_t crew::converge(const void* site) {
  strand& me = *running_;
  if (strays()) return 1U << me.who.lane;
  me.site = site;
  me.home->converging |= 1U << me.who.lane;
  wait_in(strand::state::converging);
  return static_cast<std::uint32_t>(me.result);
}

void crew::part(warp& home) {
  home.patience = 0;
  while (home.converging != 0) {
    const void* site = home.lane[std::bit_width(home.converging) - 1]->site;
    std::uint32_t group = 0;
    each_lane(home.converging, [&](std::uint32_t lane) {
      if (home.lane[lane]->site == site && (group == 0 || !strays())) group |= 1U << lane;
    });
    home.converging &= ~group;
    each_lane(group, [&](std::uint32_t lane) {
      home.lane[lane]->result = group;
      wake(*home.lane[lane]);
    });
  }
}

void crew::note_relaxed(warp* home) {
  if (home == nullptr || home->converging == 0) return;
  if (++home->patience >= home->runnable) part(*home);
}

void crew::meet_block() {
  strand& me = *running_;
  block& around = *me.home->home;
  edge_release(&around);
  if (++around.arrived == around.live)
    release_block(around);
  else
    wait_in(strand::state::at_block);
  edge_acquire(&around);
}

void crew::release_block(block& which) {
  which.arrived = 0;
  for (warp& each : which.warps)
    each_lane(each.alive, [&](std::uint32_t lane) {
      if (each.lane[lane]->now == strand::state::at_block) wake(*each.lane[lane]);
    });
}

// ---- what the room's headers call

namespace {

/// Tasks and threads outside a launch are teams of one.
bool running_lane() { return here != nullptr && here->runs_lane(); }

}  // namespace

std::uint64_t meet(collective what, std::uint32_t mask, std::uint64_t value, std::uint32_t source) {
  if (running_lane()) return here->meet(what, mask, value, source);
  switch (what) {
    case collective::ballot:
      return value != 0 ? 1 : 0;
    case collective::match:
      return 1;
    case collective::shuffle:
      return value;
    case collective::sync:
      return 0;
  }
  return 0;
}

[[gnu::noinline]] std::uint32_t converged() {
  return running_lane() ? here->converge(__builtin_return_address(0)) : 1;
}

void meet_block() {
  if (running_lane()) here->meet_block();
}

}  // namespace sluice::lane::executor
