#include "sluice/lane/explore.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lane/seeded.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::lane {

namespace executor {

namespace {

constexpr std::uint64_t step_ns = 10;
constexpr std::uint64_t relax_ns = 1'000;
constexpr std::uint64_t longest_leap_ns = 16'000'000;
constexpr std::uint64_t clock_start_ns = 1'000'000;

}  // namespace

explore::result seeded::explore(const explore::options& how, const std::function<void()>& kernel,
                                const std::vector<std::function<void()>>& tasks) {
  how_ = how;
  failure_ = nullptr;
  random_ = mix(how.seed + 0x9e3779b97f4a7c15ULL);
  hash_ = steps_ = 0;
  clock_ns_ = clock_start_ns;
  leap_ns_ = relax_ns;
  era_ = 1;
  relaxed_in_era_ = next_block_ = 0;
  lowest_ = 0;
  plan_priority_changes();
  exploring = true;
  begin({.blocks = how.blocks, .warps = how.warps, .warp_lanes = how.lanes}, kernel);
  for (const auto& task : tasks) add_task(task);
  run(how.resident_blocks);
  exploring = false;

  explore::result seen{.ok = failure_ == nullptr, .why = {}, .steps = steps_, .hash = hash_};
  if (failure_) {
    try {
      std::rethrow_exception(failure_);
    } catch (const std::exception& e) {
      seen.why = e.what();
    } catch (...) {
      seen.why = "a lane threw something that is no std::exception";
    }
  }
  return seen;
}

std::uint64_t seeded::draw() {
  random_ += 0x9e3779b97f4a7c15ULL;
  return mix(random_);
}

bool seeded::claim_block(std::uint32_t& index) {
  index = next_block_;
  return next_block_ < how_.blocks && next_block_++ == index;
}

void seeded::note_failure(std::exception_ptr what) {
  if (!failure_) failure_ = std::move(what);
}

void seeded::make_ready(strand& which, bool soon) {
  if (!soon) which.priority = static_cast<std::int64_t>(draw() >> 2);
  if (ready_.capacity() == ready_.size()) ready_.reserve(2 * ready_.size() + warp_width);
  which.place = static_cast<std::uint32_t>(ready_.size());
  ready_.push_back(&which);
}

void seeded::make_waiting(strand& which) {
  if (which.relaxed_in == era_) --relaxed_in_era_;
  which.relaxed_in = 0;
  ready_[which.place] = ready_.back();
  ready_[which.place]->place = which.place;
  ready_.pop_back();
}

strand* seeded::highest() const {
  return *std::max_element(ready_.begin(), ready_.end(),
                           [](const strand* a, const strand* b) { return a->priority < b->priority; });
}

strand* seeded::pick() {
  if (ready_.empty()) return nullptr;
  strand* const chosen = how_.how == explore::policy::pct ? highest() : ready_[draw() % ready_.size()];
  hash_ = mix(hash_ ^ (steps_ << 16) ^ chosen->number);
  return chosen;
}

void seeded::step(std::uint64_t nanoseconds) {
  clock_ns_ += nanoseconds;
  if (++steps_ > how_.max_steps) fail_oracle("no progress: the run took more than its bound of steps");
}

void seeded::point() {
  if (running() == nullptr) return;
  step(step_ns);
  if (how_.how == explore::policy::one_in_eight && draw() % 8 != 0) return;
  if (how_.how == explore::policy::pct &&
      std::find(changes_.begin(), changes_.end(), steps_) != changes_.end())
    running()->priority = --lowest_;
  give_way();
}

void seeded::relax() {
  strand& me = *running();
  step(relax_ns);
  leap_where_all_relax(me);
  note_relaxed(me.home);
  if (how_.how == explore::policy::pct) me.priority = --lowest_;
  give_way();
}

void seeded::leap_where_all_relax(strand& me) {
  if (me.relaxed_in != era_) {
    me.relaxed_in = era_;
    ++relaxed_in_era_;
  }
  if (relaxed_in_era_ < ready_.size()) return;
  clock_ns_ += leap_ns_;
  leap_ns_ = std::min(2 * leap_ns_, longest_leap_ns);
  ++era_;
  relaxed_in_era_ = 0;
}

void seeded::fail_oracle(std::string why) {
  note_failure(std::make_exception_ptr(error(error_kind::wrong_answer, std::exchange(why, {}))));
  leave_for_good();
}

void seeded::note_change() {
  ++era_;
  relaxed_in_era_ = 0;
  leap_ns_ = relax_ns;
}

void seeded::plan_priority_changes() {
  changes_.clear();
  if (how_.how != explore::policy::pct) return;
  for (std::uint32_t i = 1; i < how_.depth; ++i)
    changes_.push_back(1 + draw() % std::max<std::uint64_t>(how_.expected_steps, 1));
}

// ---- what the room's headers call

void explored_point() { static_cast<seeded*>(here)->point(); }
void explored_change() { static_cast<seeded*>(here)->note_change(); }

std::uint64_t clock_ns() {
  if (exploring) return static_cast<seeded*>(here)->clock_ns();
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace executor

namespace explore {

result run(const options& how, const std::function<void()>& kernel,
           const std::vector<std::function<void()>>& tasks) {
  if (executor::exploring) throw error(error_kind::bad_input, "an exploration cannot run inside another");
  if (how.lanes == 0 || how.lanes > executor::warp_width || how.warps == 0)
    throw error(error_kind::bad_input, "an exploration needs at least one warp of 1 to 32 lanes");
  static thread_local executor::seeded crew;  // keeps its stacks, so that a small run costs microseconds
  return crew.explore(how, kernel, tasks);
}

void fail(std::string why) {
  if (!executor::exploring) throw error(error_kind::wrong_answer, why);
  static_cast<executor::seeded*>(executor::here)->fail_oracle(std::move(why));
}

const char* to_string(policy how) {
  switch (how) {
    case policy::random:
      return "random";
    case policy::one_in_eight:
      return "one_in_eight";
    case policy::pct:
      return "pct";
  }
  return "?";
}

}  // namespace explore

}  // namespace sluice::lane
