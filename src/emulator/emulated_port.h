// The way from the host's driver to an emulated drive: a software controller for the admin side, residents
// for the queues of lanes.
#pragma once

#include <memory>
#include <utility>

#include "controller/controller.h"
#include "drive/controller_port.h"
#include "emulator/residents.h"

namespace sluice::emulator {

/// Bus addresses are the CPU's own, or for GPU memory the lanes'; the two never meet, since CUDA gives out
/// one address space.
class emulated_port final : public drive::controller_port {
 public:
  emulated_port(std::unique_ptr<residents> lanes, std::unique_ptr<controller::controller> admin)
      : residents_(std::move(lanes)), controller_(std::move(admin)) {}

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
    return on == backend::cuda ? memory::place::device : memory::place::host;
  }
  bool reaches_frames(backend on) const override {
    return on == backend::cpu || residents_->kind() == backend::cuda;
  }
  bus_address map(const memory::region& bytes) override;
  void unmap(const memory::region& bytes) override;
  drive::drive_counters counters() const override { return controller_->counters(); }

 private:
  static bus_address address_of(const memory::region& bytes) {
    return {reinterpret_cast<std::uintptr_t>(bytes.host != nullptr ? bytes.host : bytes.lanes)};
  }

  std::unique_ptr<residents> residents_;  // outlive the controller
  std::unique_ptr<controller::controller> controller_;
};

}  // namespace sluice::emulator
