#include "tools/sluice/drive_probe.h"

#include <array>
#include <cstdint>
#include <span>

#include "sluice/base/error.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/bytes.h"
#include "sluice/lane/doorbell.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/wait.h"
#include "sluice/memory/buffer.h"
#include "sluice/nvme/command.h"
#include "sluice/queue/prp_table.h"

namespace sluice::tool {

namespace {

constexpr std::uint32_t depth = 4;
constexpr std::uint32_t page = 4096;
constexpr std::uint64_t most_ns = 20'000'000, patience_ns = 2'000'000'000;

struct probe_sums {
  std::uint64_t ns;
  std::uint64_t commands;
  std::uint64_t failed;
};

/// A host in the plainest way: one entry, one ring, one look after the other.
struct probe_kernel {
  nvme::submission_entry* submissions;
  nvme::completion_entry* completions;
  lane::doorbell tail, head;
  nvme::submission_entry command;
  probe_sums* sums;

  SLUICE_HD void operator()() const {
    if (lane::grid_index() != 0) return;
    probe_sums mine{};
    const std::uint64_t begun = lane::clock_ns();
    for (std::uint64_t n = 0; mine.failed == 0 && lane::clock_ns() - begun < most_ns; ++n) one(n, mine);
    *sums = mine;
  }

  SLUICE_HD void one(std::uint64_t n, probe_sums& mine) const {
    const auto at = static_cast<std::uint32_t>(n % depth);
    const std::uint32_t phase = n / depth % 2 == 0 ? 1 : 0;
    lane::store_wide(submissions[at], command);
    const std::uint64_t rung = lane::clock_ns();
    lane::ring(tail, (at + 1) % depth);
    std::uint32_t seen = 0;
    std::uint64_t now = 0;
    do {
      seen = lane::on_system(completions[at].tail).load(lane::acquire);
      now = lane::clock_ns();
      lane::pause(0);
    } while ((seen >> 16 & 1U) != phase && now - rung < patience_ns);
    lane::ring(head, (at + 1) % depth);
    if ((seen >> 16) != phase) {  // no answer, or one with an error
      ++mine.failed;
      return;
    }
    mine.ns += now - rung;
    ++mine.commands;
  }
};

/// Memory that a drive reaches for as long as this lives.
class mapped {
 public:
  mapped(drive::drive& of, backend lanes, std::size_t bytes)
      : drive_(of), bytes_(lanes, of.reachable_place(lanes), bytes), at_(of.map(bytes_.view())) {}
  ~mapped() {
    try {
      drive_.unmap(bytes_.view());
    } catch (const error&) {
      // The drive is gone; whoever asks it for something is told.
    }
  }
  mapped(const mapped&) = delete;
  mapped& operator=(const mapped&) = delete;
  bus_address at() const { return at_; }
  std::byte* lanes() const { return bytes_.lanes(); }

 private:
  drive::drive& drive_;
  memory::buffer bytes_;
  bus_address at_;
};

}  // namespace

double lone_latency_us(lane::machine& on, drive::drive& of, std::uint32_t block_bytes) {
  const backend lanes = on.kind();
  const mapped rings(of, lanes, 2 * page), data(of, lanes, block_bytes);
  const queue::prp_table prps(of, lanes, data.at(), block_bytes, 1);
  const memory::buffer sums(lanes, memory::place::device, sizeof(probe_sums));
  const drive::queue_grant queue = of.create_queue({rings.at(), rings.at() + page, depth}, lanes);
  const queue::prp_pair where = prps.ref().of(0, block_bytes);
  const std::uint32_t blocks = block_bytes / of.info().block_size;
  lane::launch(on, {1, 32},
               probe_kernel{reinterpret_cast<nvme::submission_entry*>(rings.lanes()),
                            reinterpret_cast<nvme::completion_entry*>(rings.lanes() + page),
                            queue.submission_tail, queue.completion_head,
                            nvme::block_command(nvme::opcode::read, 0, of.info().nsid, {0}, blocks,
                                                where.first, where.second),
                            sums.lanes_as<probe_sums>()});
  of.delete_queue(queue.id);
  probe_sums got{};
  memory::copy_out(sums.view(), 0, std::as_writable_bytes(std::span(&got, 1)));
  if (got.failed != 0 || got.commands == 0) return 0;
  return static_cast<double>(got.ns) / static_cast<double>(got.commands) / 1e3;
}

}  // namespace sluice::tool
