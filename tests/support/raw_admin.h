// A controller's registers and admin queue, handled by hand: for what a well-behaved driver never does.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "drive/controller_port.h"
#include "sluice/base/types.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/registers.h"

namespace sluice::test {

class raw_admin {
 public:
  static constexpr std::uint32_t entries = 16;

  explicit raw_admin(drive::controller_port& port)
      : port_(port), rings_(backend::cpu, memory::place::host, 128 << 10), at_(port.map(rings_.view())) {}

  /// Disables the controller before the memory of its rings goes.
  ~raw_admin() {
    set_cc(0);
    await([](nvme::controller_status s) { return !s.ready(); });
    port_.unmap(rings_.view());
  }
  raw_admin(const raw_admin&) = delete;
  raw_admin& operator=(const raw_admin&) = delete;

  drive::controller_port& port() { return port_; }
  bus_address address() const { return at_; }
  /// Page-aligned memory of the raw driver's own, behind the rings.
  bus_address data() const { return at_ + (64 << 10); }
  std::byte* data_bytes() { return rings_.host() + (64 << 10); }

  void configure() {
    port_.write32(nvme::reg::aqa, nvme::admin_queue_attributes::make(entries, entries).bits);
    port_.write64(nvme::reg::asq, at_.value);
    port_.write64(nvme::reg::acq, at_.value + (32 << 10));
  }
  nvme::controller_status set_cc(std::uint32_t bits) {
    port_.write32(nvme::reg::cc, bits);
    return {port_.read32(nvme::reg::csts)};
  }
  /// Waits for a state of CSTS; false after five seconds.
  template <class State>
  bool await(State&& state) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (!state(nvme::controller_status{port_.read32(nvme::reg::csts)})) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::yield();
    }
    return true;
  }
  bool enable() {
    configure();
    tail_ = head_ = 0;
    phase_ = 1;
    for (auto& entry : rings_.host_as<nvme::completion_entry>().subspan((32 << 10) / 16, entries)) entry = {};
    set_cc(nvme::configuration::make(12).bits);
    return await([](nvme::controller_status s) { return s.ready(); });
  }

  void submit(const nvme::submission_entry& entry) {
    rings_.host_as<nvme::submission_entry>()[tail_] = entry;
    tail_ = (tail_ + 1) % entries;
    lane::ring(port_.doorbell(nvme::submission_doorbell(0)), tail_);
  }
  std::optional<nvme::completion_entry> await_within(std::chrono::milliseconds limit) {
    nvme::completion_entry& entry = rings_.host_as<nvme::completion_entry>()[(32 << 10) / 16 + head_];
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      const std::uint32_t tail = std::atomic_ref(entry.tail).load(std::memory_order_acquire);
      if (((tail >> 16) & 1U) == phase_) break;
      if (std::chrono::steady_clock::now() > end) return std::nullopt;
      std::this_thread::yield();
    }
    const nvme::completion_entry seen = entry;
    head_ = (head_ + 1) % entries;
    if (head_ == 0) phase_ ^= 1U;
    lane::ring(port_.doorbell(nvme::completion_doorbell(0)), head_);
    return seen;
  }
  /// The answer's status, or an impossible code where none came.
  std::uint32_t run(const nvme::submission_entry& entry) {
    submit(entry);
    const auto seen = await_within(std::chrono::seconds(5));
    return seen ? seen->code().nvme_code() : 0xffff;
  }

 private:
  drive::controller_port& port_;
  memory::buffer rings_;
  bus_address at_;
  std::uint32_t tail_ = 0, head_ = 0, phase_ = 1;
};

}  // namespace sluice::test
