// The comparator cpu-io_uring: CPU threads read blocks of files into pinned memory, and lanes take them from
// there batch by batch.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sluice/memory/buffer.h"
#include "tools/sluice/comparators/block_lanes.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/device_time.h"
#include "tools/sluice/comparators/file_ring.h"
#include "tools/sluice/comparators/source.h"

namespace sluice::tool {

namespace {

using uring_clock = std::chrono::steady_clock;

/// Of a thread: while lanes look at one of its batches, it reads another.
constexpr std::uint32_t batches_a_thread = 3;
constexpr unsigned uring_depth = 64;

unsigned reader_threads() { return std::clamp(std::thread::hardware_concurrency() / 2, 1U, 8U); }

/// Batches on their way from the threads that read to the lanes, and buffers on their way back.
class batch_exchange {
 public:
  struct full {
    std::uint32_t reader, buffer;
    std::uint64_t first;
  };

  explicit batch_exchange(unsigned readers) : free_(readers, all_free()) {}

  /// A buffer that reader `which` may fill, or none where it is to end.
  bool take_free(std::uint32_t which, std::uint32_t& buffer) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return over_ || !free_[which].empty(); });
    if (over_) return false;
    buffer = free_[which].front();
    free_[which].pop_front();
    return true;
  }
  void give_full(const full& batch) {
    const std::lock_guard lock(guard_);
    full_.push_back(batch);
    changed_.notify_all();
  }
  /// A batch for the lanes, or none for a while. Throws what a reader threw.
  bool take_full(full& batch) {
    std::unique_lock lock(guard_);
    changed_.wait_for(lock, std::chrono::milliseconds(5), [&] { return failure_ || !full_.empty(); });
    if (failure_) std::rethrow_exception(failure_);
    if (full_.empty()) return false;
    batch = full_.front();
    full_.pop_front();
    return true;
  }
  void give_free(const full& batch) {
    const std::lock_guard lock(guard_);
    free_[batch.reader].push_back(batch.buffer);
    changed_.notify_all();
  }
  void fail(std::exception_ptr why) {
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::move(why);
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(guard_);
    over_ = true;
    changed_.notify_all();
  }

 private:
  static std::deque<std::uint32_t> all_free() {
    std::deque<std::uint32_t> all;
    for (std::uint32_t i = 0; i < batches_a_thread; ++i) all.push_back(i);
    return all;
  }

  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::deque<std::uint32_t>> free_;
  std::deque<full> full_;
  std::exception_ptr failure_;
  bool over_ = false;
};

