#include "tools/sluice/io_bench.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <memory>
#include <span>
#include <thread>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/memory/buffer.h"
#include "sluice/queue/queue_set.h"
#include "tools/sluice/drive_contents.h"
#include "tools/sluice/drive_probe.h"
#include "tools/sluice/io_meter.h"
#include "tools/sluice/process_time.h"

namespace sluice::tool {

namespace {

/// Of host memory that the bare limit is measured over: beside the drives' own there must be room for it.
constexpr std::uint64_t most_bare_bytes = 8 * GiB;
constexpr std::uint64_t most_flight_bytes = 4 * GiB;  // of lanes that nobody has asked for by number

std::uint32_t in_1024(double share) { return static_cast<std::uint32_t>(share * 1024); }

using drive_list = std::vector<drive::drive*>;

drive_list drives_of(const storage& drives, const io_bench_options& options) {
  const drive_list& all = drives.drives();
  const std::size_t count = options.drives != 0 ? options.drives : all.size();
  if (count > all.size())
    throw error(error_kind::bad_input,
                "there are " + std::to_string(all.size()) + " drives, not " + std::to_string(count),
                "name more drives");
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool all_reach(const drive_list& drives, backend lanes) {
  return std::all_of(drives.begin(), drives.end(),
                     [&](const drive::drive* one) { return one->reaches_frames(lanes); });
}

/// How many blocks of each drive are chosen among: a power of two.
std::uint64_t blocks_in_span(const drive_list& drives, const io_bench_options& options) {
  const std::uint32_t bytes = options.block_bytes;
  std::uint64_t span = options.span_bytes;
  for (const drive::drive* one : drives) {
    if (!is_power_of_two(bytes) || bytes < one->info().block_size || bytes > one->info().max_transfer)
      throw error(error_kind::bad_input, "blocks of " + std::to_string(bytes) + " bytes are not to be had",
                  "use a power of two from " + std::to_string(one->info().block_size) + " to " +
                      std::to_string(one->info().max_transfer),
                  {.drive = one->info().uri});
    span = std::min(span, one->info().bytes());
  }
  const std::uint64_t blocks = std::bit_floor(span / bytes);
  if (blocks < 2)
    throw error(error_kind::bad_input, "the drive has too few blocks of that size to choose among");
  return blocks;
}

/// Everything one run owns, in the order in which it may be destroyed.
class bench {
 public:
  bench(lane::machine& on, storage& drives, const io_bench_options& options, std::uint64_t blocks)
      : machine_(on),
        storage_(drives),
        options_(options),
        drives_(drives_of(drives, options)),
        span_(blocks * options.block_bytes),
        blocks_(blocks),
        contents_(drives, drive_count(), span_),
        meter_(on.kind(), options.seconds) {
    make_lanes();
    alone_us_ = lone_latency_us(on, *drives_.front(), options.block_bytes);
    make_queues();  // what the drives refuse is said before they are read whole
    const bool lanes_fill = options.fill && machine_.kind() == backend::cuda && !staged();
    if (options.fill && !lanes_fill) contents_.fill();
    if (!options.fill) learn_truth();
    before_ = storage_.counters();  // from here on lanes' commands only
    if (lanes_fill) fill_by_lanes();
  }
  ~bench() {
    queues_.clear();
    for (drive::drive* one : drives_)
      if (!staged()) one->unmap(buffers_.view());
  }
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  io_bench_result run(const std::function<bool()>& stop) {
    io_bench_result result;
    result.lanes = commands_a_round() * teams();
    result.drives = drive_count();
    result.staged = staged();
    const double cpu_before = process_seconds();
    pass(result, stop, {.commands = ~std::uint64_t{0}, .seconds = options_.seconds, .whole = false});
    result.cpu_seconds = process_seconds() - cpu_before;
    result.latency = meter_.latencies();
    result.latency.alone = alone_us_;
    meter_.keep_steady_part(result);
    if (!stop()) {
      io_bench_result untimed;
      const std::uint64_t most =
          machine_.kind() == backend::cuda ? std::uint64_t{1} << 24 : std::uint64_t{1} << 19;
      pass(untimed, stop,
           {.commands = std::min(blocks_ * drive_count(), most), .seconds = 60, .whole = true});
      result.wrong += untimed.wrong;
      result.failed += untimed.failed;
      if (result.first_failure.is_ok()) {
        result.first_failure = untimed.first_failure;
        result.first_drive = untimed.first_drive;
        result.first_block = untimed.first_block;
      }
    }
    for (const auto& set : queues_) {
      result.issued += set->issued();
      result.queues_lost += set->losses();
    }
    const drive::drive_counters after = storage_.counters();
    result.served = after.served - before_.served;
    result.dropped = after.dropped - before_.dropped;
    return result;
  }

 private:
  struct pass_options {
    std::uint64_t commands;
    double seconds;
    bool whole;
  };

  std::uint32_t drive_count() const { return static_cast<std::uint32_t>(drives_.size()); }

  /// Reads each drive once over the host's queue, and keeps what each sector must hold.
  void learn_truth() {
    const std::vector<sector_truth> truth = contents_.learn();
    truth_ = memory::buffer(machine_.kind(), memory::place::device, truth.size() * sizeof(sector_truth));
    memory::copy_in(truth_.view(), 0, std::as_bytes(std::span(truth)));
  }

  /// The same by lanes, drive after drive: many times as fast where they reach the drives themselves.
  void fill_by_lanes() {
    constexpr std::uint64_t patience_ns = 600'000'000'000;
    for (std::uint32_t d = 0; d < drive_count(); ++d) {
      clear<io_team>(records_);
      io_job job = job_for({.commands = blocks_, .seconds = 0, .whole = false});
      job.first_drive = d;
      job.drive_count = 1;
      job.a_round = lanes_a_team();
      job.nanoseconds = patience_ns;
      job.writes_in_1024 = 1024;
      job.pattern = io_pattern::sequential;
      launch<io_check::stamp>(job, [] { return false; });
      io_bench_result filled;
      collect(filled);
      if (filled.failed != 0 || filled.commands != blocks_)
        throw error(
            error_kind::io_failure, "filling a drive with known bytes failed", {},
            {.drive = drives_[d]->info().uri, .block = filled.first_block, .code = filled.first_failure});
    }
  }

  /// Calls `act` with the kernel for this machine and these drives.
  template <io_check Check, class Act>
  auto with_kernel(const io_job& job, const Act& act) const {
    return staged() ? with_path<queue::path::staged, Check>(job, act)
                    : with_path<queue::path::peer, Check>(job, act);
  }
  template <queue::path Path, io_check Check, class Act>
  auto with_path(const io_job& job, const Act& act) const {
    return machine_.kind() == backend::cpu ? with_team<Path, lane::solo, Check>(job, act)
                                           : with_team<Path, lane::full_warp, Check>(job, act);
  }
  template <queue::path Path, class Team, io_check Check, class Act>
  auto with_team(const io_job& job, const Act& act) const {
    if constexpr (Check == io_check::stamp)
      if (options_.a_lane > 1) return act(io_kernel<Path, Team, Check, io_flight::several>{job});
    return act(io_kernel<Path, Team, Check>{job});
  }

  /// Of the kernel that checks so.
  template <io_check Check>
  std::uint64_t resident_lanes() const {
    const auto blocks = [&](auto kernel) {
      return std::uint64_t{lane::resident_blocks<decltype(kernel)>(machine_, block_lanes())};
    };
    return with_kernel<Check>({}, blocks) * block_lanes();
  }
  std::uint32_t lanes_a_team() const {
    return machine_.kind() == backend::cpu ? team_lanes<lane::solo> : team_lanes<lane::full_warp>;
  }
  std::uint64_t teams() const { return lanes_ / lanes_a_team(); }
  /// The kernel's own blocks, or single warps where another number of lanes is wanted.
  std::uint32_t block_lanes() const {
    constexpr std::uint32_t on_gpu = 256, one_warp = 32;
    const bool odd = asked_lanes() % on_gpu != 0;
    return machine_.kind() == backend::cuda && !odd ? on_gpu : one_warp;
  }
  /// Of a team, where fewer are wanted than it has lanes.
  std::uint32_t commands_a_round() const {
    const std::uint32_t most = std::min(options_.a_warp, lanes_a_team());
    const bool few = options_.lanes != 0 && options_.lanes < most;
    return few ? static_cast<std::uint32_t>(options_.lanes) : most;
  }
  /// Those without commands included; 0: nobody said.
  std::uint64_t asked_lanes() const {
    return machine_.kind() == backend::cpu ? options_.lanes
                                           : divide_up(options_.lanes, commands_a_round()) * lanes_a_team();
  }
  bool staged() const { return options_.path == queue::path::staged || !all_reach(drives_, machine_.kind()); }

  void make_lanes() {
    const std::uint64_t most = resident_lanes<io_check::stamp>();
    const std::uint64_t room = std::uint64_t{options_.queues} * options_.depth * drive_count();
    // A CPU lane costs a switch each time its warp meets: few keep the queues busy, more only wait.
    const std::uint64_t few =
        machine_.kind() == backend::cuda ? most_flight_bytes / options_.block_bytes : 128;
    const std::uint64_t wanted = std::min(room, few);
    const std::uint64_t asked = align_up(asked_lanes(), block_lanes());
    lanes_ = std::min(most, asked != 0 ? asked : wanted / options_.a_lane);
    lanes_ = std::max<std::uint64_t>(block_lanes(), lanes_ / block_lanes() * block_lanes());
    const std::uint64_t places = lanes_ * options_.a_lane;
    const backend kind = machine_.kind();
    stride_ = queue::piece_stride(options_.block_bytes, 4096);
    buffers_ = memory::buffer(kind, memory::place::device, places * stride_);
    cells_ = memory::buffer(kind, memory::place::device, places * sizeof(io_cell));
    records_ = memory::buffer(kind, memory::place::device, teams() * sizeof(io_team));
    stop_ = memory::buffer(kind, memory::place::pinned, sizeof(std::uint32_t));
  }

  void make_queues() {
    std::vector<io_drive> ports;
    for (drive::drive* one : drives_) {
      const queue::queue_options options{.depth = std::min(options_.depth, one->info().max_depth),
                                         .transfer_bytes = options_.block_bytes,
                                         .deadline = std::chrono::milliseconds(one->info().deadline_ms),
                                         .staged = staged()};
      queues_.push_back(std::make_unique<queue::queue_set>(
          *one, machine_.kind(), std::min(options_.queues, one->info().max_queues), options));
      io_drive port{.queues = queues_.back()->ref().queues,
                    .queue_count = queues_.back()->ref().count,
                    .block_shift = log2_exact(options_.block_bytes / one->info().block_size),
                    .buffers = {}};
      if (!staged()) {
        prps_.emplace_back(*one, machine_.kind(), one->map(buffers_.view()), options_.block_bytes,
                           lanes_ * options_.a_lane);
        port.buffers = prps_.back().ref();
      }
      ports.push_back(port);
    }
    ports_ = memory::buffer(machine_.kind(), memory::place::device, ports.size() * sizeof(io_drive));
    memory::copy_in(ports_.view(), 0, std::as_bytes(std::span(ports)));
  }

  template <class T>
  static void clear(const memory::buffer& what) {
    const std::vector<T> zeros(what.size() / sizeof(T));
    memory::copy_in(what.view(), 0, std::as_bytes(std::span(zeros)));
  }

  io_job job_for(const pass_options& how) const {
    io_job job{.drives = ports_.lanes_as<io_drive>(),
               .cells = cells_.lanes_as<io_cell>(),
               .buffers = buffers_.lanes(),
               .truth = truth_.lanes_as<sector_truth>(),
               .teams = records_.lanes_as<io_team>(),
               .stop = stop_.lanes_as<std::uint32_t>(),
               .blocks = blocks_,
               .block_bits = log2_exact(blocks_),
               .commands = how.commands,
               .nanoseconds = static_cast<std::uint64_t>(how.seconds * 1e9),
               .seed = options_.seed,
               .first_drive = 0,
               .drive_count = drive_count(),
               .command_bytes = options_.block_bytes,
               .a_round = commands_a_round(),
               .a_lane = options_.a_lane,
               .stride = stride_,
               .writes_in_1024 = how.whole ? 0 : in_1024(options_.write_share),
               .pattern = options_.pattern};
    meter_.tell(job);
    return job;
  }

  void pass(io_bench_result& result, const std::function<bool()>& stop, const pass_options& how) {
    clear<io_team>(records_);
    meter_.clear();
    const io_job job = job_for(how);
    result.seconds = how.whole ? launch<io_check::every_byte>(job, stop) : launch<io_check::stamp>(job, stop);
    collect(result);
  }

  template <io_check Check>
  double launch(const io_job& job, const std::function<bool()>& stop) {
    const std::uint64_t lanes = std::min(lanes_, resident_lanes<Check>());
    const lane::grid shape{static_cast<std::uint32_t>(lanes / block_lanes()), block_lanes()};
    const auto running =
        with_kernel<Check>(job, [&](const auto& kernel) { return lane::start(machine_, shape, kernel); });
    while (!running->finished()) {
      if (stop()) lane::on_system(stop_.host_as<std::uint32_t>()[0]).store(1, lane::release);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return running->wait().seconds;
  }

  void collect(io_bench_result& result) const {
    std::vector<io_team> tallies(teams());
    memory::copy_out(records_.view(), 0, std::as_writable_bytes(std::span(tallies)));
    for (const io_team& tally : tallies) {
      result.commands += tally.commands;
      result.failed += tally.failed;
      result.wrong += tally.wrong;
      if (tally.first_failure == 0 || !result.first_failure.is_ok()) continue;
      result.first_failure = status::from_bits(static_cast<std::uint32_t>(tally.first_failure));
      result.first_drive = drives_[tally.first_failure >> 32]->info().uri;
      result.first_block = {tally.first_block};
    }
  }

  lane::machine& machine_;
  storage& storage_;
  io_bench_options options_;
  drive_list drives_;
  std::uint64_t span_, blocks_;  ///< of each drive
  drive_contents contents_;
  io_meter meter_;
  drive::drive_counters before_;  ///< what lanes' commands are counted from
  double alone_us_ = 0;
  std::uint64_t lanes_ = 0;
  std::uint32_t stride_ = 0;
  memory::buffer truth_, buffers_, cells_, records_, stop_, ports_;
  std::vector<queue::prp_table> prps_;
  std::vector<std::unique_ptr<queue::queue_set>> queues_;
};

}  // namespace

void need_possible(const lane::machine& on, const storage& drives, const io_bench_options& options) {
  const drive_list list = drives_of(drives, options);
  blocks_in_span(list, options);
  if (options.path == queue::path::peer && !all_reach(list, on.kind()))
    throw error(error_kind::bad_input, "not all of these drives reach the lanes' memory",
                "leave --path out, or name drives that do");
  if (!is_power_of_two(options.depth) || options.depth < 2)
    throw error(error_kind::bad_input,
                "a queue depth of " + std::to_string(options.depth) + " is not to be had",
                "use a power of two from 2 to 32768");
}

std::uint64_t blocks_chosen_among(const storage& drives, const io_bench_options& options) {
  return blocks_in_span(drives_of(drives, options), options);
}

io_bench_result run_io_bench(lane::machine& on, storage& drives, const io_bench_options& options,
                             bare_limits* bare, const std::function<bool()>& stop) {
  const std::uint64_t blocks = blocks_in_span(drives_of(drives, options), options);
  io_bench_result result = bench(on, drives, options, blocks).run(stop);
  if (bare == nullptr || stop()) return result;
  const memory::place media = drives.drives().front()->info().media;
  const std::uint64_t span = std::min(blocks * options.block_bytes, most_bare_bytes);
  result.bare_iops =
      bare->of({options.block_bytes, span, in_1024(options.write_share), media}).blocks_per_second;
  return result;
}

}  // namespace sluice::tool
