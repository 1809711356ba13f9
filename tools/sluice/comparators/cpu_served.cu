// The comparator cpu-served: lanes post page requests that CPU threads answer, as GPUfs and ActivePointers
// have it.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/shared_word.h"
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/gpu_room.h"
#include "tools/sluice/comparators/page_server.h"
#include "tools/sluice/comparators/served_kernel.h"
#include "tools/sluice/comparators/source.h"
#include "tools/sluice/process_time.h"

namespace sluice::tool {

namespace {

constexpr std::uint64_t patience_ns = 5'000'000'000;

/// How many lanes ask at once: more teams than keep the servers busy would only wait.
constexpr lane::grid askers_on(backend on) {
  return on == backend::cuda ? lane::grid{128, 64} : lane::grid{4, 32};
}
constexpr std::uint32_t lanes_a_team_of(backend on) { return on == backend::cuda ? 32 : 1; }

std::uint32_t servers_on(backend on) {
  return on == backend::cuda ? std::clamp(std::thread::hardware_concurrency() / 2, 1U, 4U) : 1;
}

template <io_check Check>
using asking_warps = served_kernel<lane::full_warp, Check>;
template <io_check Check>
using asking_lanes = served_kernel<lane::solo, Check>;

class served_comparison {
 public:
  explicit served_comparison(const comparison& what) : what_(what), kind_(what.on.kind()) {
    need_room();
    const auto device = [&](std::size_t bytes) {
      return memory::buffer(kind_, memory::place::device, bytes);
    };
    const auto pinned = [&](std::size_t bytes) {
      return memory::buffer(kind_, memory::place::pinned, bytes);
    };
    servers_wanted_ = servers_on(kind_);
    const std::uint32_t teams = std::max(teams_of(askers_on(kind_)), teams_of(users()));
    ring_depth_ = std::bit_ceil(teams);
    frames_ = device(what.bytes());
    table_ = device(what.order.blocks() * sizeof(std::uint32_t));
    pieces_ = device(std::uint64_t{teams} * piece_bytes);
    tally_ = device(sizeof(block_tally));
    tickets_ = device(servers_wanted_ * sizeof(served_word));
    requests_ = pinned(std::uint64_t{servers_wanted_} * ring_depth_ * sizeof(served_request));
    answers_ = device(teams * sizeof(served_word));
    stop_ = device(sizeof(std::uint32_t));
    make_servers();
  }

  comparison_result run() {
    comparison_result result;
    const block_pass whole = block_pass::every_byte(what_);
    serve<io_check::every_byte>(whole);
    add_tally(result, take_tally(), false);
    serve_for(what_.seconds, result);
    result.say("cold_bytes_per_s", result.rate() * what_.block_bytes);
    result.say("hot_bytes_per_s", hot_rate(result) * what_.block_bytes);
    result.say("served", served_);
    result.say("servers", servers_wanted_);
    result.say("askers", teams_of(askers_on(kind_)));
    const bool from_file = what_.source.has_drive_files();
    result.say("source", std::string(from_file ? "the drives' files" : "pinned memory"));
    if (from_file) result.say("direct", what_.source.file(what_.block_bytes).direct());
    return result;
  }

 private:
  std::uint32_t teams_of(const lane::grid& shape) const {
    return shape.blocks * shape.block_lanes / lanes_a_team_of(kind_);
  }
  /// Lanes that use pages which are all there.
  lane::grid users() const {
    constexpr std::uint32_t on_gpu = 256;
    if (kind_ == backend::cpu) return {what_.on.processors(), 1};
    return {lane::resident_blocks<asking_warps<io_check::stamp>>(what_.on, on_gpu), on_gpu};
  }

  void need_room() const {
    if (kind_ == backend::cpu) return;
    const std::uint64_t left = free_gpu_bytes();
    if (what_.bytes() > left / 4 * 3)
      throw error(error_kind::unavailable,
                  "its frames would take " + format_bytes(static_cast<double>(what_.bytes())) + " of the " +
                      format_bytes(static_cast<double>(left)) + " that the GPU has left");
  }

  void make_servers() {
    const source_file* const file =
        what_.source.has_drive_files() ? &what_.source.file(what_.block_bytes) : nullptr;
    for (std::uint32_t s = 0; s < servers_wanted_; ++s)
      servers_.push_back(std::make_unique<page_server>(
          kind_, served_port{.ring = requests_.host_as<served_request>().subspan(std::size_t{s} * ring_depth_,
                                                                                 ring_depth_),
                             .answers = answers_.lanes_as<served_word>(),
                             .teams = static_cast<std::uint32_t>(answers_.size() / sizeof(served_word)),
                             .frames = frames_.lanes(),
                             .bytes = what_.source.bytes().host(),
                             .file = file,
                             .page_bytes = what_.block_bytes}));
  }

