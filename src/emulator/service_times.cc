#include "emulator/service_times.h"

namespace sluice::emulator {

namespace {

constexpr double ticks_a_second = 1e9 * (1U << tick_shift);

std::uint64_t ticks(double commands_a_second) {
  return static_cast<std::uint64_t>(std::llround(ticks_a_second / commands_a_second));
}

service_times::one_way times_of(const drive_model& model, direction way, std::uint64_t overhead_ns) {
  service_times::one_way times;
  for (std::uint32_t i = 0; i < service_times::classes; ++i)
    times.by_sectors[i] = ticks(model.rate(way, std::uint64_t{i + 1} * service_times::sector_bytes));
  const transfer_rates& rates = way == direction::read ? model.read : model.write;
  times.a_sector = ticks(rates.bytes_per_s / service_times::sector_bytes);
  const auto wanted = static_cast<std::uint64_t>(model.latency_us * 1e3);
  times.latency_ns = wanted - std::min(wanted, overhead_ns);
  return times;
}

}  // namespace

service_times service_times_of(const drive_model& model, std::uint64_t overhead_ns, std::uint64_t jitter_ns) {
  return {.any = true,
          .read = times_of(model, direction::read, overhead_ns),
          .write = times_of(model, direction::write, overhead_ns),
          .jitter_ns = jitter_ns};
}

}  // namespace sluice::emulator
