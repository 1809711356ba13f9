// The way from the host's driver to a software controller in the same process.
#pragma once

#include <memory>
#include <utility>

#include "controller/controller.h"
#include "drive/controller_port.h"
#include "sluice/drive/lock.h"

namespace sluice::controller {

/// Bus addresses are the CPU's own.
class software_port final : public drive::controller_port {
 public:
  /// `held`: the lock on what the medium stands on, kept as long as the controller lives.
  explicit software_port(std::unique_ptr<controller> to, drive::drive_lock held = {})
      : held_(std::move(held)), controller_(std::move(to)) {}

  std::uint32_t read32(std::uint32_t offset) override {
    return static_cast<std::uint32_t>(controller_->read_register(offset, 4));
  }
  std::uint64_t read64(std::uint32_t offset) override { return controller_->read_register(offset, 8); }
  void write32(std::uint32_t offset, std::uint32_t value) override {
    controller_->write_register(offset, value, 4);
  }
  void write64(std::uint32_t offset, std::uint64_t value) override {
    controller_->write_register(offset, value, 8);
  }

  void choose_lanes(std::uint16_t id, backend on) override { controller_->choose_lanes(id, on); }
  lane::doorbell doorbell(std::uint32_t index) override { return controller_->doorbell(index); }

  memory::place reachable_place(backend on) const override {
    return on == backend::cuda ? memory::place::pinned : memory::place::host;
  }
  bool reaches_frames(backend on) const override { return on == backend::cpu; }
  /// Throws error{unavailable} for GPU memory: no CPU thread reaches it.
  bus_address map(const memory::region& bytes) override;
  void unmap(const memory::region& bytes) override;
  drive::drive_counters counters() const override { return controller_->counters(); }

 private:
  drive::drive_lock held_;
  std::unique_ptr<controller> controller_;
};

}  // namespace sluice::controller
