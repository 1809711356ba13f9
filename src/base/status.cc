#include "sluice/base/status.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "sluice/base/error.h"

namespace sluice {

namespace {

struct nvme_name {
  std::uint32_t code;  ///< status code type in 10:8, status code in 7:0
  const char* name;
};

// NVMe Base 2.0, 4.6.1.2, and NVM Command Set 1.0, 4.1.1; sorted by code. sluice/nvme/status_codes.h has the
// constants.
constexpr nvme_name nvme_names[] = {
    {0x001, "Invalid Command Opcode"},
    {0x002, "Invalid Field in Command"},
    {0x003, "Command ID Conflict"},
    {0x004, "Data Transfer Error"},
    {0x005, "Commands Aborted due to Power Loss Notification"},
    {0x006, "Internal Error"},
    {0x007, "Command Abort Requested"},
    {0x008, "Command Aborted due to SQ Deletion"},
    {0x009, "Command Aborted due to Failed Fused Command"},
    {0x00a, "Command Aborted due to Missing Fused Command"},
    {0x00b, "Invalid Namespace or Format"},
    {0x00c, "Command Sequence Error"},
    {0x00d, "Invalid SGL Segment Descriptor"},
    {0x00e, "Invalid Number of SGL Descriptors"},
    {0x00f, "Data SGL Length Invalid"},
    {0x010, "Metadata SGL Length Invalid"},
    {0x011, "SGL Descriptor Type Invalid"},
    {0x012, "Invalid Use of Controller Memory Buffer"},
    {0x013, "PRP Offset Invalid"},
    {0x014, "Atomic Write Unit Exceeded"},
    {0x015, "Operation Denied"},
    {0x016, "SGL Offset Invalid"},
    {0x018, "Host Identifier Inconsistent Format"},
    {0x019, "Keep Alive Timer Expired"},
    {0x01a, "Keep Alive Timeout Invalid"},
    {0x01b, "Command Aborted due to Preempt and Abort"},
    {0x01c, "Sanitize Failed"},
    {0x01d, "Sanitize In Progress"},
    {0x01e, "SGL Data Block Granularity Invalid"},
    {0x01f, "Command Not Supported for Queue in CMB"},
    {0x020, "Namespace is Write Protected"},
    {0x021, "Command Interrupted"},
    {0x022, "Transient Transport Error"},
    {0x023, "Command Prohibited by Command and Feature Lockdown"},
    {0x024, "Admin Command Media Not Ready"},
    {0x080, "LBA Out of Range"},
    {0x081, "Capacity Exceeded"},
    {0x082, "Namespace Not Ready"},
    {0x083, "Reservation Conflict"},
    {0x084, "Format In Progress"},
    {0x085, "Invalid Value Size"},
    {0x086, "Invalid Key Size"},
    {0x087, "KV Key Does Not Exist"},
    {0x088, "Unrecovered Error"},
    {0x089, "Key Exists"},
    {0x100, "Completion Queue Invalid"},
    {0x101, "Invalid Queue Identifier"},
    {0x102, "Invalid Queue Size"},
    {0x103, "Abort Command Limit Exceeded"},
    {0x105, "Asynchronous Event Request Limit Exceeded"},
    {0x106, "Invalid Firmware Slot"},
    {0x107, "Invalid Firmware Image"},
    {0x108, "Invalid Interrupt Vector"},
    {0x109, "Invalid Log Page"},
    {0x10a, "Invalid Format"},
    {0x10b, "Firmware Activation Requires Conventional Reset"},
    {0x10c, "Invalid Queue Deletion"},
    {0x10d, "Feature Identifier Not Saveable"},
    {0x10e, "Feature Not Changeable"},
    {0x10f, "Feature Not Namespace Specific"},
    {0x110, "Firmware Activation Requires NVM Subsystem Reset"},
    {0x111, "Firmware Activation Requires Controller Level Reset"},
    {0x112, "Firmware Activation Requires Maximum Time Violation"},
    {0x113, "Firmware Activation Prohibited"},
    {0x114, "Overlapping Range"},
    {0x115, "Namespace Insufficient Capacity"},
    {0x116, "Namespace Identifier Unavailable"},
    {0x118, "Namespace Already Attached"},
    {0x119, "Namespace Is Private"},
    {0x11a, "Namespace Not Attached"},
    {0x11b, "Thin Provisioning Not Supported"},
    {0x11c, "Controller List Invalid"},
    {0x11d, "Device Self-test In Progress"},
    {0x11e, "Boot Partition Write Prohibited"},
    {0x11f, "Invalid Controller Identifier"},
    {0x120, "Invalid Secondary Controller State"},
    {0x121, "Invalid Number of Controller Resources"},
    {0x122, "Invalid Resource Identifier"},
    {0x123, "Sanitize Prohibited While Persistent Memory Region is Enabled"},
    {0x124, "ANA Group Identifier Invalid"},
    {0x125, "ANA Attach Failed"},
    {0x126, "Insufficient Capacity"},
    {0x127, "Namespace Attachment Limit Exceeded"},
    {0x128, "Prohibition of Command Execution Not Supported"},
    {0x129, "I/O Command Set Not Supported"},
    {0x12a, "I/O Command Set Not Enabled"},
    {0x12b, "I/O Command Set Combination Rejected"},
    {0x12c, "Invalid I/O Command Set"},
    {0x12d, "Identifier Unavailable"},
    {0x180, "Conflicting Attributes"},
    {0x181, "Invalid Protection Information"},
    {0x182, "Attempted Write to Read Only Range"},
    {0x183, "Command Size Limit Exceeded"},
    {0x1b8, "Zoned Boundary Error"},
    {0x1b9, "Zone Is Full"},
    {0x1ba, "Zone Is Read Only"},
    {0x1bb, "Zone Is Offline"},
    {0x1bc, "Zone Invalid Write"},
    {0x1bd, "Too Many Active Zones"},
    {0x1be, "Too Many Open Zones"},
    {0x1bf, "Invalid Zone State Transition"},
    {0x280, "Write Fault"},
    {0x281, "Unrecovered Read Error"},
    {0x282, "End-to-end Guard Check Error"},
    {0x283, "End-to-end Application Tag Check Error"},
    {0x284, "End-to-end Reference Tag Check Error"},
    {0x285, "Compare Failure"},
    {0x286, "Access Denied"},
    {0x287, "Deallocated or Unwritten Logical Block"},
    {0x288, "End-to-end Storage Tag Check Error"},
    {0x300, "Internal Path Error"},
    {0x301, "Asymmetric Access Persistent Loss"},
    {0x302, "Asymmetric Access Inaccessible"},
    {0x303, "Asymmetric Access Transition"},
    {0x360, "Controller Pathing Error"},
    {0x370, "Host Pathing Error"},
    {0x371, "Command Aborted By Host"},
};

const char* name_of(std::uint32_t code) {
  const auto* at =
      std::lower_bound(std::begin(nvme_names), std::end(nvme_names), code,
                       [](const nvme_name& entry, std::uint32_t wanted) { return entry.code < wanted; });
  if (at != std::end(nvme_names) && at->code == code) return at->name;
  return (code >> 8) == 7 ? "Vendor Specific" : "status";
}

}  // namespace

std::string describe(status code) {
  if (code == status::ok) return "success";
  if (code == status::timed_out) return "timed out";
  if (code == status::aborted) return "aborted with its queue";
  if (code == status::out_of_range) return "out of range";
  if (code == status::no_frame) return "no frame free";
  if (code == status::read_only) return "read only";
  if (code == status::queue_lost) return "no open queue left";
  if (code == status::bad_checksum) return "checksum mismatch";
  if (code == status::cancelled) return "cancelled";
  char text[96];
  if (code.is_nvme())
    std::snprintf(text, sizeof text, "%s (0x%03x)", name_of(code.nvme_code()), code.nvme_code());
  else
    std::snprintf(text, sizeof text, "status 0x%05x", code.bits());
  return text;
}

}  // namespace sluice
