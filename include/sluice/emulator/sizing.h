// How many drives and queues a rate of accesses takes, what limits it, and what it costs: arithmetic only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "sluice/emulator/drive_model.h"

namespace sluice::emulator {

/// What kernels read from pinned host memory over PCIe 5.0 x16, bytes/s: one H200, 2026-12-01.
inline constexpr double measured_link_bytes_per_s = 51.4e9;
/// Commands a second that an H200's 132 SMs put on 1024 queues of GPU-resident controllers, 512 B each:
/// the same GPU and day.
inline constexpr double measured_gpu_commands_per_s = 1339e6;
/// What lanes add to a drive's latency, µs: from the first word of a submission to the doorbell, and from the
/// answer to its lane, in whole warps on drives that are emulated there: the same GPU and day.
inline constexpr double measured_lanes_us = 40;
/// The share of one of those queues.
inline constexpr double measured_queue_commands_per_s = measured_gpu_commands_per_s / 1024;

/// What is wanted of the drives.
struct workload {
  double accesses_per_s = 0;  ///< each becomes one command
  std::uint64_t bytes = 512;  ///< of an access
  double write_share = 0;     ///< 0 to 1
};

/// What lies around the drives.
struct surroundings {
  double link_bytes_per_s = measured_link_bytes_per_s;  ///< of the GPU's link, each way
  double gpu_commands_per_s = measured_gpu_commands_per_s;
  double lanes_us = measured_lanes_us;  ///< that lanes add to a drive's latency
  std::uint64_t queues = 128;           ///< that a drive grants
  std::uint64_t depth = 1024;           ///< entries of a queue at most, a power of two
  double dram_dollars_per_gb = emulator::dram_dollars_per_gb;
};

enum class bottleneck : std::uint8_t { link, drive, queue_depth, sms };
/// "link", "drive", "queue_depth", "sms".
const char* to_string(bottleneck what);

/// Accesses a second beyond which something does not go.
struct ceiling {
  bottleneck what;
  double accesses_per_s;
};

struct drive_plan {
  double drive_rate = 0;          ///< accesses/s of one drive
  std::uint64_t queue_depth = 0;  ///< commands in flight on all drives that keep the rate up
  std::uint64_t lanes = 0;  ///< with a command each: those, and as many as are before or behind the drives
  std::uint64_t drives = 0;
  std::uint64_t in_flight = 0;  ///< commands on one drive
  std::uint64_t queues = 0;     ///< of one drive
  std::uint64_t depth = 0;      ///< entries of a queue
  std::array<ceiling, 4> ceilings{};
  double accesses_per_s = 0;   ///< that are reached: what is wanted, or the lowest ceiling
  std::optional<double> gain;  ///< DRAM's price a GB by the drive's

  /// The lowest ceiling.
  const ceiling& limit() const;
};

/// Little's law: how many commands are in flight where `accesses_per_s` take `latency_us` each, rounded up.
std::uint64_t commands_in_flight(double accesses_per_s, double latency_us);

/// Accesses a second that fill a link of `bytes_per_s` each way; the busier way counts.
double link_rate(double bytes_per_s, std::uint64_t bytes, double write_share);

/// Sizes for `wanted`: as many drives as its rate takes, or the given number. Queues are a power of two, as
/// many as hold the lanes' commands (a queue of n entries holds n - 1) and keep each queue's rate at what was
/// measured, or all that a drive grants.
drive_plan plan_drives(const drive_model& model, const workload& wanted, const surroundings& around,
                       std::optional<std::uint64_t> drives = {});

}  // namespace sluice::emulator
