#include "tools/sluice/comparators/file_ring.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "sluice/base/error.h"

namespace sluice::tool {

file_ring::file_ring(unsigned depth, std::span<std::byte> memory) : depth_(depth) {
  const int code = io_uring_queue_init(depth, &ring_, 0);
  if (code < 0)
    throw error(error_kind::unavailable,
                "this machine refuses io_uring: " + std::system_category().message(-code));
  const iovec all{memory.data(), memory.size()};
  registered_ = io_uring_register_buffers(&ring_, &all, 1) == 0;
}

file_ring::~file_ring() { io_uring_queue_exit(&ring_); }

void file_ring::put(const file_read& read, std::uint32_t block_bytes) {
  io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
  if (registered_)
    io_uring_prep_read_fixed(entry, read.from.fd, read.to, block_bytes, read.from.offset, 0);
  else
    io_uring_prep_read(entry, read.from.fd, read.to, block_bytes, read.from.offset);
  ++in_flight_;
}

void file_ring::take(std::uint32_t block_bytes) {
  io_uring_cqe* answer = nullptr;
  while (in_flight_ != 0 && io_uring_peek_cqe(&ring_, &answer) == 0) {
    const int moved = answer->res;
    io_uring_cqe_seen(&ring_, answer);
    --in_flight_;
    if (moved == static_cast<int>(block_bytes)) continue;
    throw error(error_kind::io_failure,
                "a read of the file failed: " +
                    (moved < 0 ? std::system_category().message(-moved) : "it fell short"));
  }
}

void file_ring::read(std::span<const file_read> reads, std::uint32_t block_bytes) {
  for (std::size_t next = 0; next < reads.size() || in_flight_ != 0;) {
    while (next < reads.size() && in_flight_ < depth_) put(reads[next++], block_bytes);
    const int code = io_uring_submit_and_wait(&ring_, 1);
    if (code < 0 && code != -EINTR)
      throw error(error_kind::io_failure, "io_uring: " + std::system_category().message(-code));
    take(block_bytes);
  }
}

}  // namespace sluice::tool
