// What travels on a queue: the 64-byte submission entry and the 16-byte completion entry, word for word as
// specified.
#pragma once

#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/base/types.h"

namespace sluice::nvme {

/// NVM Command Set 1.0, section 3: opcodes of I/O queues.
enum class opcode : std::uint8_t {
  flush = 0x00,
  write = 0x01,
  read = 0x02,
  write_uncorrectable = 0x04,
  compare = 0x05,
  write_zeroes = 0x08,
  dataset_management = 0x09,
};

/// NVMe Base 2.0, section 4.2, figure 86: Common Command Format. All 16 dwords are written by whoever
/// submits.
struct alignas(64) submission_entry {
  std::uint32_t cdw0;  ///< opcode 7:0, FUSE 9:8, PSDT 15:14, command identifier 31:16
  std::uint32_t nsid;  ///< namespace, from 1
  std::uint32_t cdw2;
  std::uint32_t cdw3;
  std::uint64_t metadata;  ///< MPTR
  std::uint64_t prp1;      ///< DPTR: first PRP entry
  std::uint64_t prp2;      ///< second PRP entry, or the list's address
  std::uint32_t cdw10;
  std::uint32_t cdw11;
  std::uint32_t cdw12;
  std::uint32_t cdw13;
  std::uint32_t cdw14;
  std::uint32_t cdw15;

  constexpr std::uint8_t op() const { return static_cast<std::uint8_t>(cdw0 & 0xffU); }
  constexpr std::uint16_t id() const { return static_cast<std::uint16_t>(cdw0 >> 16); }
};
static_assert(sizeof(submission_entry) == 64);

/// NVMe Base 2.0, section 4.6, figure 93: Common Completion Queue Entry.
struct alignas(16) completion_entry {
  std::uint32_t result;  ///< DW0, command specific
  std::uint32_t dw1;
  std::uint32_t sq_head;  ///< DW2: SQ head pointer 15:0, SQ identifier 31:16
  std::uint32_t tail;     ///< DW3: command identifier 15:0, phase tag 16, status field 31:17

  constexpr std::uint16_t id() const { return static_cast<std::uint16_t>(tail & 0xffffU); }
  constexpr std::uint32_t phase() const { return (tail >> 16) & 1U; }
  constexpr status code() const { return status::from_nvme(tail >> 17); }
  static constexpr std::uint32_t make_tail(std::uint16_t id, std::uint32_t phase, status code) {
    return id | (phase << 16) | (code.bits() << 17);
  }
};
static_assert(sizeof(completion_entry) == 16);

/// A read, write, compare or write-zeroes of `blocks` logical blocks from `first` (NVM Command
/// Set 1.0, 3.2.4-3.2.8). `id` is the command identifier; blocks is 1 to 65,536.
constexpr submission_entry block_command(opcode op, std::uint16_t id, std::uint32_t nsid, lba first,
                                         std::uint32_t blocks, bus_address prp1, bus_address prp2) {
  return {static_cast<std::uint32_t>(op) | (std::uint32_t{id} << 16),
          nsid,
          0,
          0,
          0,
          prp1.value,
          prp2.value,
          static_cast<std::uint32_t>(first.value),
          static_cast<std::uint32_t>(first.value >> 32),
          blocks - 1,
          0,
          0,
          0};
}

/// A flush of the namespace's volatile write cache (NVM Command Set 1.0, 3.2.2... NVMe Base 2.0, 7.1).
constexpr submission_entry flush_command(std::uint16_t id, std::uint32_t nsid) {
  return {static_cast<std::uint32_t>(opcode::flush) | (std::uint32_t{id} << 16),
          nsid,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0,
          0};
}

}  // namespace sluice::nvme
