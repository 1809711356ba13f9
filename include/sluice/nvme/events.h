// Asynchronous events: what a controller tells unasked (NVMe Base 2.0, section 5.2.1).
#pragma once

#include <cstdint>

#include "sluice/nvme/log_pages.h"

namespace sluice::nvme {

enum class event_type : std::uint8_t { error = 0, health = 1, notice = 2, io_command_set = 6, vendor = 7 };

/// Error status events, figure 146.
enum class error_event : std::uint8_t {
  invalid_doorbell_register = 0,
  invalid_doorbell_value = 1,
  diagnostic_failure = 2,
  persistent_internal_error = 3,
  transient_internal_error = 4,
  firmware_load_error = 5,
};

/// DW0 of an Asynchronous Event Request's completion, figure 145.
struct async_event {
  std::uint32_t bits = 0;

  constexpr event_type type() const { return static_cast<event_type>(bits & 7U); }
  constexpr std::uint8_t information() const { return static_cast<std::uint8_t>((bits >> 8) & 0xffU); }
  constexpr log_page page() const { return static_cast<log_page>((bits >> 16) & 0xffU); }

  static constexpr async_event make(error_event what) {
    return {static_cast<std::uint32_t>(event_type::error) | static_cast<std::uint32_t>(what) << 8 |
            static_cast<std::uint32_t>(log_page::error_information) << 16};
  }
  friend constexpr bool operator==(async_event, async_event) = default;
};

}  // namespace sluice::nvme
