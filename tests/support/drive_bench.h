// A drive on the test bench: one queue, data memory that the drive reaches, and bytes that tell where they
// belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "sluice/base/bits.h"
#include "sluice/base/types.h"
#include "sluice/drive/drive.h"
#include "sluice/drive/open.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/prp.h"
#include "tests/support/host_queue.h"

namespace sluice::test {

/// Each 8-byte word of a stamped block names its LBA, its place, and a generation: a wrong, stale or torn
/// block shows.
inline std::uint64_t stamp(std::uint64_t block, std::uint64_t word, std::uint64_t generation) {
  return mix(block * 0x9e3779b97f4a7c15ULL + word + (generation << 48));
}
inline void stamp_blocks(std::byte* at, std::uint64_t first, std::uint64_t count, std::uint32_t block_size,
                         std::uint64_t generation) {
  for (std::uint64_t i = 0; i < count * (block_size / 8); ++i) {
    const std::uint64_t word = stamp(first + i / (block_size / 8), i % (block_size / 8), generation);
    std::memcpy(at + i * 8, &word, 8);
  }
}
/// Words that are not what stamp_blocks() would have written.
inline std::uint64_t wrong_words(const std::byte* at, std::uint64_t first, std::uint64_t count,
                                 std::uint32_t block_size, std::uint64_t generation) {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < count * (block_size / 8); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i * 8, 8);
    wrong += word != stamp(first + i / (block_size / 8), i % (block_size / 8), generation) ? 1 : 0;
  }
  return wrong;
}

inline drive::open_options to_write(unsigned threads = 1) {
  return {.mode = drive::access::write, .controller_threads = threads};
}

class drive_bench {
 public:
  static constexpr std::size_t data_bytes = 8 << 20;
  static constexpr std::size_t list_bytes = 64 << 10;

  explicit drive_bench(const char* uri, std::uint32_t depth = 64,
                       const drive::open_options& options = to_write())
      : drive_bench(drive::open(uri, options), depth) {}
  explicit drive_bench(std::unique_ptr<drive::drive> on, std::uint32_t depth = 64)
      : drive_(std::move(on)),
        memory_(backend::cpu, drive_->reachable_place(backend::cpu), data_bytes + list_bytes),
        at_(drive_->map(memory_.view())),
        queue_(*drive_, depth) {}

  drive::drive& drive() { return *drive_; }
  host_queue& queue() { return queue_; }
  std::uint32_t block_size() const { return drive_->info().block_size; }
  std::byte* data(std::size_t offset = 0) { return memory_.host() + offset; }
  bus_address address(std::size_t offset = 0) const { return at_ + offset; }

  /// A command that moves `blocks` blocks between LBA `first` and data memory at `offset`.
  nvme::submission_entry block_io(nvme::opcode op, std::uint16_t id, std::uint64_t first,
                                  std::uint32_t blocks, std::size_t offset = 0) {
    // Each command's list has a place of its own, as long as they are few and short.
    const std::size_t list_at = data_bytes + (id % 8U) * (list_bytes / 8);
    const nvme::prp_list_memory list{reinterpret_cast<std::uint64_t*>(memory_.host() + list_at),
                                     at_ + list_at};
    const nvme::prp_pair prps =
        nvme::build_prps(at_ + offset, std::uint64_t{blocks} * block_size(), drive_->info().dma_page, list);
    return nvme::block_command(op, id, drive_->info().nsid, {first}, blocks, prps.first, prps.second);
  }
  status run(const nvme::submission_entry& entry) { return queue_.run(entry).code(); }
  status read(std::uint64_t first, std::uint32_t blocks, std::size_t offset = 0) {
    return run(block_io(nvme::opcode::read, 1, first, blocks, offset));
  }
  status write(std::uint64_t first, std::uint32_t blocks, std::size_t offset = 0) {
    return run(block_io(nvme::opcode::write, 2, first, blocks, offset));
  }

  /// Writes stamped blocks, a transfer at a time.
  status fill(std::uint64_t first, std::uint64_t blocks, std::uint64_t generation = 0) {
    const std::uint64_t most = 65536 / block_size();
    for (std::uint64_t at = 0; at < blocks; at += most) {
      const auto n = static_cast<std::uint32_t>(at + most > blocks ? blocks - at : most);
      stamp_blocks(data(), first + at, n, block_size(), generation);
      if (const status s = write(first + at, n); !s) return s;
    }
    return status::ok;
  }
  std::uint64_t wrong(std::uint64_t first, std::uint64_t blocks, std::uint64_t generation = 0,
                      std::size_t offset = 0) {
    return wrong_words(data(offset), first, blocks, block_size(), generation);
  }

 private:
  std::unique_ptr<drive::drive> drive_;
  memory::buffer memory_;
  bus_address at_;
  host_queue queue_;
};

}  // namespace sluice::test
