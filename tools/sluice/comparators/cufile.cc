// The comparator cufile: CPU threads have NVIDIA's library read blocks of files into GPU memory, and lanes
// look at them batch by batch.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/cufile_library.h"
#include "tools/sluice/comparators/gpu_room.h"
#include "tools/sluice/comparators/source.h"

namespace sluice::tool {

namespace {

/// Each thread reads its share of a batch, one block at a time, as the library's calls have it.
class cufile_comparison {
 public:
  explicit cufile_comparison(const comparison& what)
      : what_(what), file_(what.source.file(what.block_bytes)), lanes_(what) {
    constexpr std::uint64_t batch_bytes = 16 * MiB, most_blocks = 4096;
    count_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        batch_bytes / what.block_bytes, 1, std::min(most_blocks, what.order.blocks())));
    batch_ = memory::buffer(what.on.kind(), memory::place::device, std::size_t{count_} * what.block_bytes);
    // cuFile opens files for itself, by the paths of their descriptors.
    const auto named = file_.is_scratch() ? file_.open_by_name() : nullptr;
    for (const int fd : file_.descriptors()) handles_.push_back(library_.take(fd));
  }
  cufile_comparison(const cufile_comparison&) = delete;
  cufile_comparison& operator=(const cufile_comparison&) = delete;
  ~cufile_comparison() {
    for (const cufile_library::handle each : handles_) library_.give_back(each);
  }

  comparison_result run() {
    comparison_result result =
        two_passes(what_, lanes_, [this](const block_pass& each) { return one_pass(each); });
    result.say("mode", library_.mode());
    result.say("source", std::string(file_.is_scratch() ? "scratch file" : "the drives' files"));
    result.say("direct", file_.direct());
    result.say("threads", threads_);
    return result;
  }

 private:
  double one_pass(const block_pass& how) {
    const auto began = std::chrono::steady_clock::now();
    double passed = 0;
    for (std::uint64_t done = 0; done < how.count && !what_.stop() && (done == 0 || passed < how.seconds);
         done += count_) {
      fill(done);
      lanes_.look(
          {.data = batch_.lanes(), .on_device = true, .first = done, .count = count_, .check = how.check});
      passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    return passed;
  }

  void fill(std::uint64_t first) {
    std::atomic<bool> failed{false};
    std::vector<std::thread> readers;
    for (unsigned t = 0; t < threads_; ++t)
      readers.emplace_back([this, t, first, &failed] {
        use_gpu();
        for (std::uint32_t i = t; i < count_ && !failed; i += threads_)
          if (!read(first + i, batch_.lanes() + std::size_t{i} * what_.block_bytes)) failed = true;
      });
    for (std::thread& reader : readers) reader.join();
    if (failed) throw error(error_kind::unavailable, "cuFile failed to read a block");
  }

  bool read(std::uint64_t n, std::byte* to) const {
    const std::uint64_t byte = what_.order.at(n) * what_.block_bytes;
    return library_.read(handles_[byte / file_.each()], to, what_.block_bytes,
                         static_cast<off_t>(file_.at(byte).offset)) ==
           static_cast<ssize_t>(what_.block_bytes);
  }

  const comparison& what_;
  const cufile_library& library_ = cufile_library::get();
  source_file& file_;
  block_lanes lanes_;
  unsigned threads_ = std::clamp(std::thread::hardware_concurrency() / 2, 1U, 8U);
  std::uint32_t count_ = 1;
  memory::buffer batch_;
  std::vector<cufile_library::handle> handles_;
};

}  // namespace

comparison_result run_cufile(const comparison& what) {
  if (what.on.kind() == backend::cpu)
    throw error(error_kind::unavailable, "cuFile reads into GPU memory: the CPU backend has none");
  return cufile_comparison(what).run();
}

}  // namespace sluice::tool
