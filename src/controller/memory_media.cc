#include "controller/memory_media.h"

#include <sys/mman.h>

#include <cstring>
#include <string>

#include "controller/copy.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/base/types.h"

namespace sluice::controller {

namespace {

constexpr std::uint64_t huge_page = 2 * MiB;

/// Zeroes a range; long ones go back to the kernel, which hands out zeroed pages again.
void zero(std::byte* at, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const std::uint64_t head = align_up(address, huge_page) - address;
  if (bytes < head + huge_page) {
    std::memset(at, 0, bytes);
    return;
  }
  const std::uint64_t middle = (bytes - head) / huge_page * huge_page;
  std::memset(at, 0, head);
  if (madvise(at + head, middle, MADV_DONTNEED) != 0) std::memset(at + head, 0, middle);
  std::memset(at + head + middle, 0, bytes - head - middle);
}

class memory_channel final : public media_channel {
 public:
  explicit memory_channel(std::byte* bytes) : bytes_(bytes) {}

  bool start(media_request& request) override {
    std::byte* at = bytes_ + request.offset;
    switch (request.op) {
      case media_op::read:
        for (const iovec& piece : request.pieces) {
          copy_bytes(static_cast<std::byte*>(piece.iov_base), at, piece.iov_len);
          at += piece.iov_len;
        }
        break;
      case media_op::write:
        for (const iovec& piece : request.pieces) {
          copy_bytes(at, static_cast<const std::byte*>(piece.iov_base), piece.iov_len);
          at += piece.iov_len;
        }
        break;
      case media_op::zero:
      case media_op::discard:
        zero(at, request.bytes);
        break;
      case media_op::flush:
        break;
    }
    request.error = 0;
    return true;
  }

 private:
  std::byte* bytes_;
};

}  // namespace

memory_media::memory_media(std::uint64_t bytes, bool writable) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    throw error(error_kind::unavailable,
                "no memory for a drive of " + format_bytes(static_cast<double>(bytes)),
                "ask for a smaller mem: drive, or use file:");
  madvise(at, bytes, MADV_HUGEPAGE);
  bytes_ = static_cast<std::byte*>(at);
  traits_ = {.model = "Sluice memory drive",
             .bytes = bytes,
             .forgets = true,
             .writable = writable,
             .discard_zeroes = true};
}

memory_media::~memory_media() { munmap(bytes_, traits_.bytes); }

std::unique_ptr<media_channel> memory_media::open_channel(unsigned /*depth*/) {
  return std::make_unique<memory_channel>(bytes_);
}

}  // namespace sluice::controller
