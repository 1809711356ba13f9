#include "emulator/emulated_media.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace sluice::emulator {

namespace {

using controller::media_op;
using controller::media_request;

class copying_channel final : public controller::media_channel {
 public:
  explicit copying_channel(const memory::region& bytes) : bytes_(bytes) {}

  bool start(media_request& request) override {
    if (request.op == media_op::zero || request.op == media_op::discard)
      zero(request.offset, request.bytes);
    else if (request.op != media_op::flush)
      move(request);
    request.error = 0;
    return true;
  }

 private:
  void move(const media_request& request) const {
    std::uint64_t at = request.offset;
    for (const iovec& piece : request.pieces) {
      const std::span bytes(static_cast<std::byte*>(piece.iov_base), piece.iov_len);
      if (request.op == media_op::read)
        memory::copy_out(bytes_, at, bytes);
      else
        memory::copy_in(bytes_, at, bytes);
      at += bytes.size();
    }
  }
  void zero(std::uint64_t at, std::uint64_t bytes) const {
    static constexpr std::array<std::byte, 64 * KiB> zeros{};
    for (const std::uint64_t end = at + bytes; at < end;) {
      const std::uint64_t n = std::min<std::uint64_t>(zeros.size(), end - at);
      memory::copy_in(bytes_, at, std::span(zeros).first(n));
      at += n;
    }
  }

  memory::region bytes_;
};

}  // namespace

emulated_media::emulated_media(memory::buffer bytes, const std::string& model, bool writable)
    : bytes_(std::move(bytes)),
      traits_{.model = model, .bytes = bytes_.size(), .forgets = true, .writable = writable} {}

std::unique_ptr<controller::media_channel> emulated_media::open_channel(unsigned /*depth*/) {
  return std::make_unique<copying_channel>(bytes_.view());
}

}  // namespace sluice::emulator
