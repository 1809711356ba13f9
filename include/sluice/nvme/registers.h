// The controller's registers: where they lie, and what their bits mean (NVMe Base 2.0, section 3.1.3).
#pragma once

#include <cstdint>

namespace sluice::nvme {

/// Byte offsets from the start of the register space.
namespace reg {
inline constexpr std::uint32_t cap = 0x00;    ///< Controller Capabilities, 8 bytes (3.1.3.1)
inline constexpr std::uint32_t vs = 0x08;     ///< Version (3.1.3.2)
inline constexpr std::uint32_t intms = 0x0c;  ///< Interrupt Mask Set (3.1.3.3)
inline constexpr std::uint32_t intmc = 0x10;  ///< Interrupt Mask Clear (3.1.3.4)
inline constexpr std::uint32_t cc = 0x14;     ///< Controller Configuration (3.1.3.5)
inline constexpr std::uint32_t csts = 0x1c;   ///< Controller Status (3.1.3.6)
inline constexpr std::uint32_t aqa = 0x24;    ///< Admin Queue Attributes (3.1.3.8)
inline constexpr std::uint32_t asq = 0x28;    ///< Admin Submission Queue Base Address, 8 bytes (3.1.3.9)
inline constexpr std::uint32_t acq = 0x30;    ///< Admin Completion Queue Base Address, 8 bytes (3.1.3.10)
inline constexpr std::uint32_t doorbells = 0x1000;  ///< first doorbell (NVMe over PCIe Transport 1.0, 3.1.2)
}  // namespace reg

/// Bits `low` to `high` of `word`.
constexpr std::uint64_t bits_of(std::uint64_t word, unsigned high, unsigned low) {
  return (word >> low) & ((std::uint64_t{2} << (high - low)) - 1);
}

inline constexpr std::uint32_t version_2_0 = 0x00020000;

/// CAP, 3.1.3.1.
struct capabilities {
  std::uint64_t bits = 0;

  constexpr std::uint32_t max_queue_entries() const {
    return static_cast<std::uint32_t>(bits_of(bits, 15, 0)) + 1;
  }
  constexpr bool contiguous_queues() const { return bits_of(bits, 16, 16) != 0; }
  /// Longest wait for CSTS.RDY to follow CC.EN (TO, in units of 500 ms).
  constexpr std::uint32_t timeout_ms() const {
    return static_cast<std::uint32_t>(bits_of(bits, 31, 24)) * 500;
  }
  /// Bytes from one doorbell to the next: 2^(2 + DSTRD).
  constexpr std::uint32_t doorbell_stride() const { return 4U << bits_of(bits, 35, 32); }
  constexpr bool nvm_command_set() const { return bits_of(bits, 37, 37) != 0; }
  constexpr std::uint32_t min_page_shift() const {
    return 12 + static_cast<std::uint32_t>(bits_of(bits, 51, 48));
  }
  constexpr std::uint32_t max_page_shift() const {
    return 12 + static_cast<std::uint32_t>(bits_of(bits, 55, 52));
  }

  static constexpr capabilities make(std::uint32_t entries, std::uint32_t timeout_units, std::uint32_t dstrd,
                                     std::uint32_t mpsmin, std::uint32_t mpsmax) {
    return {(entries - 1ULL) | 1ULL << 16 | std::uint64_t{timeout_units} << 24 | std::uint64_t{dstrd} << 32 |
            1ULL << 37 | std::uint64_t{mpsmin} << 48 | std::uint64_t{mpsmax} << 52};
  }
};

/// CC, 3.1.3.5.
struct configuration {
  std::uint32_t bits = 0;

  constexpr bool enabled() const { return (bits & 1U) != 0; }
  constexpr std::uint32_t command_set() const { return static_cast<std::uint32_t>(bits_of(bits, 6, 4)); }
  constexpr std::uint32_t page_shift() const { return 12 + static_cast<std::uint32_t>(bits_of(bits, 10, 7)); }
  constexpr std::uint32_t arbitration() const { return static_cast<std::uint32_t>(bits_of(bits, 13, 11)); }
  constexpr std::uint32_t shutdown() const { return static_cast<std::uint32_t>(bits_of(bits, 15, 14)); }
  constexpr std::uint32_t submission_entry_shift() const {
    return static_cast<std::uint32_t>(bits_of(bits, 19, 16));
  }
  constexpr std::uint32_t completion_entry_shift() const {
    return static_cast<std::uint32_t>(bits_of(bits, 23, 20));
  }

  static constexpr std::uint32_t normal_shutdown = 1U << 14;

  /// Enabled, NVM command set, round robin, 64-byte and 16-byte entries.
  static constexpr configuration make(std::uint32_t page_shift) {
    return {1U | (page_shift - 12) << 7 | 6U << 16 | 4U << 20};
  }
};

/// CSTS, 3.1.3.6.
struct controller_status {
  std::uint32_t bits = 0;

  static constexpr std::uint32_t ready_bit = 1U << 0;
  static constexpr std::uint32_t fatal_bit = 1U << 1;
  static constexpr std::uint32_t shutdown_occurring = 1U << 2;
  static constexpr std::uint32_t shutdown_complete = 2U << 2;
  static constexpr std::uint32_t shutdown_mask = 3U << 2;

  constexpr bool ready() const { return (bits & ready_bit) != 0; }
  constexpr bool fatal() const { return (bits & fatal_bit) != 0; }
  constexpr bool shut_down() const { return (bits & shutdown_mask) == shutdown_complete; }
};

/// AQA, 3.1.3.8: sizes of the admin queues in entries.
struct admin_queue_attributes {
  std::uint32_t bits = 0;

  constexpr std::uint32_t submission_entries() const {
    return static_cast<std::uint32_t>(bits_of(bits, 11, 0)) + 1;
  }
  constexpr std::uint32_t completion_entries() const {
    return static_cast<std::uint32_t>(bits_of(bits, 27, 16)) + 1;
  }
  static constexpr admin_queue_attributes make(std::uint32_t submission, std::uint32_t completion) {
    return {(submission - 1) | (completion - 1) << 16};
  }
};

/// Which doorbell, counted in strides: submission tail of queue y is 2y, completion head 2y + 1
/// (NVMe over PCIe Transport 1.0, 3.1.2.1 and 3.1.2.2).
constexpr std::uint32_t submission_doorbell(std::uint32_t queue) { return 2 * queue; }
constexpr std::uint32_t completion_doorbell(std::uint32_t queue) { return 2 * queue + 1; }

}  // namespace sluice::nvme
