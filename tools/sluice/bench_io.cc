// `sluice bench io`: lanes put commands on the drives' queues, as many as they can, and check every block
// that comes back.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "sluice/base/error.h"
#include "tools/sluice/command.h"
#include "tools/sluice/io_bench.h"

namespace sluice::tool {

namespace {

struct io_choice {
  drive_choice drives;
  io_bench_options bench;
  unsigned controllers = 1;
  std::string pattern = "random";
  bool destroy = false;
};

json config_of(const io_choice& choice, const io_bench_result& got) {
  return {{"drives", choice.drives.uris},
          {"block", choice.bench.block_bytes},
          {"depth", choice.bench.depth},
          {"queues", choice.bench.queues},
          {"lanes", got.lanes},
          {"controllers", choice.controllers},
          {"pattern", choice.pattern},
          {"mix", choice.bench.write_share},
          {"span", choice.bench.span_bytes},
          {"path", got.staged ? "staged" : "peer"}};
}

json object_of(const io_choice& choice, const io_bench_result& got, const lane::machine& on) {
  const double bytes = choice.bench.block_bytes;
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
            {"max", got.latency.max}}},
          {"bare", {{"iops", got.bare_iops}, {"bytes_per_s", got.bare_iops * bytes}}},
          {"ratio_to_bare", got.bare_iops > 0 ? got.iops() / got.bare_iops : 0},
          {"comparators", json::array()},
          {"config", config_of(choice, got)},
          {"machine", describe_machine(on)},
          {"version", version()}};
}

std::string text_of(const io_choice& choice, const io_bench_result& got, const lane::machine& on) {
  const double bytes = choice.bench.block_bytes;
  return fmt::format(
      "{} commands of {} bytes in {:.2f} s on {}, {} lanes, {} path\n"
      "  rate       {:.3f} M commands/s, {:.2f} GB/s, on {:.2f} cores\n"
      "  bare       {:.3f} M blocks/s, {:.2f} GB/s: the same blocks moved without a queue; ratio {:.3f}\n"
      "  latency    p50 {:.0f} µs, p99 {:.0f} µs, p99.9 {:.0f} µs, max {:.0f} µs\n"
      "  I/O truth  {} commands issued by lanes, {} served by the drives{}; every block checked\n",
      got.commands, choice.bench.block_bytes, got.seconds, on.name(), got.lanes,
      got.staged ? "staged" : "peer", got.iops() / 1e6, got.iops() * bytes / 1e9,
      got.seconds > 0 ? got.cpu_seconds / got.seconds : 0, got.bare_iops / 1e6, got.bare_iops * bytes / 1e9,
      got.bare_iops > 0 ? got.iops() / got.bare_iops : 0, got.latency.p50, got.latency.p99, got.latency.p999,
      got.latency.max, got.issued, got.served,
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

void run(context& with, io_choice& choice) {
  if (choice.pattern != "random" && choice.pattern != "sequential")
    throw error(error_kind::bad_input, "--pattern is '" + choice.pattern + "'", "say random or sequential");
  choice.bench.pattern = choice.pattern == "random" ? io_pattern::random : io_pattern::sequential;
  choice.bench.fill = all_forget(choice.drives.uris) || choice.destroy;
  if (choice.bench.write_share < 0 || choice.bench.write_share > 1)
    throw error(error_kind::bad_input, "--mix is a share of writes", "say a number from 0 to 1");
  if (choice.bench.write_share > 0 && !choice.bench.fill)
    throw error(error_kind::bad_input, "--mix would write over what the drive holds",
                "add --destroy if that may be lost");
  const auto machine = with.open_machine();
  storage drives = storage::raw(choice.drives.uris,
                                {.mode = choice.bench.fill ? drive::access::write : drive::access::read,
                                 .controller_threads = choice.controllers});
  const io_bench_result got =
      run_io_bench(*machine, drives, choice.bench, [] { return context::stop_asked(); });
  context::stop_if_asked();
  judge(got);
  with.print(object_of(choice, got, *machine), text_of(choice, got, *machine));
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
  io.add_option("--threads", choice->bench.lanes, "commands in flight, one a lane (default: as many as fit)");
  io.add_option("--controllers", choice->controllers, "threads of each software controller")
      ->check(CLI::Range(1U, 1024U));
  io.add_option("--pattern", choice->pattern, "random or sequential");
  io.add_option("--mix", choice->bench.write_share, "share of commands that write, 0 to 1");
  io.add_option("--seconds", choice->bench.seconds, "how long to measure")->check(CLI::Range(0.01, 3600.0));
  io.add_flag("--destroy", choice->destroy, "what the drive holds may be overwritten");
  with.runs(io, [&with, choice] { run(with, *choice); });
}

}  // namespace sluice::tool
