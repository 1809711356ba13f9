// The host's end of one I/O queue of a drive.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>

#include "sluice/base/bits.h"
#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "tests/support/ring_pair.h"

namespace sluice::test {

/// The rings' memory and the queue on the drive, made and let go of around the rings themselves.
class queue_on_drive {
 public:
  queue_on_drive(drive::drive& on, std::uint32_t depth)
      : drive_(on),
        completion_at_(align_up(depth * sizeof(nvme::submission_entry), page)),
        rings_(backend::cpu, on.reachable_place(backend::cpu),
               completion_at_ + align_up(depth * sizeof(nvme::completion_entry), page)),
        at_(on.map(rings_.view())),
        grant_(on.create_queue({at_, at_ + completion_at_, depth}, backend::cpu)) {}
  ~queue_on_drive() {
    if (open_) close();
  }
  queue_on_drive(const queue_on_drive&) = delete;
  queue_on_drive& operator=(const queue_on_drive&) = delete;

  /// Deletes the queue on the drive and lets go of its memory.
  void close() {
    open_ = false;
    drive_.delete_queue(grant_.id);
    drive_.unmap(rings_.view());
  }

  std::uint16_t id() const { return grant_.id; }
  const drive::queue_grant& grant() const { return grant_; }

 protected:
  nvme::submission_entry* submissions() const {
    return reinterpret_cast<nvme::submission_entry*>(rings_.host());
  }
  nvme::completion_entry* completions() const {
    return reinterpret_cast<nvme::completion_entry*>(rings_.host() + completion_at_);
  }

 private:
  static constexpr std::size_t page = 4096;

  drive::drive& drive_;
  std::size_t completion_at_;
  memory::buffer rings_;
  bus_address at_;
  drive::queue_grant grant_;
  bool open_ = true;
};

class host_queue : public queue_on_drive, public ring_pair {
 public:
  host_queue(drive::drive& on, std::uint32_t depth)
      : queue_on_drive(on, depth),
        ring_pair(submissions(), completions(), depth, grant().submission_tail, grant().completion_head) {}

  /// Waits for the next completion and frees its entry. Throws after ten seconds.
  nvme::completion_entry await() {
    const auto seen = await_within(std::chrono::seconds(10));
    if (!seen) throw std::runtime_error("no completion came within ten seconds");
    return *seen;
  }
  nvme::completion_entry run(const nvme::submission_entry& entry) {
    submit(entry);
    return await();
  }
};

}  // namespace sluice::test
