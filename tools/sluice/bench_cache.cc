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
#include "tools/sluice/calm_drives.h"
#include "tools/sluice/command.h"
#include "tools/sluice/result_files.h"
#include "tools/sluice/sweep.h"

namespace sluice::tool {

namespace {

struct cache_choice {
  drive_choice drives;
  std::string dataset;
  cache_bench_point point;
  cache_bench_options run;
  std::optional<unsigned> controllers;
  std::uint64_t span_bytes = 0;
  bool destroy = false;
  bool seconds_told = false;
  sweep_choice sweep;
  result_files_choice files;
};

/// What lanes do. The first is measured by single accesses, under a clock; the others by whole passes.
const std::vector<std::string> accesses{"element", "load", "store",  "pages",  "loop",
                                        "walk",    "span", "gather", "overlap"};

/// Bytes of all rows of a gather, which stay in memory to be checked.
constexpr std::uint64_t most_gathered = 8 * GiB;

[[noreturn]] void refuse(const std::string& message, const std::string& mend) {
  throw error(error_kind::bad_input, message, mend);
}

/// All values of the axes that are swept, every one with every other.
std::vector<cache_bench_point> points_of(const cache_choice& choice, std::uint64_t bytes) {
  sweep_points sweep(choice.sweep, choice.point);
  using text = std::vector<std::string>;
  const auto share = [bytes](std::uint64_t of) { return std::max(bytes / of, MiB); };
  sweep.along("cache", std::vector<std::uint64_t>{share(16), share(4), share(1)},
              [](auto& point, std::uint64_t value) { point.cache_bytes = value; });
  sweep.along("page", std::vector<std::uint32_t>{512, 4096, 65536},
              [](auto& point, auto value) { point.page_bytes = value; });
  sweep.along("mode", text{"none", "naive", "optimized"},
              [](auto& point, const auto& value) { point.mode = value; });
  sweep.along("policy", text{"clock", "fifo", "random", "s3fifo"},
              [](auto& point, const auto& value) { point.policy = value; });
  sweep.along("access", accesses, [](auto& point, const auto& value) { point.access = value; });
  sweep.along("state", text{"cold", "hot"}, [](auto& point, const auto& value) { point.state = value; });
  sweep.along("element", std::vector<std::uint32_t>{4, 8},
              [](auto& point, auto value) { point.element_bytes = value; });
  sweep.along("row", std::vector<std::uint64_t>{16, 128, 512, 4096, 8192},
              [](auto& point, auto value) { point.row_bytes = value; });
  sweep.along("pattern", text{"random", "sequential", "zipf"},
              [](auto& point, const auto& value) { point.pattern = value; });
  sweep.along("mix", std::vector<double>{0, 0.1, 0.5},
              [](auto& point, double value) { point.write_share = value; });
  return sweep.points();
}

bool writes(const cache_choice& choice) { return choice.point.write_share > 0 || choice.sweep.has("mix"); }

/// Only clock was built for the modes that the paper compares with.
void need_known(const cache_choice& choice) {
  const bool other_policy = choice.point.policy != "clock";
  if (choice.point.mode != "optimized" && other_policy)
    refuse("--mode " + choice.point.mode + " goes with --policy clock only", "leave --policy out");
  if (choice.sweep.has("mode") && (choice.sweep.has("policy") || other_policy))
    refuse("--sweep mode goes with --policy clock only", "sweep mode and policy one after the other");
  if (choice.sweep.has("policy") && choice.point.mode != "optimized")
    refuse("--sweep policy goes with --mode optimized only", "leave --mode out");
}

/// Whole passes are made in one way, over stamps.
void need_known_pass(const cache_bench_point& point, const cache_choice& choice) {
  const auto only_element = [](const std::string& option) {
    refuse(option + " goes with --access element only", "leave it out");
  };
  if (point.mode != "optimized") only_element("--mode " + point.mode);
  if (point.policy != "clock") only_element("--policy " + point.policy);
  if (point.pattern != "random") only_element("--pattern " + point.pattern);
  if (point.write_share > 0) only_element("--mix");
  if (choice.run.verify_pages) only_element("--verify-pages");
  if (choice.seconds_told) only_element("--seconds");
  if (point.access == "overlap" && (point.state != "cold" || point.element_bytes != 8))
    refuse("--access overlap reads 8 bytes of each page, from an empty cache",
           "leave --state and --element out");
  if (!choice.destroy && !all_forget(choice.drives.uris))
    refuse("--access " + point.access + " needs elements that it has written itself",
           "name mem: or emu: drives, or say --destroy to lose what is there");
  if (point.row_bytes < 16 || point.row_bytes % 16 != 0 || point.row_bytes > drive::largest_page)
    refuse("--row is a multiple of 16 bytes, at most 64 KiB", "name another length");
  if (point.access == "gather" && choice.run.accesses.value_or(0) > most_gathered / point.row_bytes)
    refuse("--accesses rows of " + std::to_string(point.row_bytes) + " bytes are more than 8 GiB to keep",
           "name fewer, or a shorter --row");
}

void need_known(const cache_bench_point& point, const cache_choice& choice) {
  if (point.element_bytes != 4 && point.element_bytes != 8)
    refuse("--element is 4 or 8", "name one of the two");
  if (point.access != "element") return need_known_pass(point, choice);
  if (point.state != "cold") refuse("--state hot goes with passes only", "name one by --access");
  if (point.element_bytes != 8) refuse("--element 4 goes with passes only", "name one by --access");
}

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
    refuse("there are fewer than " + format_bytes(static_cast<double>(unit)) + " to measure",
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
      "{:>9} {:>9} {:<9} {:<6} {:<10} {:<7} {:>4.0f} % {:>9.3f} {:>7.2f} % {:>8.3f} {:>9.2f} {:>9.2f} {:>11} "
      "{:>11}\n",
      format_bytes(static_cast<double>(point.cache_bytes)), format_bytes(point.page_bytes), point.mode,
      point.policy, point.pattern, point.access, point.write_share * 100, result.per_second() / 1e6,
      result.hit_rate * 100, result.bare_per_second > 0 ? result.per_second() / result.bare_per_second : 0,
      result.latency.p50, result.latency.p99, result.issued, result.served);
}

std::string heading() {
  return fmt::format(
      "{:>9} {:>9} {:<9} {:<6} {:<10} {:<7} {:>6} {:>9} {:>9} {:>8} {:>9} {:>9} {:>11} {:>11}\n", "cache",
      "page", "mode", "policy", "pattern", "access", "writes", "M/s", "hits", "of bare", "p50 us", "p99 us",
      "issued", "served");
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
    need_possible(on, *ground.drives, point, choice.run);
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
          run_cache_bench(*machine, *ground.drives, ground.truth, point, choice.run, context::stop_asked);
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

void add_axes(CLI::App& command, cache_choice& choice) {
  add_bytes(command, "--cache", "memory for pages", choice.point.cache_bytes);
  add_bytes(command, "--page", "bytes that move at once: a power of two, 512 to 64KiB",
            choice.point.page_bytes);
  command
      .add_option("--mode", choice.point.mode, "none: every access is I/O; naive: no coalescing; optimized")
      ->check(CLI::IsMember({"none", "naive", "optimized"}))
      ->capture_default_str();
  command.add_option("--policy", choice.point.policy, "which page has to go")
      ->check(CLI::IsMember({"clock", "fifo", "random", "s3fifo"}))
      ->capture_default_str();
  command
      .add_option(
          "--access", choice.point.access,
          "element: single ones under a clock; else whole passes: load or store of random elements, one "
          "of each page, a plain loop, pages that warps walk or hold as a span, rows that they gather; or "
          "reads "
          "asked for a round ahead, beside computing")
      ->check(CLI::IsMember(accesses))
      ->capture_default_str();
  command
      .add_option("--state", choice.point.state,
                  "cold: from an empty cache; hot: all pages were there before")
      ->check(CLI::IsMember({"cold", "hot"}))
      ->capture_default_str();
  command.add_option("--element", choice.point.element_bytes, "bytes of an element")
      ->check(CLI::IsMember({4U, 8U}))
      ->capture_default_str();
  add_bytes(command, "--row", "bytes of a gathered row: a multiple of 16", choice.point.row_bytes);
  command.add_option("--pattern", choice.point.pattern, "which elements are accessed")
      ->check(CLI::IsMember({"random", "sequential", "zipf"}))
      ->capture_default_str();
  command.add_option("--mix", choice.point.write_share, "share of accesses that write, 0 to 1")
      ->check(real_from(0, 1))
      ->capture_default_str();
  choice.sweep.add_to(
      command, {"cache", "page", "mode", "policy", "access", "state", "element", "row", "pattern", "mix"});
  add_result_files(command, choice.files);
}

void add_run_options(CLI::App& command, cache_choice& choice) {
  CLI::Option* seconds = command.add_option("--seconds", choice.run.seconds, "how long each row runs")
                             ->check(real_from(0.01, 3600))
                             ->each([&choice](const std::string&) { choice.seconds_told = true; })
                             ->capture_default_str();
  command
      .add_option("--accesses", choice.run.accesses,
                  "how many accesses each row makes, in place of --seconds")
      ->check(CLI::PositiveNumber)
      ->excludes(seconds);
  command.add_option("--threads", choice.run.lanes, "lanes; else as many as suit the machine")
      ->check(CLI::PositiveNumber);
  command.add_option("--queues", choice.run.queues, "queue pairs on each drive")
      ->check(CLI::Range(1U, 65'535U))
      ->capture_default_str();
  command.add_option("--depth", choice.run.depth, "entries of a queue")
      ->check(CLI::Range(2U, 32'768U))
      ->capture_default_str();
  command.add_option("--controllers", choice.controllers, "threads of each software controller")
      ->check(CLI::Range(1U, 1024U));
  command.add_option("--seed", choice.run.seed, "draws the accesses")->capture_default_str();
  command
      .add_option_function<std::string>(
          "--span", [&choice](const std::string& text) { choice.span_bytes = parse_bytes(text, "--span"); },
          "use only so many bytes from the start")
      ->type_name("SIZE");
  command
      .add_option("--dataset", choice.dataset,
                  "use this dataset of the volume; else the drives from their first byte")
      ->type_name("NAME");
  command.add_flag("--verify-pages", choice.run.verify_pages,
                   "check pages of sealed datasets when they come");
  command.add_flag("--destroy", choice.destroy, "write over what the drives hold");
}

}  // namespace

void add_bench_cache(CLI::App& bench, context& with) {
  auto choice = std::make_shared<cache_choice>();
  CLI::App& command = with.add_command(
      bench, {"cache", "elements read and written through a cache",
              "sluice bench cache --drive mem:1GiB --cache 64MiB --pattern zipf --sweep policy"});
  add_uris(command, "--drive", "what lies behind the cache", choice->drives);
  add_axes(command, *choice);
  add_run_options(command, *choice);
  with.runs(command, [&with, choice] { measure(with, *choice); });
}

}  // namespace sluice::tool