  template <class T>
  static void set_all(const memory::buffer& words, T value) {
    const std::vector<T> all(words.size() / sizeof(T), value);
    memory::copy_in(words.view(), 0, std::as_bytes(std::span(all)));
  }
  void forget_pages() {
    set_all(table_, std::uint32_t{0});
    set_all(tickets_, served_word{});
    set_all(requests_, served_request{});
    set_all(answers_, served_word{});
  }

  served_job job_for(const block_pass& pass) const {
    return {.round = {.order = what_.order,
                      .first = pass.first,
                      .count = pass.count,
                      .nanoseconds = static_cast<std::uint64_t>(pass.seconds * 1e9),
                      .stop = stop_.lanes_as<std::uint32_t>()},
            .table = table_.lanes_as<std::uint32_t>(),
            .frames = frames_.lanes(),
            .pieces = pieces_.lanes(),
            .truth = what_.source.truth(),
            .tally = tally_.lanes_as<block_tally>(),
            .requests = requests_.lanes_as<served_request>(),
            .tickets = tickets_.lanes_as<served_word>(),
            .answers = answers_.lanes_as<served_word>(),
            .servers = servers_wanted_,
            .ring_depth = ring_depth_,
            .patience_ns = patience_ns,
            .block_bytes = what_.block_bytes};
  }

  /// In their own memory too: lanes that wait look at nothing across the link.
  void stop_lanes() const { drive::poke(stop_.view(), 0, std::uint32_t{1}); }

  /// Seconds that lanes took.
  template <io_check Check>
  double launch(const lane::grid& shape, const served_job& job) {
    const auto running = kind_ == backend::cuda ? lane::start(what_.on, shape, asking_warps<Check>{job})
                                                : lane::start(what_.on, shape, asking_lanes<Check>{job});
    while (!running->finished()) {
      if (what_.stop()) stop_lanes();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return running->wait().seconds;
  }

  /// A pass that begins without any page; every page is served once, however many lanes want it.
  template <io_check Check>
  double serve(const block_pass& pass) {
    forget_pages();
    for (const auto& server : servers_) server->start([this] { stop_lanes(); });
    const double seconds = launch<Check>(askers_on(kind_), job_for(pass));
    for (const auto& server : servers_) server->stop();
    return seconds;
  }

  /// Pass after pass, each without any page at first, until lanes have run for so long.
  void serve_for(double seconds, comparison_result& result) {
    constexpr double most_overhead = 3;
    const auto began = std::chrono::steady_clock::now();
    const auto passed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    std::uint64_t first = 0;
    const std::uint64_t served_before = served_in_all();
    const double cpu_before = process_seconds();
    do {
      result.seconds += serve<io_check::stamp>(
          {.first = first, .count = what_.order.blocks(), .seconds = seconds - result.seconds});
      first += what_.order.blocks();
    } while (result.seconds < seconds && passed() < most_overhead * seconds && !what_.stop());
    result.cpu_seconds = process_seconds() - cpu_before;
    served_ = served_in_all() - served_before;
    add_tally(result, take_tally(), true);
  }
  std::uint64_t served_in_all() const {
    std::uint64_t sum = 0;
    for (const auto& server : servers_) sum += server->served();
    return sum;
  }

  /// Pages a second where all are there: what the table and the references cost.
  double hot_rate(comparison_result& result) {
    const auto line = open_copy_line(kind_, 1);
    line->copy(frames_.lanes(), what_.source.bytes().host(), what_.bytes());
    line->wait();
    set_all(table_, page_asked | page_here);
    const double seconds =
        launch<io_check::stamp>(users(), job_for({.seconds = std::min(1.0, what_.seconds)}));
    const block_tally tally = take_tally();
    add_tally(result, tally, false);
    return seconds > 0 ? static_cast<double>(tally.blocks) / seconds : 0;
  }

  block_tally take_tally() {
    block_tally tally{};
    memory::copy_out(tally_.view(), 0, std::as_writable_bytes(std::span(&tally, 1)));
    set_all(tally_, block_tally{});
    return tally;
  }

  const comparison& what_;
  backend kind_;
  std::uint32_t servers_wanted_ = 1, ring_depth_ = 1;
  memory::buffer frames_, table_, pieces_, tally_, tickets_, requests_, answers_, stop_;
  std::vector<std::unique_ptr<page_server>> servers_;
  std::uint64_t served_ = 0;
};

}  // namespace

comparison_result run_cpu_served(const comparison& what) { return served_comparison(what).run(); }

}  // namespace sluice::tool
