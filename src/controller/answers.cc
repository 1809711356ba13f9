#include "controller/answers.h"

#include <algorithm>
#include <utility>

#include "controller/nap.h"
#include "sluice/base/bits.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::controller {

void answers::add(const answer& a) {
  if (delay_ns_ > 0)
    late_.push_back({now_ns() + delay_ns_, a});
  else
    ready_.push_back(a);
}

bool answers::post(std::uint64_t now) {
  for (; !late_.empty() && late_.front().due <= now; late_.pop_front()) ready_.push_back(late_.front().what);
  if (ready_.empty()) return false;
  std::size_t keep = 0;
  if (shuffle_) {
    shuffle();
    // A quarter waits for the next round, once, so that commands of different fetches change places too.
    if (held_ == 0) keep = ready_.size() / 4;
  }
  for (std::size_t i = keep; i < ready_.size(); ++i) ready_[i].queue->completions->post(ready_[i]);
  ready_.resize(keep);
  held_ = keep;
  return true;
}

void answers::shuffle() {
  for (std::size_t i = ready_.size(); i > 1; --i) {
    state_ = mix(state_ + 0x9e3779b97f4a7c15ULL);
    std::swap(ready_[i - 1], ready_[state_ % i]);
  }
}

std::uint64_t answers::next_due() const {
  if (!ready_.empty()) return 0;
  return late_.empty() ? UINT64_MAX : late_.front().due;
}

void answers::forget(const submission_queue* queue) {
  std::erase_if(ready_, [&](const answer& a) { return a.queue == queue; });
  held_ = std::min(held_, ready_.size());
  std::erase_if(late_, [&](const late& l) { return l.what.queue == queue; });
  queue->completions->forget(queue);
}

bool answers::abort(const submission_queue* queue, std::uint16_t command) {
  const auto found = std::find_if(late_.begin(), late_.end(), [&](const late& l) {
    return l.what.queue == queue && l.what.command == command;
  });
  if (found == late_.end()) return false;
  answer a = found->what;
  a.code = nvme::code::abort_requested;
  late_.erase(found);
  ready_.push_back(a);
  return true;
}

}  // namespace sluice::controller
