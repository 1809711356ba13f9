// Admin commands: opcodes, and entries ready to put on an admin queue (NVMe Base 2.0, section 5).
#pragma once

#include <cstdint>

#include "sluice/base/types.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/features.h"
#include "sluice/nvme/identify.h"
#include "sluice/nvme/log_pages.h"

namespace sluice::nvme {

/// NVMe Base 2.0, section 5, figure 138.
enum class admin_opcode : std::uint8_t {
  delete_submission_queue = 0x00,
  create_submission_queue = 0x01,
  get_log_page = 0x02,
  delete_completion_queue = 0x04,
  create_completion_queue = 0x05,
  identify = 0x06,
  abort = 0x08,
  set_features = 0x09,
  get_features = 0x0a,
  async_event_request = 0x0c,
};

/// "Identify", "Create I/O Submission Queue", ...: the specification's name.
constexpr const char* name_of(admin_opcode op) {
  switch (op) {
    case admin_opcode::delete_submission_queue:
      return "Delete I/O Submission Queue";
    case admin_opcode::create_submission_queue:
      return "Create I/O Submission Queue";
    case admin_opcode::get_log_page:
      return "Get Log Page";
    case admin_opcode::delete_completion_queue:
      return "Delete I/O Completion Queue";
    case admin_opcode::create_completion_queue:
      return "Create I/O Completion Queue";
    case admin_opcode::identify:
      return "Identify";
    case admin_opcode::abort:
      return "Abort";
    case admin_opcode::set_features:
      return "Set Features";
    case admin_opcode::get_features:
      return "Get Features";
    case admin_opcode::async_event_request:
      return "Asynchronous Event Request";
  }
  return "admin command";
}

inline constexpr std::uint32_t all_namespaces = 0xffffffff;
inline constexpr std::uint32_t queue_contiguous = 1U << 0;  ///< CDW11 PC of the create commands

/// The command identifier is left 0: whoever submits gives it one with with_id().
constexpr submission_entry admin_command(admin_opcode op, std::uint32_t nsid, bus_address data,
                                         std::uint32_t cdw10, std::uint32_t cdw11) {
  return {static_cast<std::uint32_t>(op), nsid, 0, 0, 0, data.value, 0, cdw10, cdw11, 0, 0, 0, 0};
}

constexpr submission_entry with_id(submission_entry entry, std::uint16_t id) {
  entry.cdw0 = (entry.cdw0 & 0xffffU) | std::uint32_t{id} << 16;
  return entry;
}

/// 5.4. `entries` of 16 bytes at `ring`; no interrupt.
constexpr submission_entry create_completion_queue(std::uint16_t queue, std::uint32_t entries,
                                                   bus_address ring) {
  return admin_command(admin_opcode::create_completion_queue, 0, ring, queue | (entries - 1) << 16,
                       queue_contiguous);
}
/// 5.5. `entries` of 64 bytes at `ring`, completing to `completion_queue`.
constexpr submission_entry create_submission_queue(std::uint16_t queue, std::uint32_t entries,
                                                   bus_address ring, std::uint16_t completion_queue) {
  return admin_command(admin_opcode::create_submission_queue, 0, ring, queue | (entries - 1) << 16,
                       queue_contiguous | std::uint32_t{completion_queue} << 16);
}
/// 5.6.
constexpr submission_entry delete_completion_queue(std::uint16_t queue) {
  return admin_command(admin_opcode::delete_completion_queue, 0, {}, queue, 0);
}
/// 5.7.
constexpr submission_entry delete_submission_queue(std::uint16_t queue) {
  return admin_command(admin_opcode::delete_submission_queue, 0, {}, queue, 0);
}
/// 5.17. 4,096 bytes arrive at `data`.
constexpr submission_entry identify(identify_what what, std::uint32_t nsid, bus_address data) {
  return admin_command(admin_opcode::identify, nsid, data, static_cast<std::uint32_t>(what), 0);
}
/// 5.27 and 5.15.
constexpr submission_entry set_features(feature which, std::uint32_t value) {
  return admin_command(admin_opcode::set_features, 0, {}, static_cast<std::uint32_t>(which), value);
}
constexpr submission_entry get_features(feature which, feature_select select = feature_select::current) {
  return admin_command(admin_opcode::get_features, 0, {},
                       static_cast<std::uint32_t>(which) | static_cast<std::uint32_t>(select) << 8, 0);
}
/// 5.16. `bytes`, a multiple of 4, arrive at `data`; reading a page clears its event unless `retain`.
constexpr submission_entry get_log_page(log_page which, std::uint32_t bytes, bus_address data,
                                        bool retain = false) {
  const std::uint32_t dwords = bytes / 4 - 1;
  return admin_command(
      admin_opcode::get_log_page, all_namespaces, data,
      static_cast<std::uint32_t>(which) | (retain ? 1U << 15 : 0U) | (dwords & 0xffffU) << 16, dwords >> 16);
}
/// 5.1. DW0 bit 0 of the answer is clear where the command was aborted.
constexpr submission_entry abort_command(std::uint16_t queue, std::uint16_t command) {
  return admin_command(admin_opcode::abort, 0, {}, queue | std::uint32_t{command} << 16, 0);
}
/// 5.2.
constexpr submission_entry async_event_request() {
  return admin_command(admin_opcode::async_event_request, 0, {}, 0, 0);
}

}  // namespace sluice::nvme
