// The memory behind an emulated drive, as its controller's CPU threads reach it.
#pragma once

#include <memory>
#include <string>

#include "controller/media.h"
#include "sluice/memory/buffer.h"

namespace sluice::emulator {

/// GPU memory is reached by copies: for the host's own commands only, which are few and long.
class emulated_media final : public controller::media {
 public:
  emulated_media(memory::buffer bytes, const std::string& model, bool writable);
  const controller::media_traits& traits() const override { return traits_; }
  std::unique_ptr<controller::media_channel> open_channel(unsigned depth) override;
  const memory::region& bytes() const { return bytes_.view(); }

 private:
  memory::buffer bytes_;
  controller::media_traits traits_;
};

}  // namespace sluice::emulator
