// `sluice bench cache`: how fast lanes read and write elements through a cache, and whether each was right.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/cache_bench.h"
#include "tools/sluice/cache_choice.h"
#include "tools/sluice/calm_drives.h"
#include "tools/sluice/command.h"
#include "tools/sluice/result_files.h"
#include "tools/sluice/sweep.h"

namespace sluice::tool {

namespace {

/// The run of bytes that is measured: whole pages of the largest size.
struct byte_run {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};

byte_run run_of(const storage& held, const cache_choice& choice) {
  byte_run run{0, held.volume().bytes()};
  if (!choice.dataset.empty()) {
    const drive::dataset found = held.volume().find(choice.dataset);
    run = {found.first_byte, found.bytes};
  }
  if (choice.span_bytes != 0) run.bytes = std::min(run.bytes, choice.span_bytes);
  const std::uint64_t unit = std::max<std::uint64_t>(choice.point.page_bytes, drive::largest_page);
  run.bytes -= run.bytes % unit;
  if (run.bytes == 0)
    throw error(error_kind::bad_input,
                "there are fewer than " + format_bytes(static_cast<double>(unit)) + " to measure",
                "name larger drives, or a larger --span");
  return run;
}

storage open_drives(const cache_choice& choice, const std::vector<std::string>& uris, bool to_write,
                    unsigned controllers, lane::machine& on) {
  const drive::open_options options{.mode = to_write ? drive::access::write : drive::access::read,
                                    .controller_threads = controllers,
                                    .machine = &on};
  return choice.dataset.empty() ? storage::raw(uris, options) : storage::open(uris, options);
}

cache_bench_truth prepare(storage& held, const cache_choice& choice, backend where, const byte_run& run,
                          std::uint32_t element_bytes) {
  progress bar("preparing", run.bytes);
  const bytes_done tell = [&bar](std::uint64_t bytes) {
    context::stop_if_asked();
    bar.add(bytes);
  };
  const bool forgets = all_forget(choice.drives.uris);
  if (!forgets && !choice.destroy && writes(choice) && holds_data(held, run.first, run.bytes))
    throw error(error_kind::bad_input, "--mix would write over what the drive holds",
                "name another drive, or say --destroy to lose what is there",
                {.drive = choice.drives.uris.front()});
  if (forgets || choice.destroy || writes(choice))
    return stamp_elements(held, run.first, run.bytes, element_bytes, tell);
  return copy_elements(held, where, run.first, run.bytes, tell);
}

json row(const cache_bench_point& point, const cache_bench_result& result) {
  const double element =
      point.access == "gather" ? static_cast<double>(point.row_bytes) : point.element_bytes;
  const double rate = result.per_second();
  json io{{"commands_issued", result.issued},  {"commands_served", result.served},
          {"dropped", result.dropped},         {"bytes_needed", result.bytes_needed},
          {"bytes_moved", result.bytes_moved}, {"amplification", result.amplification},
          {"hit_rate", result.hit_rate}};
  return {{"cache", point.cache_bytes},
          {"page", point.page_bytes},
          {"tier", point.tier_bytes},
          {"tier_kind", point.tier_kind},
          {"mode", point.mode},
          {"policy", point.policy},
          {"access", point.access},
          {"state", point.state},
          {"element", point.element_bytes},
          {"row", point.row_bytes},
          {"pattern", point.pattern},
          {"mix", point.write_share},
          {"iops", rate},
          {"bytes_per_s", rate * element},
          {"seconds", result.seconds},
          {"flush_seconds", result.flush_seconds},
          {"accesses", result.accesses},
          {"writes", result.writes},
          {"commands_issued", result.issued},
          {"commands_served", result.served},
          {"dropped", result.dropped},
          {"mismatches", result.mismatches},
          {"hit_rate", result.hit_rate},
          {"tier_loads", result.tier_loads},
          {"verified", true},
          {"latency_us",
           {{"p50", result.latency.p50},
            {"p99", result.latency.p99},
            {"p999", result.latency.p999},
            {"max", result.latency.max}}},
          {"bare", {{"iops", result.bare_per_second}, {"bytes_per_s", result.bare_per_second * element}}},
          {"ratio_to_bare", result.bare_per_second > 0 ? rate / result.bare_per_second : 0},
          {"comparators", json::array()},
          {"io", io}};
}

std::string line(const cache_bench_point& point, const cache_bench_result& result) {
  return fmt::format(
      "{:>9} {:>9} {:>9} {:<9} {:<6} {:<10} {:<7} {:>4.0f} % {:>9.3f} {:>7.2f} % {:>8.3f} {:>9.2f} {:>9.2f} "
      "{:>11} {:>11}\n",
      format_bytes(static_cast<double>(point.cache_bytes)), format_bytes(point.page_bytes),
      point.tier_bytes == 0 ? "none" : format_bytes(static_cast<double>(point.tier_bytes)), point.mode,
      point.policy, point.pattern, point.access, point.write_share * 100, result.per_second() / 1e6,
      result.hit_rate * 100, result.bare_per_second > 0 ? result.per_second() / result.bare_per_second : 0,
      result.latency.p50, result.latency.p99, result.issued, result.served);
}

std::string heading() {
  return fmt::format(
      "{:>9} {:>9} {:>9} {:<9} {:<6} {:<10} {:<7} {:>6} {:>9} {:>9} {:>8} {:>9} {:>9} {:>11} {:>11}\n",
      "cache", "page", "tier", "mode", "policy", "pattern", "access", "writes", "M/s", "hits", "of bare",
      "p50 us", "p99 us", "issued", "served");
}

json config_of(const cache_choice& choice, const byte_run& run, std::uint64_t lanes) {
  return {{"drives", choice.drives.uris},
          {"span", run.bytes},
          {"threads", lanes},
          {"queues", choice.run.queues},
          {"depth", choice.run.depth},
          {"seconds", choice.run.seconds},
          {"verify_pages", choice.run.verify_pages},
          {"seed", choice.run.seed}};
}

/// The drives as they were named, and what they hold; that was read, or written, while no fault was injected.
struct bench_ground {
  std::optional<storage> drives;
  byte_run run;
  std::vector<cache_bench_point> points;
  cache_bench_truth truth;
};

bench_ground prepare_ground(lane::machine& on, const cache_choice& choice) {
  const bool to_write = writes(choice) || choice.destroy || all_forget(choice.drives.uris);
  const unsigned controllers = choice.controllers.value_or(on.kind() == backend::cuda ? 8 : 1);
  const std::vector<std::string> calm = without_faults(choice.drives.uris);
  bench_ground ground;
  ground.drives = open_drives(choice, calm, to_write, controllers, on);
  ground.run = run_of(*ground.drives, choice);
  ground.points = points_of(choice, ground.run.bytes);
  for (const cache_bench_point& point : ground.points) {
    need_known(point, choice);
    need_possible({on, *ground.drives, ground.truth, point, choice.run, context::stop_asked});
  }
  ground.truth = prepare(*ground.drives, choice, on.kind(), ground.run, ground.points.front().element_bytes);
  if (calm != choice.drives.uris) {
    ground.drives.reset();  // lets go of the drives
    ground.drives = open_drives(choice, choice.drives.uris, to_write, controllers, on);
  }
  return ground;
}

void measure(context& with, const cache_choice& choice) {
  need_known(choice);
  result_files files(choice.files);
  const auto machine = with.open_machine();
  bench_ground ground = prepare_ground(*machine, choice);
  json rows = json::array();
  std::string text = heading();
  std::uint64_t lanes = 0;
  {
    progress bar("measuring", ground.points.size());
    for (const cache_bench_point& point : ground.points) {
      const cache_bench_result result =
          run_cache_bench({*machine, *ground.drives, ground.truth, point, choice.run, context::stop_asked});
      bar.add(1);
      lanes = result.lanes;
      rows.push_back(row(point, result));
      text += line(point, result);
    }
  }
  text += "every value was compared with the truth\n";
  json object = fastest_of(rows);
  object.update({{"rows", rows},
                 {"config", config_of(choice, ground.run, lanes)},
                 {"machine", describe_machine(*machine)},
                 {"version", version()}});
  files.write(rows, object);
  with.print(object, text);
}

}  // namespace

void add_bench_cache(CLI::App& bench, context& with) {
  auto choice = std::make_shared<cache_choice>();
  CLI::App& command = with.add_command(
      bench, {"cache", "elements read and written through a cache",
              "sluice bench cache --drive mem:1GiB --cache 64MiB --pattern zipf --sweep policy"});
  add_cache_options(command, *choice);
  with.runs(command, [&with, choice] { measure(with, *choice); });
}

}  // namespace sluice::tool
