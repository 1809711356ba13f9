#include "controller/uring_channel.h"

#include <liburing.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sluice::controller {

namespace {

class uring_channel final : public media_channel {
 public:
  uring_channel(const file_target& target, unsigned depth, const io_uring& ring)
      : target_(target), depth_(depth), ring_(ring) {
    fixed_ = io_uring_register_files(&ring_, &target_.fd, 1) == 0;
  }
  ~uring_channel() override { io_uring_queue_exit(&ring_); }
  uring_channel(const uring_channel&) = delete;
  uring_channel& operator=(const uring_channel&) = delete;

  bool start(media_request& request) override {
    prepare_file_request(request, target_.granule);
    submit(request);
    ++in_flight_;
    return false;
  }

  void push() override {
    if (unsubmitted_ == 0) return;
    io_uring_submit(&ring_);
    unsubmitted_ = 0;
  }

  void reap(std::vector<media_request*>& done, std::uint64_t wait_ns) override {
    if (in_flight_ == 0) return;
    if (wait_ns > 0 && io_uring_cq_ready(&ring_) == 0) {
      __kernel_timespec limit{static_cast<std::int64_t>(wait_ns / 1'000'000'000),
                              static_cast<long long>(wait_ns % 1'000'000'000)};
      io_uring_cqe* first = nullptr;
      io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr);
      unsubmitted_ = 0;
    }
    constexpr unsigned most = 64;
    std::array<io_uring_cqe*, most> entries;
    const unsigned n = io_uring_peek_batch_cqe(&ring_, entries.data(), most);
    for (unsigned i = 0; i < n; ++i) {
      auto* request = static_cast<media_request*>(io_uring_cqe_get_data(entries[i]));
      if (take_file_result(*request, entries[i]->res, target_.granule)) {
        done.push_back(request);
        --in_flight_;
      } else {
        submit(*request);
      }
    }
    io_uring_cq_advance(&ring_, n);
    push();
  }

  std::size_t in_flight() const override { return in_flight_; }
  std::size_t room() const override { return depth_ - std::min<std::size_t>(depth_, in_flight_); }

 private:
  void submit(media_request& request) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (sqe == nullptr) {
      push();
      sqe = io_uring_get_sqe(&ring_);
    }
    fill(*sqe, request);
    io_uring_sqe_set_data(sqe, &request);
    if (fixed_) io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
    ++unsubmitted_;
  }

  void fill(io_uring_sqe& sqe, media_request& request) const {
    const int fd = fixed_ ? 0 : target_.fd;
    const std::uint64_t offset = request.offset + request.moved;
    const iovec* pieces = request.pieces.data() + request.next_piece;
    const auto count = static_cast<unsigned>(request.pieces.size() - request.next_piece);
    switch (request.op) {
      case media_op::read:
        if (count == 1)
          io_uring_prep_read(&sqe, fd, pieces->iov_base, static_cast<unsigned>(pieces->iov_len), offset);
        else
          io_uring_prep_readv(&sqe, fd, pieces, count, offset);
        break;
      case media_op::write:
        io_uring_prep_writev2(&sqe, fd, pieces, count, offset, write_flags(request));
        break;
      case media_op::flush:
        io_uring_prep_fsync(&sqe, fd, IORING_FSYNC_DATASYNC);
        break;
      case media_op::zero:
      case media_op::discard:
        io_uring_prep_fallocate(&sqe, fd, fallocate_mode(request.op), static_cast<off_t>(request.offset),
                                static_cast<off_t>(request.bytes));
        break;
    }
  }

  file_target target_;
  unsigned depth_;
  io_uring ring_;
  bool fixed_ = false;
  std::size_t in_flight_ = 0;
  unsigned unsubmitted_ = 0;
};

}  // namespace

std::unique_ptr<media_channel> open_uring_channel(const file_target& target, unsigned depth) {
  io_uring ring{};
  // Answers are looked for by polling: no need to interrupt the thread for them.
  if (io_uring_queue_init(depth, &ring,
                          IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CLAMP) != 0 &&
      io_uring_queue_init(depth, &ring, IORING_SETUP_CLAMP) != 0)
    return nullptr;
  return std::make_unique<uring_channel>(target, depth, ring);
}

}  // namespace sluice::controller
