// The part of a port that every controller in this process has: its registers and doorbells are calls.
#pragma once

#include "controller/controller.h"
#include "drive/controller_port.h"

namespace sluice::controller {

/// Whoever derives from it owns the controller, and says which memory it reaches.
class in_process_port : public drive::controller_port {
 public:
  std::uint32_t read32(std::uint32_t offset) override {
    return static_cast<std::uint32_t>(controller_.read_register(offset, 4));
  }
  std::uint64_t read64(std::uint32_t offset) override { return controller_.read_register(offset, 8); }
  void write32(std::uint32_t offset, std::uint32_t value) override {
    controller_.write_register(offset, value, 4);
  }
  void write64(std::uint32_t offset, std::uint64_t value) override {
    controller_.write_register(offset, value, 8);
  }

  void choose_lanes(std::uint16_t id, backend on) override { controller_.choose_lanes(id, on); }
  lane::doorbell doorbell(std::uint32_t index) override { return controller_.doorbell(index); }
  drive::drive_counters counters() const override { return controller_.counters(); }

 protected:
  explicit in_process_port(controller& to) : controller_(to) {}
  controller& to() const { return controller_; }

 private:
  controller& controller_;
};

}  // namespace sluice::controller
