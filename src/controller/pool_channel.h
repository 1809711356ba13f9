// File transfers by a few threads that block: for machines without io_uring.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "controller/file_request.h"
#include "controller/media.h"

namespace sluice::controller {

class pool_channel final : public media_channel {
 public:
  pool_channel(const file_target& target, unsigned depth);
  ~pool_channel() override;

  bool start(media_request& request) override;
  void reap(std::vector<media_request*>& done, std::uint64_t wait_ns) override;
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t room() const override { return depth_ > in_flight_ ? depth_ - in_flight_ : 0; }

 private:
  void work();
  void perform(media_request& request) const;

  file_target target_;
  unsigned depth_;
  std::size_t in_flight_ = 0;  // the owner's
  std::mutex mutex_;
  std::condition_variable asked_, answered_;
  std::deque<media_request*> todo_;
  std::vector<media_request*> done_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sluice::controller
