#include "controller/uring_channel.h"

#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <vector>

#include "controller/registered_memory.h"

namespace sluice::controller {

namespace {

/// Answers are looked for by polling: no need to interrupt the thread for them. Best of all the kernel
/// finishes them when their one thread asks, a few at a time, so that the first can be passed on before the
/// last.
constexpr unsigned for_one_thread = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                                    IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_R_DISABLED;
constexpr unsigned for_any_thread = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
/// Answers taken at once: whoever waits for the first should not wait for many others to be taken.
constexpr unsigned most_at_once = 8;

class uring_channel final : public media_channel {
 public:
  uring_channel(const file_target& target, unsigned depth, const io_uring& ring)
      : target_(target),
        depth_(depth),
        ring_(ring),
        memory_(ring_),
        starts_disabled_((ring.flags & IORING_SETUP_R_DISABLED) != 0),
        bell_(eventfd(0, EFD_CLOEXEC)) {
    fixed_ = io_uring_register_files(&ring_, &target_.fd, 1) == 0;
  }
  ~uring_channel() override {
    io_uring_queue_exit(&ring_);
    if (bell_ >= 0) ::close(bell_);
  }
  uring_channel(const uring_channel&) = delete;
  uring_channel& operator=(const uring_channel&) = delete;

  /// A transfer goes out as soon as it is known: a drive that has to wait for the whole batch works less.
  bool start(media_request& request) override {
    if (starts_disabled_) enable();
    prepare_file_request(request, target_.granule);
    submit(request);
    ++in_flight_;
    return false;
  }

  void reap(std::vector<media_request*>& done, std::uint64_t wait_ns) override {
    if (in_flight_ == 0) return;
    if (wait_ns > 0 && io_uring_cq_ready(&ring_) == 0) wait(wait_ns);
    std::array<io_uring_cqe*, most_at_once> entries;
    const unsigned n = io_uring_peek_batch_cqe(&ring_, entries.data(), most_at_once);
    for (unsigned i = 0; i < n; ++i) {
      auto* request = static_cast<media_request*>(io_uring_cqe_get_data(entries[i]));
      if (request == nullptr) {
        listens_ = false;
      } else if (take_file_result(*request, entries[i]->res, target_.granule)) {
        done.push_back(request);
        --in_flight_;
      } else {
        submit(*request);
      }
    }
    io_uring_cq_advance(&ring_, n);
  }

  void know(const std::vector<region_table::mapping>& regions) override { memory_.exchange(ring_, regions); }

  int bell() const override { return bell_; }
  std::size_t in_flight() const override { return in_flight_; }
  std::size_t room() const override { return depth_ - std::min<std::size_t>(depth_, in_flight_); }

 private:
  /// The ring belongs to the thread that enables it: the one that uses it, not the one that opened it.
  void enable() {
    io_uring_register(ring_.ring_fd, IORING_REGISTER_ENABLE_RINGS, nullptr, 0);
    starts_disabled_ = false;
  }

  void wait(std::uint64_t nanoseconds) {
    listen();
    __kernel_timespec limit{static_cast<std::int64_t>(nanoseconds / 1'000'000'000),
                            static_cast<long long>(nanoseconds % 1'000'000'000)};
    io_uring_cqe* first = nullptr;
    io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr);
  }

  /// Keeps a read of the bell under way: its answer, of no request, ends a wait.
  void listen() {
    if (listens_ || bell_ < 0) return;
    io_uring_sqe* sqe = next_entry();
    io_uring_prep_read(sqe, bell_, &rung_, sizeof rung_, 0);
    io_uring_sqe_set_data(sqe, nullptr);
    listens_ = true;
  }

  void submit(media_request& request) {
    io_uring_sqe* sqe = next_entry();
    fill(*sqe, request);
    io_uring_sqe_set_data(sqe, &request);
    if (fixed_) io_uring_sqe_set_flags(sqe, IOSQE_FIXED_FILE);
    io_uring_submit(&ring_);
  }

  io_uring_sqe* next_entry() {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    while (sqe == nullptr) {  // what the kernel did not take last time
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    return sqe;
  }

  void fill(io_uring_sqe& sqe, media_request& request) const {
    const int fd = fixed_ ? 0 : target_.fd;
    const std::uint64_t offset = request.offset + request.moved;
    const iovec* pieces = request.pieces.data() + request.next_piece;
    const auto count = static_cast<unsigned>(request.pieces.size() - request.next_piece);
    const auto length = count == 1 ? static_cast<unsigned>(pieces->iov_len) : 0;
    const int known = count == 1 ? memory_.find(*pieces) : -1;
    switch (request.op) {
      case media_op::read:
        if (known >= 0)
          io_uring_prep_read_fixed(&sqe, fd, pieces->iov_base, length, offset, known);
        else if (count == 1)
          io_uring_prep_read(&sqe, fd, pieces->iov_base, length, offset);
        else
          io_uring_prep_readv(&sqe, fd, pieces, count, offset);
        break;
      case media_op::write:
        if (known >= 0) {
          io_uring_prep_write_fixed(&sqe, fd, pieces->iov_base, length, offset, known);
          sqe.rw_flags = write_flags(request);
        } else {
          io_uring_prep_writev2(&sqe, fd, pieces, count, offset, write_flags(request));
        }
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
  registered_memory memory_;
  bool starts_disabled_;
  bool fixed_ = false;
  std::size_t in_flight_ = 0;
  int bell_;
  std::uint64_t rung_ = 0;
  bool listens_ = false;
};

}  // namespace

std::unique_ptr<media_channel> open_uring_channel(const file_target& target, unsigned depth) {
  for (const unsigned flags : {for_one_thread, for_any_thread, 0U}) {
    io_uring ring{};
    if (io_uring_queue_init(depth, &ring, flags | IORING_SETUP_CLAMP) == 0)
      return std::make_unique<uring_channel>(target, depth, ring);
  }
  return nullptr;
}

}  // namespace sluice::controller
