#include "sluice/emulator/sizing.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "sluice/base/bits.h"

namespace sluice::emulator {

namespace {

/// Rounds up; what is above a whole number only by the noise of floating point is that number. At least 1,
/// and at most what the next power of two still fits into 64 bits.
std::uint64_t whole(double number) {
  constexpr double noise = 1e-12;
  constexpr double most = 0x1p62;
  return static_cast<std::uint64_t>(std::clamp(std::ceil(number * (1 - noise)), 1.0, most));
}

void lay_queues(drive_plan& plan, double wanted, const surroundings& around) {
  const double each = std::min(wanted / static_cast<double>(plan.drives), plan.drive_rate);
  // A lane holds its place in a queue from before the drive has its command until after the answer.
  const std::uint64_t held = divide_up(plan.lanes, plan.drives);
  const std::uint64_t by_depth = divide_up(held, around.depth - 1);
  const std::uint64_t by_rate = whole(each / measured_queue_commands_per_s);
  plan.queues = std::min(std::bit_ceil(std::max(by_depth, by_rate)), around.queues);
  // A team takes its places together, so the last one's must fit beside the others'.
  constexpr std::uint64_t team = 32;
  const std::uint64_t in_one = divide_up(held, plan.queues);
  plan.depth = std::min(std::bit_ceil(in_one + (in_one > team ? team : 1)), around.depth);
}

/// Accesses a second that the deepest queues of all drives keep in flight.
double queue_rate(const drive_plan& plan, double latency_us, const surroundings& around) {
  const auto entries = static_cast<double>(around.queues * (around.depth - 1));
  return static_cast<double>(plan.drives) * entries * 1e6 / latency_us;
}

}  // namespace

const char* to_string(bottleneck what) {
  switch (what) {
    case bottleneck::link:
      return "link";
    case bottleneck::drive:
      return "drive";
    case bottleneck::queue_depth:
      return "queue_depth";
    case bottleneck::sms:
      return "sms";
  }
  return "link";
}

const ceiling& drive_plan::limit() const {
  return *std::min_element(ceilings.begin(), ceilings.end(), [](const ceiling& a, const ceiling& b) {
    return a.accesses_per_s < b.accesses_per_s;
  });
}

std::uint64_t commands_in_flight(double accesses_per_s, double latency_us) {
  return whole(accesses_per_s * latency_us / 1e6);
}

double link_rate(double bytes_per_s, std::uint64_t bytes, double write_share) {
  return bytes_per_s / (static_cast<double>(bytes) * std::max(write_share, 1 - write_share));
}

drive_plan plan_drives(const drive_model& model, const workload& wanted, const surroundings& around,
                       std::optional<std::uint64_t> drives) {
  drive_plan plan;
  plan.drive_rate = model.mixed_rate(wanted.bytes, wanted.write_share);
  plan.queue_depth = commands_in_flight(wanted.accesses_per_s, model.latency_us);
  plan.lanes = commands_in_flight(wanted.accesses_per_s, model.latency_us + around.lanes_us);
  plan.drives = drives.value_or(whole(wanted.accesses_per_s / plan.drive_rate));
  plan.in_flight = divide_up(plan.queue_depth, plan.drives);
  lay_queues(plan, wanted.accesses_per_s, around);
  plan.ceilings = {{{bottleneck::link, link_rate(around.link_bytes_per_s, wanted.bytes, wanted.write_share)},
                    {bottleneck::drive, static_cast<double>(plan.drives) * plan.drive_rate},
                    {bottleneck::queue_depth, queue_rate(plan, model.latency_us, around)},
                    {bottleneck::sms, around.gpu_commands_per_s}}};
  plan.accesses_per_s = std::min(wanted.accesses_per_s, plan.limit().accesses_per_s);
  if (model.dollars_per_gb) plan.gain = around.dram_dollars_per_gb / *model.dollars_per_gb;
  return plan;
}

}  // namespace sluice::emulator
