#include "controller/pool_channel.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace sluice::controller {

namespace {

constexpr unsigned workers = 8;  // transfers that block at a time

std::int64_t perform_once(const file_target& target, media_request& request) {
  const auto offset = static_cast<off_t>(request.offset + request.moved);
  const iovec* pieces = request.pieces.data() + request.next_piece;
  const int count = static_cast<int>(request.pieces.size() - request.next_piece);
  switch (request.op) {
    case media_op::read:
      return ::preadv(target.fd, pieces, count, offset);
    case media_op::write:
      return ::pwritev2(target.fd, pieces, count, offset, write_flags(request));
    case media_op::flush:
      return ::fdatasync(target.fd);
    case media_op::zero:
    case media_op::discard:
      return ::fallocate(target.fd, fallocate_mode(request.op), offset, static_cast<off_t>(request.bytes));
  }
  return 0;
}

}  // namespace

pool_channel::pool_channel(const file_target& target, unsigned depth) : target_(target), depth_(depth) {
  for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
}

pool_channel::~pool_channel() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  asked_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool pool_channel::start(media_request& request) {
  prepare_file_request(request, target_.granule);
  {
    const std::lock_guard lock(mutex_);
    todo_.push_back(&request);
  }
  asked_.notify_one();
  ++in_flight_;
  return false;
}

void pool_channel::reap(std::vector<media_request*>& done, std::uint64_t wait_ns) {
  std::unique_lock lock(mutex_);
  if (wait_ns > 0 && in_flight_ > 0)
    answered_.wait_for(lock, std::chrono::nanoseconds(wait_ns), [this] { return !done_.empty(); });
  in_flight_ -= done_.size();
  done.insert(done.end(), done_.begin(), done_.end());
  done_.clear();
}

void pool_channel::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [this] { return stop_ || !todo_.empty(); });
    if (todo_.empty()) return;
    media_request* request = todo_.front();
    todo_.pop_front();
    lock.unlock();
    perform(*request);
    lock.lock();
    done_.push_back(request);
    answered_.notify_one();
  }
}

void pool_channel::perform(media_request& request) const {
  for (;;) {
    const std::int64_t result = perform_once(target_, request);
    if (take_file_result(request, result < 0 ? -errno : result, target_.granule)) return;
  }
}

}  // namespace sluice::controller
