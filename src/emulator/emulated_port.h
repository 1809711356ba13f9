// The way from the host's driver to an emulated drive: a software controller for the admin side, residents
// for the queues of lanes.
#pragma once

#include <memory>
#include <utility>

#include "controller/in_process_port.h"
#include "emulator/residents.h"

namespace sluice::emulator {

/// Bus addresses are the CPU's own, or for GPU memory the lanes'; the two never meet, since CUDA gives out
/// one address space.
class emulated_port final : public controller::in_process_port {
 public:
  emulated_port(std::unique_ptr<residents> lanes, std::unique_ptr<controller::controller> admin)
      : in_process_port(*admin), residents_(std::move(lanes)), controller_(std::move(admin)) {}

  memory::place reachable_place(backend on) const override {
    return on == backend::cuda ? memory::place::device : memory::place::host;
  }
  bool reaches_frames(backend on) const override {
    return on == backend::cpu || residents_->kind() == backend::cuda;
  }
  bus_address map(const memory::region& bytes) override;
  void unmap(const memory::region& bytes) override;

 private:
  static bus_address address_of(const memory::region& bytes) {
    return {reinterpret_cast<std::uintptr_t>(bytes.host != nullptr ? bytes.host : bytes.lanes)};
  }

  std::unique_ptr<residents> residents_;  // outlive the controller
  std::unique_ptr<controller::controller> controller_;
};

}  // namespace sluice::emulator
