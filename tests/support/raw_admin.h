// A controller's registers and admin queue, handled by hand: for what a well-behaved driver never does.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "drive/controller_port.h"
#include "sluice/base/types.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/registers.h"
#include "tests/support/ring_pair.h"

namespace sluice::test {

class raw_admin {
 public:
  static constexpr std::uint32_t entries = 16;

  explicit raw_admin(drive::controller_port& port)
      : port_(port), memory_(backend::cpu, memory::place::host, 128 << 10), at_(port.map(memory_.view())) {}

  /// Disables the controller before the memory of its rings goes.
  ~raw_admin() {
    set_cc(0);
    await([](nvme::controller_status s) { return !s.ready(); });
    port_.unmap(memory_.view());
  }
  raw_admin(const raw_admin&) = delete;
  raw_admin& operator=(const raw_admin&) = delete;

  drive::controller_port& port() { return port_; }
  bus_address address() const { return at_; }
  /// Page-aligned memory of the raw driver's own, behind the rings.
  bus_address data() const { return at_ + (64 << 10); }
  std::byte* data_bytes() { return memory_.host() + (64 << 10); }

  void configure() {
    port_.write32(nvme::reg::aqa, nvme::admin_queue_attributes::make(entries, entries).bits);
    port_.write64(nvme::reg::asq, at_.value);
    port_.write64(nvme::reg::acq, at_.value + completion_at);
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
    admin_ = rings();
    for (std::uint32_t at = 0; at < entries; ++at) admin_.completion(at) = {};
    set_cc(nvme::configuration::make(12).bits);
    return await([](nvme::controller_status s) { return s.ready(); });
  }

  ring_pair& queue() { return admin_; }
  void submit(const nvme::submission_entry& entry) { admin_.submit(entry); }
  std::optional<nvme::completion_entry> await_within(std::chrono::milliseconds limit) {
    return admin_.await_within(limit);
  }
  /// The answer's status, or an impossible code where none came.
  std::uint32_t run(const nvme::submission_entry& entry) {
    submit(entry);
    const auto seen = await_within(std::chrono::seconds(5));
    return seen ? seen->code().nvme_code() : 0xffff;
  }

 private:
  static constexpr std::size_t completion_at = 32 << 10;
  ring_pair rings() {
    return {reinterpret_cast<nvme::submission_entry*>(memory_.host()),
            reinterpret_cast<nvme::completion_entry*>(memory_.host() + completion_at), entries,
            port_.doorbell(nvme::submission_doorbell(0)), port_.doorbell(nvme::completion_doorbell(0))};
  }

  drive::controller_port& port_;
  memory::buffer memory_;
  bus_address at_;
  ring_pair admin_ = rings();
};

}  // namespace sluice::test
