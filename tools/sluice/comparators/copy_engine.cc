// The comparator copy-engine: the CPU has the GPU's copy engine bring blocks into one tile while lanes look
// at the other.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/copy_line.h"
#include "tools/sluice/comparators/source.h"
#include "tools/sluice/process_time.h"

namespace sluice::tool {

namespace {

enum class copy_call : std::uint8_t { each, batch };

/// Two tiles that take turns: copies fill one, lanes look at the other.
class copy_tiles {
 public:
  explicit copy_tiles(const comparison& what)
      : what_(what), lanes_(what), line_(open_copy_line(what.on.kind(), tiles_.size())) {
    constexpr std::uint64_t tile_bytes = 8 * MiB;
    const std::uint64_t blocks =
        std::clamp<std::uint64_t>(tile_bytes / what.block_bytes, 1, what.order.blocks());
    count_ = static_cast<std::uint32_t>(blocks);
    for (tile& each : tiles_)
      each.data = memory::buffer(what.on.kind(), memory::place::device, blocks * what.block_bytes);
  }

  struct pace {
    std::uint64_t blocks = 0;
    double seconds = 0;
    double rate() const { return seconds > 0 ? static_cast<double>(blocks) / seconds : 0; }
  };

  /// Fills tile after tile, `most` at most. Nothing where the machine has no such call.
  pace run(copy_call call, io_check check, double seconds, std::uint64_t most) {
    const auto began = std::chrono::steady_clock::now();
    const auto passed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    };
    std::uint64_t filled = 0;
    while (filled < most && !what_.stop() && (filled == 0 || passed() < seconds)) {
      const std::size_t which = filled % tiles_.size();
      tile& next = tiles_[which];
      finish(next);
      if (!fill(next, filled * count_, call)) return {};
      line_->mark(which);
      line_->hold(what_.on, which);
      next.under_way = lanes_.start({.data = next.data.lanes(),
                                     .on_device = true,
                                     .first = filled * count_,
                                     .count = count_,
                                     .check = check});
      ++filled;
    }
    for (tile& each : tiles_) finish(each);
    return {filled * count_, passed()};
  }
  std::uint32_t blocks_a_tile() const { return count_; }
  block_tally take_tally() { return lanes_.take_tally(); }

 private:
  struct tile {
    memory::buffer data;
    std::unique_ptr<lane::running_launch> under_way;
  };

  static void finish(tile& which) {
    if (which.under_way) which.under_way->wait();
    which.under_way.reset();
  }
  const std::byte* block(std::uint64_t n) const {
    return what_.source.bytes().host() + what_.order.at(n) * what_.block_bytes;
  }
  bool fill(const tile& which, std::uint64_t first, copy_call call) {
    const std::size_t bytes = what_.block_bytes;
    if (call == copy_call::each) {
      for (std::uint32_t i = 0; i < count_; ++i)
        line_->copy(which.data.lanes() + i * bytes, block(first + i), bytes);
      return true;
    }
    to_.clear();
    from_.clear();
    for (std::uint32_t i = 0; i < count_; ++i) {
      to_.push_back(which.data.lanes() + i * bytes);
      from_.push_back(block(first + i));
    }
    return line_->copy_batch(to_, from_, bytes);
  }

  const comparison& what_;
  block_lanes lanes_;
  std::uint32_t count_ = 0;
  std::array<tile, 2> tiles_;
  std::vector<std::byte*> to_;
  std::vector<const std::byte*> from_;
  std::unique_ptr<copy_line> line_;
};

}  // namespace

comparison_result run_copy_engine(const comparison& what) {
  constexpr std::uint64_t no_end = ~std::uint64_t{0};
  comparison_result result;
  copy_tiles tiles(what);
  const block_pass whole = block_pass::every_byte(what);
  tiles.run(copy_call::each, whole.check, whole.seconds, whole.count / tiles.blocks_a_tile());
  add_tally(result, tiles.take_tally(), false);
  // Half of the time for each call; the better one stands for the comparator.
  const char* best = "";
  for (const auto& [call, name] :
       {std::pair(copy_call::each, "each"), std::pair(copy_call::batch, "batch")}) {
    const double cpu_before = process_seconds();
    const copy_tiles::pace pace = tiles.run(call, io_check::stamp, what.seconds / 2, no_end);
    const double used = process_seconds() - cpu_before;
    add_tally(result, tiles.take_tally(), false);
    const std::string key = std::string(name) + "_bytes_per_s";
    if (pace.blocks == 0) {
      result.say(key, nullptr);
      continue;
    }
    result.say(key, pace.rate() * what.block_bytes);
    if (pace.rate() <= result.rate()) continue;
    result.blocks = pace.blocks;
    result.seconds = pace.seconds;
    result.cpu_seconds = used;
    best = name;
  }
  result.say("calls", std::string(best));
  return result;
}

}  // namespace sluice::tool
