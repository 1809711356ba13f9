// The host's side of an emulated drive's residents: starts and stops them, and tells them of queues and
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "controller/queue_server.h"
#include "emulator/resident_words.h"
#include "sluice/lane/launch.h"
#include "sluice/memory/buffer.h"

namespace sluice::emulator {

struct resident_options {
  std::uint32_t processors = 1;  ///< SMs that residents take, 32 of them each; the CPU backend has one in all
  std::uint32_t max_queues = 1024;
  std::uint32_t bell_count = 0;  ///< 2 × (max_queues + 1)
  std::byte* media = nullptr;    ///< as lanes reach it
  drive::fault_plan faults{};
  service_times times{};
  std::uint64_t media_bytes = 0;
  std::uint64_t region_bytes = 0;  ///< media are served a region at a time, a power of two; 0: all at once
};

/// On a GPU they run beside launches of `on`; on the CPU, in a thread of their own, always.
/// Threads: any; tables are changed by one thread at a time.
class residents final : public controller::queue_server, private lane::companion {
 public:
  /// `on`: whose lanes ring; null for CPU lanes. Outlives this.
  residents(lane::machine* on, const resident_options& options);
  ~residents() override;
  residents(const residents&) = delete;
  residents& operator=(const residents&) = delete;

  backend kind() const { return kind_; }
  /// DMA may reach `bytes` at bus address `at`, as soon as this returns. Idempotent for one region. Throws
  /// error{unavailable} where there are too many regions.
  void map(bus_address at, const memory::region& bytes);
  /// After it returns nothing reaches the region.
  void unmap(bus_address at, std::uint64_t bytes);

  bool serves(backend lanes) const override { return lanes == kind_; }
  bool reaches(bus_address at, std::uint64_t bytes) const override;
  void adopt(const controller::queue_in_service& queue) override;
  std::uint64_t retire(std::uint16_t id) override;
  lane::doorbell doorbell(std::uint32_t index) override;
  void set_limits(const controller::limits& bounds) override;
  void report(controller::event_log& to) override;
  controller::served_counts counts() const override;

 private:
  struct mapping {
    reach_extent where;
    friend bool operator==(const mapping& a, const mapping& b) {
      return a.where.begin == b.where.begin && a.where.end == b.where.end;
    }
  };

  std::uint32_t processors() const override { return options_.processors; }
  void begin() override;
  std::uint32_t* stop_word() const override;
  void end() override;

  void start();
  service how() const;
  void clear_shelf(const memory::buffer& shelf, std::uint32_t places) const;
  bool is_here() const { return running_ != nullptr && !running_->finished(); }
  /// Runs `change` while no resident touches anything.
  void while_parked(const std::function<void()>& change);
  void order(std::size_t offset, std::uint32_t value);
  void await_parked(std::uint32_t order) const;
  void write_reach();
  void write_served();
  std::byte* lanes_of(bus_address at, std::uint64_t bytes) const;
  template <class Act>
  void with_kernel(Act&& act) const;

  lane::machine* on_;
  backend kind_;
  std::unique_ptr<lane::machine> aside_;
  resident_options options_;
  std::uint32_t blocks_, warps_;
  resident_job job_{};

  memory::buffer orders_, queues_, counts_, served_, reach_, bells_, clock_, turns_;  // where lanes are
  memory::buffer present_, parked_, trouble_;                                         // where the host polls
  alignas(line_bytes) std::uint32_t sleeper_ = 0;

  mutable std::mutex mutex_;
  std::unique_ptr<lane::running_launch> running_;
  std::uint32_t ordinal_ = 0, park_ = 0, told_ = 0;
  std::vector<mapping> mappings_;     // sorted
  std::vector<reach_extent> merged_;  // their union, as residents know it
  std::size_t written_extents_ = 0;
  std::vector<std::uint16_t> identifiers_;  // of the queues there are, sorted
  std::vector<memory::buffer> late_;        // by identifier: late answers, or the shelf
};

}  // namespace sluice::emulator
