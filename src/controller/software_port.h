// The way from the host's driver to a software controller in the same process.
#pragma once

#include <memory>
#include <utility>

#include "controller/in_process_port.h"
#include "sluice/drive/lock.h"

namespace sluice::controller {

/// Bus addresses are the CPU's own.
class software_port final : public in_process_port {
 public:
  /// `held`: the lock on what the medium stands on, kept as long as the controller lives.
  explicit software_port(std::unique_ptr<controller> to, drive::drive_lock held = {})
      : in_process_port(*to), held_(std::move(held)), controller_(std::move(to)) {}

  memory::place reachable_place(backend on) const override {
    return on == backend::cuda ? memory::place::pinned : memory::place::host;
  }
  bool reaches_frames(backend on) const override { return on == backend::cpu; }
  /// Throws error{unavailable} for GPU memory: no CPU thread reaches it.
  bus_address map(const memory::region& bytes) override;
  void unmap(const memory::region& bytes) override;

 private:
  drive::drive_lock held_;
  std::unique_ptr<controller> controller_;
};

}  // namespace sluice::controller
