// Blocking reads and writes of a drive by a host thread, over the same queues that lanes use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "sluice/queue/queue_set.h"

namespace sluice::queue {

/// For imports, manifests and tests: moves whole logical blocks through a bounce buffer, several commands at
/// a time. Threads: calls are serialised.
class host_queue {
 public:
  explicit host_queue(drive::drive& on);
  host_queue(const host_queue&) = delete;
  host_queue& operator=(const host_queue&) = delete;
  ~host_queue();

  /// Reads or writes `bytes` (a multiple of the block size) from byte `offset` (likewise) of the drive.
  /// Throws error{io_failure} naming drive, LBA and status; error{bad_input} beyond the end or off a block.
  void read(std::uint64_t offset, std::span<std::byte> bytes);
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Makes all finished writes last.
  void flush();
  std::uint64_t issued() const { return queues_.issued(); }
  drive::drive& owner() const { return drive_; }

 private:
  /// Where a command reports: 1 for ok, 2 for not.
  struct cell {
    std::uint64_t word = 0;
    std::uint64_t detail = 0;
  };

  void check(std::uint64_t offset, std::size_t bytes) const;
  void transfer(nvme::opcode op, std::uint64_t offset, std::size_t bytes);
  void run(std::span<const io_request> requests);
  status run_once(std::span<const io_request> requests, std::size_t& failed);
  void await(cell& result, io_ticket ticket) const;
  void wait_until_open() const;

  drive::drive& drive_;
  std::uint32_t command_bytes_;
  memory::buffer bounce_;
  prp_table prps_;
  queue_set queues_;
  std::mutex mutex_;
};

}  // namespace sluice::queue
