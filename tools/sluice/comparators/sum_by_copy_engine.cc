// The comparator copy-engine of the addition: tiles of A and B are copied to lanes' memory while others are
// added up, and sums are copied back beside both.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sluice/base/types.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/copy_line.h"
#include "tools/sluice/comparators/plain_sum.h"
#include "tools/sluice/comparators/sum_comparator.h"

namespace sluice::tool {

namespace {

/// Of one vector: large enough that a copy costs more than its start.
constexpr std::uint64_t sum_tile_bytes = 16 * MiB;

class tiled_sum {
 public:
  tiled_sum(const sum_comparison& what, const sum_memory& memory)
      : what_(what),
        memory_(memory),
        bytes_each_(what.elements() * vector_add::element_bytes(what.element())),
        in_(open_copy_line(what.on().kind(), tiles_.size())),
        out_(open_copy_line(what.on().kind(), 0)) {
    const std::uint64_t bytes = std::min(sum_tile_bytes, align_up(bytes_each_, 16));
    for (tile& each : tiles_)
      for (memory::buffer* part : {&each.a, &each.b, &each.c})
        *part = memory::buffer(what.on().kind(), memory::place::device, bytes);
  }

  /// Seconds that it took, from the first copy's start to the last one's end.
  double run() {
    const auto began = std::chrono::steady_clock::now();
    std::size_t nth = 0;
    for (std::uint64_t at = 0; at < bytes_each_ && !what_.stop(); at += sum_tile_bytes, ++nth) {
      bring(nth % tiles_.size(), at);
      out_->wait();  // until the tile's own sums of last time are out
      add(nth % tiles_.size());
      take(tiles_[(nth + 1) % tiles_.size()]);  // what was added up before this one
    }
    take(tiles_[(nth + 1) % tiles_.size()]);
    out_->wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

 private:
  struct tile {
    memory::buffer a, b, c;
    std::uint64_t at = 0, bytes = 0;
    std::unique_ptr<lane::running_launch> under_way;
  };

  /// The tile before this one in the ring has been added up: nobody reads A or B here.
  void bring(std::size_t which, std::uint64_t at) {
    tile& here = tiles_[which];
    here.at = at;
    here.bytes = std::min(sum_tile_bytes, bytes_each_ - at);
    in_->copy(here.a.lanes(), memory_.host_a() + at, here.bytes);
    in_->copy(here.b.lanes(), memory_.host_b() + at, here.bytes);
    in_->mark(which);
    in_->hold(what_.on(), which);
  }
  void add(std::size_t which) {
    tile& here = tiles_[which];
    here.under_way = start_plain_sum(what_.on(), what_.element(),
                                     {here.a.lanes(), here.b.lanes(), here.c.lanes(),
                                      here.bytes / vector_add::element_bytes(what_.element())});
  }
  /// Waits for the sums, and starts to copy them out.
  void take(tile& from) {
    if (!from.under_way) return;
    from.under_way->wait();
    from.under_way.reset();
    out_->copy(memory_.host_c() + from.at, from.c.lanes(), from.bytes);
  }

  const sum_comparison& what_;
  const sum_memory& memory_;
  std::uint64_t bytes_each_;
  std::array<tile, 2> tiles_;
  std::unique_ptr<copy_line> in_, out_;
};

}  // namespace

sum_times sum_by_copy_engine(sum_comparison& what) {
  sum_memory& memory = what.pinned();
  tiled_sum tiles(what, memory);
  tiles.run();  // makes what is made at a first copy
  return each_trial(what, memory, "copy-engine", [&] { return tiles.run(); });
}

}  // namespace sluice::tool
