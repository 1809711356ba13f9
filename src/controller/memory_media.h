// Host memory as a medium: fast, and forgotten at exit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "controller/media.h"

namespace sluice::controller {

class memory_media final : public media {
 public:
  /// Zeroed, in huge pages where the machine grants them. Throws error{unavailable} where there is not so
  /// much memory.
  memory_media(std::uint64_t bytes, bool writable);
  ~memory_media() override;
  memory_media(const memory_media&) = delete;
  memory_media& operator=(const memory_media&) = delete;

  const media_traits& traits() const override { return traits_; }
  std::unique_ptr<media_channel> open_channel(unsigned depth) override;
  std::byte* in_memory() const override { return bytes_; }

 private:
  media_traits traits_;
  std::byte* bytes_ = nullptr;
};

}  // namespace sluice::controller
