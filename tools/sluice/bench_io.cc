// `sluice bench io`: lanes put commands on the drives' queues, as many as they can, and check every block
// that comes back.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/cache_bench.h"
#include "tools/sluice/command.h"
#include "tools/sluice/comparators/comparisons.h"
#include "tools/sluice/io_bench.h"
#include "tools/sluice/result_files.h"
#include "tools/sluice/sweep.h"

namespace sluice::tool {

namespace {

struct io_choice {
  drive_choice drives;
  io_bench_options bench;
  unsigned controllers = 1;
  std::string pattern = "random";
  std::string path = "auto";
  bool destroy = false;
  sweep_choice sweep;
  comparator_choice compare;
  result_files_choice files;
};

using texts = std::vector<std::string>;

const texts patterns{"random", "uniform", "sequential", "zipf"};  // in the order of io_pattern

const texts paths{"auto", "peer", "staged"};  // in the order of queue::path

const std::string& name_of(io_pattern pattern) { return patterns[static_cast<std::size_t>(pattern)]; }
io_pattern pattern_of(const std::string& name) {
  return static_cast<io_pattern>(std::find(patterns.begin(), patterns.end(), name) - patterns.begin());
}

queue::path path_of(const std::string& name) {
  return static_cast<queue::path>(std::find(paths.begin(), paths.end(), name) - paths.begin());
}

bool writes(const io_choice& choice) { return choice.bench.write_share > 0 || choice.sweep.has("mix"); }

/// All values of the axes that are swept. Of blocks only the sizes that all drives can move.
std::vector<io_bench_options> points_of(const io_choice& choice, const storage& drives) {
  std::vector<std::uint32_t> blocks{512, 4096, 16384, 65536};
  for (const drive::drive* one : drives.drives())
    std::erase_if(blocks, [&](std::uint32_t bytes) {
      return bytes < one->info().block_size || bytes > one->info().max_transfer;
    });
  std::vector<std::uint32_t> counts;
  for (std::uint32_t n = 1; n <= drives.drives().size(); ++n) counts.push_back(n);
  sweep_points sweep(choice.sweep, choice.bench);
  sweep.along("drives", counts, [](auto& point, auto value) { point.drives = value; });
  sweep.along("block", blocks, [](auto& point, auto value) { point.block_bytes = value; });
  sweep.along("depth", std::vector<std::uint32_t>{16, 64, 256, 1024},
              [](auto& point, auto value) { point.depth = value; });
  sweep.along("queues", std::vector<std::uint32_t>{1, 2, 4, 8},
              [](auto& point, auto value) { point.queues = value; });
  sweep.along("threads", std::vector<std::uint64_t>{32, 128, 1024},
              [](auto& point, auto value) { point.lanes = value; });
  sweep.along("pattern", patterns, [](auto& point, const auto& value) { point.pattern = pattern_of(value); });
  sweep.along("path", texts(paths.begin() + 1, paths.end()),
              [](auto& point, const auto& value) { point.path = path_of(value); });
  sweep.along("mix", std::vector<double>{0, 0.1, 0.5},
              [](auto& point, auto value) { point.write_share = value; });
  return sweep.points();
}

json config_of(const io_choice& choice, const io_bench_options& point, const io_bench_result& got) {
  return {{"drives", texts(choice.drives.uris.begin(), choice.drives.uris.begin() + got.drives)},
          {"block", point.block_bytes},
          {"depth", point.depth},
          {"queues", point.queues},
          {"lanes", got.lanes},
          {"a_lane", point.a_lane},
          {"a_warp", point.a_warp},
          {"controllers", choice.controllers},
          {"pattern", name_of(point.pattern)},
          {"mix", point.write_share},
          {"span", point.span_bytes},
          {"path", got.staged ? "staged" : "peer"}};
}

json object_of(const io_bench_options& point, const io_bench_result& got) {
  const double bytes = point.block_bytes;
  return {{"iops", got.iops()},
          {"bytes_per_s", got.iops() * bytes},
          {"seconds", got.seconds},
          {"cpu_seconds", got.cpu_seconds},
          {"commands_issued", got.issued},
          {"commands_served", got.served},
          {"dropped", got.dropped},
          {"queues_lost", got.queues_lost},
          {"verified", got.verified()},
          {"latency_us",
           {{"p50", got.latency.p50},
            {"p99", got.latency.p99},
            {"p999", got.latency.p999},
            {"max", got.latency.max},
            {"alone", got.latency.alone}}},
          {"steady",
           {{"reached", got.steady.reached},
            {"from_s", got.steady_from},
            {"range", got.steady.range},
            {"slope", got.steady.slope}}},
          {"bare", {{"iops", got.bare_iops}, {"bytes_per_s", got.bare_iops * bytes}}},
          {"ratio_to_bare", got.ratio_to_bare()},
          {"comparators", json::array()}};
}

json row_of(const io_bench_options& point, const io_bench_result& got) {
  json row{{"drives", got.drives},
           {"block", point.block_bytes},
           {"depth", point.depth},
           {"queues", point.queues},
           {"threads", got.lanes},
           {"pattern", name_of(point.pattern)},
           {"path", got.staged ? "staged" : "peer"},
           {"mix", point.write_share}};
  row.update(object_of(point, got));
  return row;
}

std::string columns() {
  return fmt::format(
      "{:>6} {:>9} {:>6} {:>6} {:>7} {:<10} {:>6} {:>9} {:>8} {:>6} {:>8} {:>9} {:>9} {:>11} {:>11}\n",
      "drives", "block", "depth", "queues", "threads", "pattern", "writes", "M/s", "GB/s", "cores", "of bare",
      "p50 us", "p99 us", "issued", "served");
}

std::string line(const io_bench_options& point, const io_bench_result& got) {
  return fmt::format(
      "{:>6} {:>9} {:>6} {:>6} {:>7} {:<10} {:>4.0f} % {:>9.3f} {:>8.2f} {:>6.2f} {:>8.3f} {:>9.0f} "
      "{:>9.0f} {:>11} {:>11}\n",
      got.drives, format_bytes(point.block_bytes), point.depth, point.queues, got.lanes,
      name_of(point.pattern), point.write_share * 100, got.iops() / 1e6, got.iops() * point.block_bytes / 1e9,
      got.cores(), got.ratio_to_bare(), got.latency.p50, got.latency.p99, got.issued, got.served);
}

std::string steadiness_of(const io_bench_result& got) {
  const std::string how =
      fmt::format("range {:.1f} %, slope {:+.1f} %", got.steady.range * 100, got.steady.slope * 100);
  return got.steady.reached ? fmt::format("after {:.2f} s: {}", got.steady_from, how)
                            : fmt::format("not reached: {}; measure for longer (--seconds)", how);
}

std::string text_of(const io_bench_options& point, const io_bench_result& got, const lane::machine& on) {
  const double bytes = point.block_bytes;
  return fmt::format(
      "{} commands of {} bytes in {:.2f} s on {}, {} lanes, {} path\n"
      "  rate       {:.3f} M commands/s, {:.2f} GB/s, on {:.2f} cores\n"
      "  steady     {}\n"
      "  bare       {:.3f} M blocks/s, {:.2f} GB/s: the same blocks moved without a queue; ratio {:.3f}\n"
      "  latency    p50 {:.0f} µs, p99 {:.0f} µs, p99.9 {:.0f} µs, max {:.0f} µs; {:.1f} µs alone, from "
      "doorbell "
      "to answer\n"
      "  I/O truth  {} commands issued by lanes, {} served by the drives{}; every block checked\n",
      got.commands, point.block_bytes, got.seconds, on.name(), got.lanes, got.staged ? "staged" : "peer",
      got.iops() / 1e6, got.iops() * bytes / 1e9, got.cores(), steadiness_of(got), got.bare_iops / 1e6,
      got.bare_iops * bytes / 1e9, got.ratio_to_bare(), got.latency.p50, got.latency.p99, got.latency.p999,
      got.latency.max, got.latency.alone, got.issued, got.served,
      got.dropped > 0 ? fmt::format(", {} dropped", got.dropped) : "");
}

/// A benchmark whose answer is wrong has no result.
void judge(const io_bench_result& got) {
  if (got.wrong > 0)
    throw error(error_kind::wrong_answer,
                fmt::format("{} blocks did not hold what the drive holds", got.wrong));
  if (got.failed > 0)
    throw error(error_kind::io_failure, fmt::format("{} commands failed; the first", got.failed), {},
                {.drive = got.first_drive, .block = got.first_block, .code = got.first_failure});
  if (got.issued != got.served + got.dropped)
    throw error(error_kind::wrong_answer,
                fmt::format("lanes issued {} commands, the drives served {} and dropped {}", got.issued,
                            got.served, got.dropped));
}

/// Writes go to drives that hold nothing, unless the user gives up what is there.
void need_blank(storage& drives, const io_choice& choice) {
  const std::uint64_t span = choice.bench.span_bytes * drives.drives().size();
  if (holds_data(drives, 0, std::min(span, drives.volume().bytes())))
    throw error(error_kind::bad_input, "--mix would write over what the drive holds",
                "add --destroy if that may be lost", {.drive = choice.drives.uris.front()});
}

/// The drives, opened so that what is to be written may be.
storage open_drives(const io_choice& choice, lane::machine& on) {
  const bool spare = all_forget(choice.drives.uris) || choice.destroy;
  storage drives = storage::raw(choice.drives.uris,
                                {.mode = choice.bench.fill ? drive::access::write : drive::access::read,
                                 .controller_threads = choice.controllers,
                                 .machine = &on});
  if (writes(choice) && !spare) need_blank(drives, choice);
  return drives;
}

json measure(lane::machine& on, storage& drives, const io_choice& choice, std::string& text) {
  const bool swept = choice.sweep.any();
  const std::vector<io_bench_options> points = points_of(choice, drives);
  for (const io_bench_options& point : points) need_possible(on, drives, point);
  if (swept) text = columns();
  json rows = json::array();
  bare_limits bare(on);
  comparisons others(choice.compare, on, drives, choice.drives.uris, points);
  progress bar("measuring", points.size());
  for (const io_bench_options& point : points) {
    const io_bench_result got = run_io_bench(on, drives, point, &bare, context::stop_asked);
    context::stop_if_asked();
    judge(got);
    rows.push_back(swept ? row_of(point, got) : object_of(point, got));
    rows.back()["config"] = config_of(choice, point, got);
    text += swept ? line(point, got) : text_of(point, got, on);
    text += others.measure(point, got.iops(), rows.back());
    bar.add(1);
  }
  return rows;
}

void run(context& with, io_choice& choice) {
  choice.bench.pattern = pattern_of(choice.pattern);
  choice.bench.path = path_of(choice.path);
  choice.drives.uris = drive::each_drive(choice.drives.uris);
  choice.bench.fill = all_forget(choice.drives.uris) || choice.destroy || writes(choice);
  result_files files(choice.files);
  const auto machine = with.open_machine();
  storage drives = open_drives(choice, *machine);
  std::string text;
  const json rows = measure(*machine, drives, choice, text);
  json object = fastest_of(rows);
  if (choice.sweep.any()) object["rows"] = rows;
  object.update({{"machine", describe_machine(*machine)}, {"version", version()}});
  files.write(rows, object);
  with.print(object, text);
}

}  // namespace

void add_bench_io(CLI::App& bench, context& with) {
  auto choice = std::make_shared<io_choice>();
  CLI::App& io = with.add_command(bench, {"io", "raw commands from lanes to drives, every block checked",
                                          "sluice bench io --drive mem:1GiB --block 512"});
  add_uris(io, "--drive", "a drive to read from; repeat for several", choice->drives);
  add_bytes(io, "--block", "bytes a command moves", choice->bench.block_bytes);
  add_bytes(io, "--span", "bytes of each drive to move about in", choice->bench.span_bytes);
  io.add_option("--queues", choice->bench.queues, "queue pairs a drive")->check(CLI::Range(1U, 65535U));
  io.add_option("--depth", choice->bench.depth, "entries a queue, a power of two")
      ->check(CLI::Range(2U, 32768U));
  io.add_option("--threads", choice->bench.lanes, "lanes (default: as many as the queues take commands)");
  io.add_option("--a-lane", choice->bench.a_lane, "commands that each lane has in flight")
      ->check(CLI::IsMember({1U, 2U, 4U, most_a_lane}))
      ->capture_default_str();
  io.add_option("--a-warp", choice->bench.a_warp, "lanes of each warp that have commands")
      ->check(CLI::Range(1U, 32U))
      ->capture_default_str();
  io.add_option("--controllers", choice->controllers, "threads of each software controller")
      ->check(CLI::Range(1U, 1024U));
  io.add_option("--pattern", choice->pattern, "which blocks are moved")
      ->check(CLI::IsMember(patterns))
      ->capture_default_str();
  io.add_option("--path", choice->path,
                "where the drive puts the bytes: into the lanes' memory, or beside it for lanes to copy")
      ->check(CLI::IsMember(paths))
      ->capture_default_str();
  io.add_option("--mix", choice->bench.write_share, "share of commands that write, 0 to 1")
      ->check(real_from(0, 1));
  io.add_option("--seconds", choice->bench.seconds, "how long to measure")->check(real_from(0.01, 3600));
  choice->sweep.add_to(io, {"drives", "block", "depth", "queues", "threads", "pattern", "path", "mix"});
  add_comparators(io, choice->compare);
  add_result_files(io, choice->files);
  io.add_flag("--destroy", choice->destroy, "what the drive holds may be overwritten");
  with.runs(io, [&with, choice] { run(with, *choice); });
}

}  // namespace sluice::tool
