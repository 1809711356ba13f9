#include "emulator/residents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <thread>

#include "emulator/resident.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/drive/shared_word.h"

namespace sluice::emulator {

namespace {

using drive::peek;
using drive::poke;

constexpr std::size_t most_extents = 8192;
constexpr auto patience = std::chrono::seconds(5);

std::uint32_t warps_of(backend kind, std::uint32_t blocks) {
  // One warp takes all queues of a CPU's drive: its lanes share one thread.
  return kind == backend::cuda ? blocks * resident_kernel<service::at_once>::block_lanes / 32 : 1;
}

template <class T>
memory::buffer make(backend on, memory::place where, std::size_t count) {
  return {on, where, count * sizeof(T)};
}

std::uint32_t regions_of(const resident_options& options) {
  if (options.region_bytes == 0) return 1;
  return static_cast<std::uint32_t>(divide_up(options.media_bytes, options.region_bytes));
}

template <class T>
void write_at(const memory::buffer& to, std::size_t index, const T& what) {
  memory::copy_in(to.view(), index * sizeof(T), std::as_bytes(std::span(&what, 1)));
}

template <class T>
T read_at(const memory::buffer& from, std::size_t index) {
  T what;
  memory::copy_out(from.view(), index * sizeof(T), std::as_writable_bytes(std::span(&what, 1)));
  return what;
}

}  // namespace

residents::residents(lane::machine* on, const resident_options& options)
    : on_(on),
      kind_(on == nullptr ? backend::cpu : on->kind()),
      aside_(kind_ == backend::cuda ? on->aside() : lane::machine::cpu(1)),
      options_(options),
      blocks_(kind_ == backend::cuda ? options.processors : 1),
      warps_(warps_of(kind_, blocks_)),
      late_(options.max_queues + 1) {
  using memory::place;
  const std::size_t identifiers = options.max_queues + 1;
  orders_ = make<resident_orders>(kind_, place::device, 1);
  queues_ = make<resident_queue>(kind_, place::device, identifiers);
  counts_ = make<resident_counts>(kind_, place::device, identifiers);
  served_ = make<std::uint16_t>(kind_, place::device, identifiers);
  reach_ = make<reach_extent>(kind_, place::device, most_extents);
  bells_ = memory::buffer(kind_, place::device, std::size_t{options.bell_count} * line_bytes);
  clock_ = make<std::uint64_t>(kind_, place::device, 2);
  turns_ = make<region_turns>(kind_, place::device, 1);
  present_ = make<std::uint32_t>(kind_, place::pinned, blocks_);
  parked_ = make<std::uint32_t>(kind_, place::pinned, warps_);
  trouble_ = make<resident_trouble>(kind_, place::pinned, trouble_entries);
  job_ = {.orders = orders_.lanes_as<resident_orders>(),
          .present = present_.lanes_as<std::uint32_t>(),
          .parked = parked_.lanes_as<std::uint32_t>(),
          .ordinal = 0,
          .bell_stride = line_bytes / sizeof(std::uint32_t),
          .bells = bells_.lanes_as<std::uint32_t>(),
          .sleeper = &sleeper_,
          .queues = queues_.lanes_as<resident_queue>(),
          .counts = counts_.lanes_as<resident_counts>(),
          .served = served_.lanes_as<std::uint16_t>(),
          .reach = reach_.lanes_as<reach_extent>(),
          .trouble = trouble_.lanes_as<resident_trouble>(),
          .media = options.media,
          .bounds = {},
          .dice = controller::fault_dice(options.faults),
          .times = options.times,
          .turns = turns_.lanes_as<region_turns>(),
          .regions = regions_of(options),
          .region_shift = options.region_bytes == 0 ? 0 : log2_exact(options.region_bytes),
          .clock = clock_.lanes_as<std::uint64_t>()};
  with_kernel([&](auto kernel) { lane::preload<decltype(kernel)>(*aside_); });
  if (kind_ == backend::cuda) on_->join(*this);
}

residents::~residents() {
  if (kind_ == backend::cuda) on_->part(*this);
  if (running_ == nullptr) return;
  order(offsetof(resident_orders, stop), 1);
  try {
    running_->wait();
  } catch (const error&) {
    // The device is lost, and the residents with it.
  }
}

service residents::how() const {
  if (options_.times.any || options_.faults.any()) return service::timed;
  return job_.regions > 1 ? service::by_region : service::at_once;
}

template <class Act>
void residents::with_kernel(Act&& act) const {
  switch (how()) {
    case service::timed:
      return act(resident_kernel<service::timed>{job_});
    case service::by_region:
      return act(resident_kernel<service::by_region>{job_});
    case service::at_once:
      return act(resident_kernel<service::at_once>{job_});
  }
}

void residents::begin() {
  const std::lock_guard lock(mutex_);
  order(offsetof(resident_orders, stop), 0);
  start();
  const auto words = present_.host_as<std::uint32_t>().first(blocks_);
  const auto all_here = [&] {
    return std::all_of(words.begin(), words.end(), [&](std::uint32_t& word) {
      return lane::on_system(word).load(lane::acquire) == ordinal_;
    });
  };
  for (const auto end = std::chrono::steady_clock::now() + patience; !all_here();) {
    std::this_thread::yield();
    if (std::chrono::steady_clock::now() < end) continue;
    throw error(error_kind::unavailable,
                "the emulated drive waits for " + std::to_string(blocks_) + " free SMs of the GPU",
                "end what else runs there, or give it fewer: sms=");
  }
}

void residents::start() {
  job_.ordinal = ++ordinal_;
  std::ranges::fill(parked_.host_as<std::uint32_t>(), 0U);
  const std::uint32_t lanes = kind_ == backend::cuda ? resident_kernel<service::at_once>::block_lanes : 32;
  with_kernel([&](auto kernel) { running_ = lane::start(*aside_, {blocks_, lanes}, kernel); });
}

std::uint32_t* residents::stop_word() const { return &orders_.lanes_as<resident_orders>()->stop; }

void residents::end() {
  // Not under the lock: whoever parks them notices that they have left.
  lane::running_launch* last = nullptr;
  {
    const std::lock_guard lock(mutex_);
    last = running_.get();
  }
  if (last == nullptr) return;
  last->wait();
  const std::lock_guard lock(mutex_);
  running_.reset();
}

void residents::order(std::size_t offset, std::uint32_t value) {
  if (kind_ == backend::cuda) return poke(orders_.view(), offset, value);
  // As a doorbell: it wakes a thread that sleeps.
  lane::ring({reinterpret_cast<std::uint32_t*>(orders_.host() + offset), &sleeper_}, value);
}

void residents::while_parked(const std::function<void()>& change) {
  const std::lock_guard lock(mutex_);
  if (!is_here()) return change();
  order(offsetof(resident_orders, park), ++park_);
  await_parked(park_);
  change();
  order(offsetof(resident_orders, park), ++park_);
}

void residents::await_parked(std::uint32_t order) const {
  const auto words = parked_.host_as<std::uint32_t>().first(warps_);
  const auto obeyed = [order](std::uint32_t& word) {
    // Acquire pairs with the residents' answers: their queues' states are in memory.
    const std::uint32_t now = lane::on_system(word).load(lane::acquire);
    return now == order || now == left;
  };
  while (!std::all_of(words.begin(), words.end(), obeyed)) {
    if (running_->finished()) return;
    std::this_thread::yield();
  }
}

bool residents::reaches(bus_address at, std::uint64_t bytes) const {
  const std::lock_guard lock(mutex_);
  return lanes_of(at, bytes) != nullptr;
}

std::byte* residents::lanes_of(bus_address at, std::uint64_t bytes) const {
  for (const reach_extent& extent : merged_)
    if (extent.holds(at.value, bytes)) return extent.of(at.value);
  return nullptr;
}

void residents::map(bus_address at, const memory::region& bytes) {
  if (bytes.on != kind_ || bytes.lanes == nullptr) return;  // the host's own: no lane reaches it
  if (mappings_.size() >= most_extents)
    throw error(error_kind::unavailable,
                "an emulated drive reaches at most " + std::to_string(most_extents) + " regions of memory");
  while_parked([&] {
    const mapping given{{at.value, at.value + bytes.bytes, bytes.lanes}};
    std::erase(mappings_, given);
    mappings_.insert(std::ranges::upper_bound(mappings_, given.where.begin, {},
                                              [](const mapping& m) { return m.where.begin; }),
                     given);
    write_reach();
  });
}

void residents::unmap(bus_address at, std::uint64_t bytes) {
  while_parked([&] {
    std::erase(mappings_, mapping{{at.value, at.value + bytes, nullptr}});
    write_reach();
  });
}

void residents::write_reach() {
  merged_.clear();
  for (const mapping& each : mappings_) {
    const reach_extent& next = each.where;
    if (merged_.empty() || next.begin > merged_.back().end || merged_.back().of(next.begin) != next.lanes)
      merged_.push_back(next);
    else
      merged_.back().end = std::max(merged_.back().end, next.end);
  }
  // The table ends in empty extents: a resident's note of where memory lay may be out of date.
  std::vector<reach_extent> table = merged_;
  table.resize(std::max(table.size(), written_extents_));
  written_extents_ = merged_.size();
  memory::copy_in(reach_.view(), 0, std::as_bytes(std::span(table)));
  poke(orders_.view(), offsetof(resident_orders, extents), static_cast<std::uint32_t>(merged_.size()));
}

void residents::write_served() {
  memory::copy_in(served_.view(), 0, std::as_bytes(std::span(identifiers_)));
  poke(orders_.view(), offsetof(resident_orders, queues), static_cast<std::uint32_t>(identifiers_.size()));
  // Another number of voters: the vote begins anew, with a turn for which nobody has voted.
  poke(turns_.view(), offsetof(region_turns, votes), std::uint32_t{0});
  poke(turns_.view(), offsetof(region_turns, turn),
       peek<std::uint32_t>(turns_.view(), offsetof(region_turns, turn)) + 2);
}

void residents::adopt(const controller::queue_in_service& queue) {
  // Kept for the identifier's next queue, and not made while residents are parked: memory that is given back
  // waits for the device.
  const std::uint32_t places = std::bit_ceil(queue.completion_entries);
  memory::buffer& owed = late_[queue.id];
  if (how() == service::timed && owed.size() < places * sizeof(late_answer))
    owed = make<late_answer>(kind_, memory::place::device, places);
  if (how() == service::by_region && owed.size() < region_shelf::bytes(places, job_.regions))
    owed = {kind_, memory::place::device, region_shelf::bytes(places, job_.regions)};
  while_parked([&] {
    const std::byte* submissions =
        lanes_of(queue.submissions, std::uint64_t{queue.entries} * sizeof(nvme::submission_entry));
    std::byte* completions =
        lanes_of(queue.completions, std::uint64_t{queue.completion_entries} * sizeof(nvme::completion_entry));
    resident_queue made{};
    made.submissions = reinterpret_cast<const nvme::submission_entry*>(submissions);
    made.completions = reinterpret_cast<nvme::completion_entry*>(completions);
    made.late = owed.lanes_as<late_answer>();
    made.shelf = owed.lanes();
    made.shelf_mask = places - 1;
    if (how() == service::by_region) clear_shelf(owed, places);
    made.seen = queue.seen;
    made.id = queue.id;
    made.size = queue.entries;
    made.completion_size = queue.completion_entries;
    made.page = job_.bounds.page;
    made.phase = 1;
    write_at(queues_, queue.id, made);
    for (const std::uint32_t index :
         {nvme::submission_doorbell(queue.id), nvme::completion_doorbell(queue.id)})
      poke(bells_.view(), std::size_t{index} * line_bytes, std::uint32_t{0});
    identifiers_.insert(std::ranges::upper_bound(identifiers_, queue.id), queue.id);
    write_served();
  });
  if (kind_ == backend::cpu) {
    const std::lock_guard lock(mutex_);
    if (running_ == nullptr) start();
  }
}

/// Nothing on it, all places spare.
void residents::clear_shelf(const memory::buffer& shelf, std::uint32_t places) const {
  const std::size_t spare_at = region_shelf::spare_at(places, job_.regions);
  std::vector<std::byte> bytes(spare_at + places * sizeof(std::uint16_t));
  for (std::uint32_t i = 0; i < places; ++i) {
    const auto place = static_cast<std::uint16_t>(i);
    std::memcpy(bytes.data() + spare_at + i * sizeof place, &place, sizeof place);
  }
  memory::copy_in(shelf.view(), 0, bytes);
}

std::uint64_t residents::retire(std::uint16_t id) {
  std::uint64_t seen = 0;
  while_parked([&] {
    seen = read_at<resident_queue>(queues_, id).seen;
    std::erase(identifiers_, id);
    write_served();
  });
  return seen;
}

lane::doorbell residents::doorbell(std::uint32_t index) {
  return {reinterpret_cast<std::uint32_t*>(bells_.lanes() + std::size_t{index} * line_bytes),
          kind_ == backend::cpu ? &sleeper_ : nullptr, true};
}

/// What may change, the size of a page, is each queue's own.
void residents::set_limits(const controller::limits& bounds) {
  const std::lock_guard lock(mutex_);
  job_.bounds = bounds;
}

void residents::report(controller::event_log& to) {
  const auto entries = trouble_.host_as<resident_trouble>();
  const std::uint32_t before = told_;
  for (;; ++told_) {
    resident_trouble& entry = entries[told_ % trouble_entries];
    if (lane::on_system(entry.number).load(lane::acquire) != told_ + 1) break;
    if (entry.code == 0)
      to.raise(nvme::error_event::invalid_doorbell_value);
    else
      to.record(entry.queue, entry.command, status::from_bits(entry.code), entry.block, entry.nsid);
  }
  if (told_ != before) poke(orders_.view(), offsetof(resident_orders, told), told_);
}

controller::served_counts residents::counts() const {
  std::array<std::uint64_t, resident_counts::kinds> sums{};
  std::vector<resident_counts> copies;
  if (counts_.host() == nullptr) {
    copies.resize(options_.max_queues + 1);
    memory::copy_out(counts_.view(), 0, std::as_writable_bytes(std::span(copies)));
  }
  for (std::size_t id = 0; id <= options_.max_queues; ++id)
    for (std::size_t kind = 0; kind < sums.size(); ++kind)
      sums[kind] += copies.empty() ? peek<std::uint64_t>(counts_.view(), id * sizeof(resident_counts) +
                                                                             kind * sizeof(std::uint64_t))
                                   : copies[id].of[kind];
  using kind = resident_counts;
  return {.io = {.served = sums[kind::served],
                 .dropped = sums[kind::dropped],
                 .failed = sums[kind::failed],
                 .bytes_read = sums[kind::bytes_read],
                 .bytes_written = sums[kind::bytes_written]},
          .reads = sums[kind::reads],
          .writes = sums[kind::writes],
          .media_errors = sums[kind::media_errors]};
}

}  // namespace sluice::emulator
