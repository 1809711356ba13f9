#include "tools/sluice/plan_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/base/types.h"
#include "tools/sluice/io_bench.h"

namespace sluice::tool {

namespace {

constexpr std::uint64_t most_drives = 28;  // one hardware queue of CUDA's 32 for each
constexpr std::uint64_t most_processors = 32;
/// Of all drives together: host memory that a GPU's address translation reaches at full speed.
constexpr std::uint64_t media_bytes = GiB;

/// A drive of the plan. The model's figures are all said: they may be the user's.
std::string uri_of(const emulator::drive_model& model, std::uint64_t drives, std::uint64_t queues) {
  const std::uint64_t size = std::bit_floor(media_bytes / drives);
  const std::uint64_t processors = std::clamp<std::uint64_t>(most_processors / drives, 1, 8);
  return fmt::format(
      "emu:p5800x?media=host&size={}&sms={}&queues={}&latency_us={}&read_iops_512={}&read_iops_4k={}"
      "&read_bytes_s={}&write_iops_512={}&write_iops_4k={}&write_bytes_s={}",
      size, processors, queues + 2, model.latency_us, model.read.commands_512, model.read.commands_4k,
      model.read.bytes_per_s, model.write.commands_512, model.write.commands_4k, model.write.bytes_per_s);
}

/// Of each drive: what it moves in half a second, so that checking every byte takes no longer.
std::uint64_t span_of(const emulator::drive_plan& plan, std::uint64_t block_bytes) {
  const double share = plan.accesses_per_s / static_cast<double>(plan.drives) / 2;
  const std::uint64_t most = media_bytes / block_bytes;
  const double blocks = std::clamp(share, 64.0, static_cast<double>(most));
  return static_cast<std::uint64_t>(blocks) * block_bytes;
}

}  // namespace

json verified_plan::as_json() const {
  return {{"promised", promised},      {"measured", measured},      {"ratio", ratio()}, {"lanes", lanes},
          {"commands_issued", issued}, {"commands_served", served}, {"drive", drives},  {"machine", machine}};
}

std::string verified_plan::as_text() const {
  return fmt::format(
      "  verified     {} accesses/s measured, {:.3f} of the {} promised: {} lanes on {}, {} commands issued, "
      "{} "
      "served\n",
      format_rate(measured), ratio(), format_rate(promised), format_grouped(lanes), machine, issued, served);
}

verified_plan verify_plan(lane::machine& on, const planned_drive& row, const emulator::workload& wanted,
                          double seconds) {
  const emulator::drive_plan& plan = row.plan;
  if (plan.drives > most_drives)
    throw error(error_kind::unavailable,
                fmt::format("the plan takes {} drives, and {} can be emulated side by side", plan.drives,
                            most_drives),
                fmt::format("verify a part of it: --drives {}", most_drives));
  const std::vector<std::string> uris(plan.drives, uri_of(row.model, plan.drives, plan.queues));
  storage drives = storage::raw(uris, {.mode = drive::access::write, .machine = &on});
  const io_bench_options options{.block_bytes = static_cast<std::uint32_t>(wanted.bytes),
                                 .queues = static_cast<std::uint32_t>(plan.queues),
                                 .depth = static_cast<std::uint32_t>(plan.depth),
                                 .lanes = plan.lanes,
                                 .write_share = wanted.write_share,
                                 .seconds = seconds,
                                 .span_bytes = span_of(plan, wanted.bytes),
                                 .fill = true};
  need_possible(on, drives, options);
  const io_bench_result got = run_io_bench(on, drives, options, nullptr, context::stop_asked);
  context::stop_if_asked();
  if (!got.verified() || got.issued != got.served)
    throw error(error_kind::wrong_answer, "the emulated drives lost commands, or gave back other bytes");
  return {.promised = plan.accesses_per_s,
          .measured = got.iops(),
          .lanes = got.lanes,
          .issued = got.issued,
          .served = got.served,
          .drives = uris.front(),
          .machine = on.name()};
}

}  // namespace sluice::tool
