// Log pages: what a controller remembers of errors and of its health (NVMe Base 2.0, section 5.16.1).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::nvme {

enum class log_page : std::uint8_t {
  supported = 0x00,
  error_information = 0x01,
  health = 0x02,
  firmware_slot = 0x03
};

/// A 128-bit little-endian count.
struct count128 {
  std::uint64_t low;
  std::uint64_t high;
};

/// Error Information, 5.16.1.2, figure 206: one of up to ELPE + 1 entries, newest first.
struct error_information_entry {
  std::uint64_t error_count;  ///< from 1, unique over the life of the controller; 0 says the entry is empty
  std::uint16_t submission_queue;
  std::uint16_t command;
  std::uint16_t status_field;        ///< status in 15:1, phase in 0
  std::uint16_t parameter_location;  ///< byte in 7:0, bit in 10:8; FFFFh where no one parameter is at fault
  std::uint64_t block;               ///< first LBA that met the error
  std::uint32_t nsid;
  std::uint8_t vendor_page;
  std::uint8_t transport;
  std::uint8_t reserved30[2];
  std::uint64_t command_specific;
  std::uint16_t transport_specific;
  std::uint8_t reserved42[22];
};
static_assert(sizeof(error_information_entry) == 64);
static_assert(offsetof(error_information_entry, block) == 16);
static_assert(offsetof(error_information_entry, command_specific) == 32);

/// SMART / Health Information, 5.16.1.3, figure 207.
struct health_log {
  std::uint8_t critical_warning;
  std::uint8_t temperature[2];  ///< kelvin, little-endian
  std::uint8_t available_spare;
  std::uint8_t spare_threshold;
  std::uint8_t percentage_used;
  std::uint8_t endurance_summary;
  std::uint8_t reserved7[25];
  count128 data_units_read;  ///< thousands of 512-byte units, rounded up
  count128 data_units_written;
  count128 host_reads;
  count128 host_writes;
  count128 busy_minutes;
  count128 power_cycles;
  count128 power_on_hours;
  count128 unsafe_shutdowns;
  count128 media_errors;
  count128 error_log_entries;
  std::uint32_t warning_minutes;
  std::uint32_t critical_minutes;
  std::uint16_t sensors[8];
  std::uint32_t thermal_counts[4];
  std::uint8_t reserved232[280];
};
static_assert(sizeof(health_log) == 512);
static_assert(offsetof(health_log, data_units_read) == 32);
static_assert(offsetof(health_log, media_errors) == 160);
static_assert(offsetof(health_log, warning_minutes) == 192);
static_assert(offsetof(health_log, thermal_counts) == 216);

}  // namespace sluice::nvme
