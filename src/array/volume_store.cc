#include "sluice/array/volume_store.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <string>

#include "sluice/base/error.h"

namespace sluice {

namespace {

std::uint32_t granted(std::uint32_t wanted, std::uint32_t most) {
  return std::max(1U, std::min(wanted, most));
}

}  // namespace

volume_store::volume_store(const drive::volume& on, std::vector<drive::drive*> drives, backend lanes,
                           std::uint64_t first_byte, std::uint64_t bytes, const store_options& options)
    : lanes_(lanes), drives_(std::move(drives)) {
  check(on, first_byte, options);
  std::uint32_t command_bytes = options.page_bytes;
  depth_ = std::bit_floor(options.depth);
  for (const drive::drive* one : drives_) {
    command_bytes = std::min(command_bytes, std::bit_floor(one->info().max_transfer));
    depth_ = std::min(depth_, std::bit_floor(one->info().max_depth));
  }
  for (drive::drive* one : drives_) {
    before_.push_back(one->counters());
    queues_.push_back(std::make_unique<queue::queue_set>(
        *one, lanes, granted(options.queues, one->info().max_queues),
        queue::queue_options{.depth = depth_,
                             .transfer_bytes = command_bytes,
                             .deadline = std::chrono::milliseconds(one->info().deadline_ms)}));
  }
  shared_ = memory::buffer(lanes, memory::place::device, sizeof(store_words));
  table_ = memory::buffer(lanes, memory::place::device, drives_.size() * sizeof(drive_port));

  const drive::volume_ref volume = on.ref();
  ref_.mirror_ = mirror_ref(volume, static_cast<std::uint32_t>(std::popcount(volume.live())),
                            options.page_bytes / command_bytes, &shared_.lanes_as<store_words>()->mirror);
  ref_.first_byte_ = first_byte;
  ref_.pages_ = divide_up(bytes, options.page_bytes);
  ref_.drives_ = table_.lanes_as<drive_port>();
  ref_.words_ = shared_.lanes_as<store_words>();
  ref_.writable_ = on.is_writable() && std::all_of(drives_.begin(), drives_.end(),
                                                   [](const auto* one) { return one->info().writable; });
  ref_.drive_count_ = static_cast<std::uint32_t>(drives_.size());
  ref_.command_shift_ = log2_exact(command_bytes);
  ref_.page_shift_ = log2_exact(options.page_bytes);
  ref_.block_shift_ = log2_exact(on.block_size());
}

void volume_store::check(const drive::volume& on, std::uint64_t first_byte,
                         const store_options& options) const {
  const bool fits = is_power_of_two(options.page_bytes) && options.page_bytes >= on.block_size() &&
                    options.page_bytes <= drive::largest_page;
  if (!fits)
    throw error(error_kind::bad_input,
                "pages of " + std::to_string(options.page_bytes) + " bytes are not to be had",
                "use a power of two from " + std::to_string(on.block_size()) + " to " +
                    std::to_string(drive::largest_page));
  if (first_byte % options.page_bytes != 0 || options.depth < 2 || options.queues == 0)
    throw error(error_kind::bad_input,
                "a store needs data that begin on a page, a queue, and a depth of 2 or more");
}

volume_store::~volume_store() {
  queues_.clear();  // first: ends all DMA into the frames
  prps_.clear();
  for (drive::drive* one : drives_) {
    try {
      if (frames_.bytes > 0 && one->reaches_frames(lanes_)) one->unmap(frames_);
    } catch (const error&) {
      // The drive's mappings end with the drive.
    }
  }
}

void volume_store::attach_frames(const memory::region& frames) {
  frames_ = frames;
  const std::uint32_t command_bytes = std::uint32_t{1} << ref_.command_shift_;
  std::vector<drive_port> ports;
  for (std::size_t i = 0; i < drives_.size(); ++i) {
    const queue::queue_set_ref set = queues_[i]->ref();
    drive_port port{
        .queues = set.queues, .queue_count = set.count, .command_bytes = command_bytes, .frames = {}};
    if (drives_[i]->reaches_frames(lanes_)) {
      prps_.emplace_back(*drives_[i], lanes_, drives_[i]->map(frames), command_bytes,
                         frames.bytes / command_bytes);
      port.frames = prps_.back().ref();
    }
    ports.push_back(port);
  }
  memory::copy_in(table_.view(), 0, std::as_bytes(std::span(ports)));
  ref_.frames_ = frames.lanes;
}

std::uint64_t volume_store::lost_replicas() const {
  if (ref_.sources() == 1) return 0;
  std::uint64_t lost = 0;
  memory::copy_out(shared_.view(), offsetof(store_words, mirror.lost),
                   std::as_writable_bytes(std::span(&lost, 1)));
  return lost;
}

void volume_store::leave_out(std::uint64_t replicas) {
  if (ref_.sources() == 1 || replicas == left_out_) return;
  left_out_ = replicas;
  memory::copy_in(shared_.view(), offsetof(store_words, mirror.left_out),
                  std::as_bytes(std::span(&left_out_, 1)));
}

io_counts volume_store::counts() const {
  io_counts sum;
  for (std::size_t i = 0; i < drives_.size(); ++i) {
    const drive::drive_counters now = drives_[i]->counters();
    sum.issued += queues_[i]->issued();
    sum.queues_lost += queues_[i]->losses();
    sum.served += now.served - before_[i].served;
    sum.dropped += now.dropped - before_[i].dropped;
  }
  return sum;
}

std::uint32_t volume_store::queues() const {
  std::uint32_t sum = 0;
  for (const auto& set : queues_) sum += set->ref().count;
  return sum;
}

}  // namespace sluice
