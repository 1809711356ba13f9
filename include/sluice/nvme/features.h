// Features: what Get Features and Set Features read and change (NVMe Base 2.0, section 5.27.1).
#pragma once

#include <cstdint>

namespace sluice::nvme {

enum class feature : std::uint8_t {
  arbitration = 0x01,                ///< 5.27.1.1
  power_management = 0x02,           ///< 5.27.1.2
  temperature_threshold = 0x04,      ///< 5.27.1.3
  error_recovery = 0x05,             ///< NVM Command Set 1.0, 4.1.3.2
  volatile_write_cache = 0x06,       ///< 5.27.1.4
  number_of_queues = 0x07,           ///< 5.27.1.5
  interrupt_coalescing = 0x08,       ///< 5.27.1.6
  interrupt_vector = 0x09,           ///< 5.27.1.7
  write_atomicity = 0x0a,            ///< NVM Command Set 1.0, 4.1.3.3
  async_event_configuration = 0x0b,  ///< 5.27.1.8
};

/// CDW10 of Get Features, SEL (5.15.1).
enum class feature_select : std::uint8_t { current = 0, initial = 1, saved = 2, supported = 3 };

/// Number of Queues, CDW11 of the request and DW0 of the answer: both counts 0's based, submission 15:0,
/// completion 31:16.
constexpr std::uint32_t queue_counts(std::uint32_t submission, std::uint32_t completion) {
  return (submission - 1) | (completion - 1) << 16;
}
constexpr std::uint32_t submission_queues(std::uint32_t dword) { return (dword & 0xffffU) + 1; }
constexpr std::uint32_t completion_queues(std::uint32_t dword) { return (dword >> 16) + 1; }

}  // namespace sluice::nvme