class uring_comparison {
 public:
  explicit uring_comparison(const comparison& what)
      : what_(what), file_(what.source.file(what.block_bytes)), lanes_(what) {
    constexpr std::uint64_t batch_bytes = 2 * MiB;
    count_ = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(batch_bytes / what.block_bytes, 1, what.order.blocks()));
    for (unsigned t = 0; t < reader_threads(); ++t) {
      memory_.emplace_back(what.on.kind(), memory::place::pinned, batches_a_thread * batch_size());
      rings_.push_back(std::make_unique<file_ring>(uring_depth, memory_.back().host_as<std::byte>()));
    }
  }

  comparison_result run() {
    comparison_result result =
        two_passes(what_, lanes_, [this](const block_pass& each) { return one_pass(each); });
    result.say("source", std::string(file_.is_scratch() ? "scratch file" : "the drives' files"));
    result.say("direct", file_.direct());
    result.say("registered", rings_.front()->is_registered());
    result.say("threads", rings_.size());
    result.say("depth", uring_depth);
    measure_alone(result);
    add_tally(result, lanes_.take_tally(), false);
    return result;
  }

 private:
  std::size_t batch_size() const { return std::size_t{count_} * what_.block_bytes; }
  std::size_t place(std::uint32_t buffer) const { return buffer * batch_size(); }

  /// Reads `count` blocks from the first-th on.
  void fill(std::uint32_t reader, std::uint32_t buffer, std::uint64_t first, std::uint32_t count) {
    std::vector<file_read> reads;
    std::byte* to = memory_[reader].host() + place(buffer);
    for (std::uint32_t i = 0; i < count; ++i, to += what_.block_bytes)
      reads.push_back({file_.at(what_.order.at(first + i) * what_.block_bytes), to});
    rings_[reader]->read(reads, what_.block_bytes);
  }

  /// What one thread does: every `threads`-th batch, until the exchange ends.
  void read_batches(std::uint32_t reader, batch_exchange& exchange) {
    try {
      std::uint32_t buffer = 0;
      for (std::uint64_t n = reader; exchange.take_free(reader, buffer); n += rings_.size()) {
        fill(reader, buffer, n * count_, count_);
        exchange.give_full({reader, buffer, n * count_});
      }
    } catch (...) {
      exchange.fail(std::current_exception());
    }
  }

  /// Seconds that it took. Batches that are read and not looked at do not count.
  double one_pass(const block_pass& how) {
    batch_exchange exchange(static_cast<unsigned>(rings_.size()));
    std::vector<std::thread> readers;
    const auto began = uring_clock::now();
    const auto end_readers = [&] {
      exchange.end();
      for (std::thread& reader : readers) reader.join();
    };
    for (std::uint32_t t = 0; t < rings_.size(); ++t)
      readers.emplace_back([this, t, &exchange] { read_batches(t, exchange); });
    double passed = 0;
    try {
      for (std::uint64_t done = 0;
           done < how.count && !what_.stop() && (done == 0 || passed < how.seconds);) {
        batch_exchange::full batch{};
        if (!exchange.take_full(batch)) continue;
        lanes_.look({.data = memory_[batch.reader].lanes() + place(batch.buffer),
                     .on_device = false,
                     .first = batch.first,
                     .count = count_,
                     .check = how.check});
        exchange.give_free(batch);
        done += count_;
        passed = std::chrono::duration<double>(uring_clock::now() - began).count();
      }
    } catch (...) {
      end_readers();
      throw;
    }
    end_readers();
    return passed;
  }

  /// One block after the other, each from its read to the end of the kernel that looks at it: what a program
  /// waits for, and how much of that is not the device.
  void measure_alone(comparison_result& result) {
    constexpr double for_seconds = 1;
    constexpr std::uint64_t most = 100'000;
    const device_time device(file_.descriptors().front());
    const device_reads before = device.now();
    const auto began = uring_clock::now();
    double passed = 0;
    std::uint64_t done = 0;
    for (; done < most && (done == 0 || passed < std::min(for_seconds, what_.seconds)) && !what_.stop();
         ++done) {
      const std::uint64_t n = done * what_.order.drives;  // all on the first drive, whose device is watched
      fill(0, 0, n, 1);
      lanes_.look({.data = memory_[0].lanes(), .on_device = false, .first = n, .count = 1});
      passed = std::chrono::duration<double>(uring_clock::now() - began).count();
    }
    if (done == 0) return;
    const double alone_us = passed / static_cast<double>(done) * 1e6;
    result.say("latency_us", alone_us);
    const device_reads after = device.now();
    say_share(result, device, {after.reads - before.reads, after.ticks_ms - before.ticks_ms}, done, alone_us);
  }

  void say_share(comparison_result& result, const device_time& device, const device_reads& of_device,
                 std::uint64_t done, double alone_us) const {
    std::string why = device.unknown();
    if (why.empty() && !file_.direct()) why = "reads came from the page cache";
    if (why.empty() && of_device.reads < done / 2) why = "the device was not asked for every block";
    if (!why.empty()) {
      result.say("software_share", nullptr);
      result.say("software_share_why", why);
      return;
    }
    const double device_us =
        static_cast<double>(of_device.ticks_ms) / static_cast<double>(of_device.reads) * 1e3;
    result.say("device_us", device_us);
    result.say("software_share", std::max(0.0, 1 - device_us / alone_us));
  }

  const comparison& what_;
  source_file& file_;
  block_lanes lanes_;
  std::uint32_t count_ = 1;
  std::vector<memory::buffer> memory_;
  std::vector<std::unique_ptr<file_ring>> rings_;
};

}  // namespace

comparison_result run_cpu_uring(const comparison& what) { return uring_comparison(what).run(); }

}  // namespace sluice::tool
