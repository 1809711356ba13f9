// A strict NVMe drive for schedule tests: it serves queues one step at a time, notices every breach of the
// protocol, and does the worst that the specification allows.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/drive/drive.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/explore.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/lane/team.h"
#include "sluice/nvme/command.h"

namespace sluice::tests {

/// What block `b` of the model drive holds in each of its 8-byte words.
constexpr std::uint64_t stamp_of(std::uint64_t block) { return mix(block + 1); }

struct model_drive_options {
  std::uint32_t max_depth = 1024;
  std::uint32_t block_size = 512;
  std::uint32_t max_transfer = 64 * KiB;
  bool marks_blocks = true;  ///< block numbers have their low byte again in the high half
  bool into_frames = false;  ///< data go to frames, whose late readers look again: no race of theirs counts
  bool frames_reachable = true;  ///< peer path; else staged
  std::int64_t lose = -1;  ///< this fetched command (counted from 0) is never answered; its DMA comes late
  std::uint32_t lose_every = 0;            ///< so is every n-th
  status answer = {};                      ///< status of every command
  status writes = {};                      ///< status of every write, if `answer` is good
  std::set<std::uint64_t> spoiled = {};    ///< blocks that come with another second word than they have
  std::set<std::uint64_t> writes_of = {};  ///< of these blocks only, if any are named
  std::uint64_t seed = 1;
  std::uint32_t duplicate_id_at = 0;                ///< the n-th completion is posted twice: a drive gone mad
  std::uint32_t duplicate_every = 0;                ///< so is every n-th
  std::function<void(std::uint64_t)> sees_write{};  ///< of the block at which a write that it fetched begins
  std::function<void(const std::string&)> breach = [](const std::string& why) { lane::explore::fail(why); };
};

class model_drive final : public drive::drive {
 public:
  explicit model_drive(const model_drive_options& options) : options_(options), dice_(options.seed) {
    info_.uri = "model:";
    info_.block_size = options.block_size;
    info_.blocks = std::uint64_t{1} << 40;
    info_.max_queues = 64;
    info_.max_depth = options.max_depth;
    info_.max_transfer = options.max_transfer;
  }

  const ::sluice::drive::drive_info& info() const override { return info_; }
  memory::place reachable_place(backend) const override { return memory::place::pinned; }
  bool reaches_frames(backend) const override { return options_.frames_reachable; }
  bus_address map(const memory::region& bytes) override {
    return {reinterpret_cast<std::uint64_t>(bytes.host)};
  }
  void unmap(const memory::region&) override {}

  ::sluice::drive::queue_grant create_queue(const ::sluice::drive::queue_rings& rings, backend,
                                            std::uint16_t again) override {
    const auto [id, pair] = name_queue(again);
    lane::on_system(pair->submission).store(0, lane::release);
    lane::on_system(pair->completion).store(0, lane::release);
    const stroke alone(order_);
    served_queue* const q = &ever_granted_.emplace_back();
    q->rings = rings;
    q->doorbells = pair;
    queues_[id] = q;
    return {id, {&pair->submission, nullptr}, {&pair->completion, nullptr}};
  }

  /// The last moment at which the drive may touch memory: what was lost is written now.
  void delete_queue(std::uint16_t id, bool keep_id) override {
    served_queue* const q = find_to_delete(id, keep_id);
    if (q == nullptr) return;
    // It takes a while, and lanes go on meanwhile.
    for (int look = 0; look < 8; ++look) lane::on_system(q->doorbells->submission).load(lane::relaxed);
    const stroke alone(order_);
    for (const auto& entry : q->lost) move_data(entry);
    q->deleted = true;
    queues_.erase(id);
  }

  ::sluice::drive::drive_counters counters() const override { return counters_; }

  /// Serves until `finished` says so, one action at a time; the body of an exploration's task.
  void serve(const std::function<bool()>& finished) {
    while (!finished()) {
      const auto now = all_queues();  // others may create and delete while we look
      bool moved = false;
      for (const auto& [id, queue] : now) moved = serve_step(*queue) || moved;
      if (!moved) lane::executor::relax();
    }
  }

  std::uint64_t executed(std::uint64_t block) const {
    auto found = executed_.find(block);
    return found == executed_.end() ? 0 : found->second;
  }

  bool refuse_delete = false;

 private:
  struct bells {
    std::uint32_t submission = 0;
    std::uint32_t completion = 0;
  };
  struct served_queue {
    ::sluice::drive::queue_rings rings;
    bells* doorbells = nullptr;
    std::uint64_t head = 0;                       // entries fetched
    std::uint64_t tail_seen = 0;                  // entries announced
    std::uint64_t posted = 0;                     // completions posted
    std::uint64_t freed = 0;                      // completions that lanes freed
    std::vector<nvme::submission_entry> in_hand;  // fetched, not answered
    std::vector<nvme::submission_entry> lost;
    std::set<std::uint16_t> ids;
    bool deleted = false;
  };

  /// What the drive does at one stroke, whoever runs it: so much that ThreadSanitizer believes it. A lock
  /// would stay locked where an oracle ends the run.
  class stroke {
   public:
    explicit stroke(std::atomic<std::uint32_t>& order) : order_(order) { order_.fetch_add(1); }
    ~stroke() { order_.fetch_add(1); }
    stroke(const stroke&) = delete;
    stroke& operator=(const stroke&) = delete;

   private:
    std::atomic<std::uint32_t>& order_;
  };

  std::pair<std::uint16_t, bells*> name_queue(std::uint16_t again) {
    const stroke alone(order_);
    const std::uint16_t id = kept_.erase(again) != 0 ? again : ++last_id_;
    return {id, &bells_[id]};
  }
  served_queue* find_to_delete(std::uint16_t id, bool keep_id) {
    const stroke alone(order_);
    if (refuse_delete) throw error(error_kind::io_failure, "the model drive refuses");
    const auto found = queues_.find(id);
    if (found == queues_.end() && kept_.erase(id) != 0) return nullptr;
    if (found == queues_.end()) return options_.breach("deletes a queue that is not there"), nullptr;
    if (keep_id) kept_.insert(id);
    return found->second;
  }
  std::map<std::uint16_t, served_queue*> all_queues() {
    const stroke alone(order_);
    return queues_;
  }

  std::uint64_t roll(std::uint64_t sides) { return (dice_ = mix(dice_ + 0x9e3779b97f4a7c15ULL)) % sides; }

  /// The schedule may change only while it looks at the doorbells; then it acts at one stroke, on a queue
  /// that is still there.
  bool serve_step(served_queue& q) {
    const std::uint32_t tail = lane::on_system(q.doorbells->submission).load(lane::acquire);
    const std::uint32_t head = lane::on_system(q.doorbells->completion).load(lane::acquire);
    const stroke alone(order_);
    if (q.deleted) return false;
    look_at_bells(q, tail, head);
    const bool can_fetch = q.head < q.tail_seen;
    const bool can_post = !q.in_hand.empty() && q.posted - q.freed < q.rings.depth - 1;
    if (!can_fetch && !can_post) return false;
    if (can_fetch && (!can_post || roll(2) == 0))
      fetch(q);
    else
      post(q);
    return true;
  }

  void look_at_bells(served_queue& q, std::uint32_t tail, std::uint32_t head) {
    const std::uint32_t mask = q.rings.depth - 1;
    if (tail > mask) options_.breach("tail doorbell beyond the ring");
    q.tail_seen += (tail - static_cast<std::uint32_t>(q.tail_seen)) & mask;
    if (q.tail_seen - q.head + q.in_hand.size() + q.lost.size() > mask)
      options_.breach("more than depth - 1 commands in flight");
    if (head > mask) options_.breach("completion doorbell beyond the ring");
    q.freed += (head - static_cast<std::uint32_t>(q.freed)) & mask;
    if (q.freed > q.posted) options_.breach("frees completions that were never posted");
  }

  void fetch(served_queue& q) {
    const auto* ring = reinterpret_cast<const nvme::submission_entry*>(q.rings.submission.value);
    const nvme::submission_entry entry = ring[q.head++ & (q.rings.depth - 1)];
    const std::uint64_t first = entry.cdw10 | (std::uint64_t{entry.cdw11} << 32);
    // Tests put the block number into the high half too, so that a torn or stale entry shows.
    if (entry.nsid != 1 || (options_.marks_blocks && entry.cdw11 != (entry.cdw10 & 0xffU)))
      options_.breach("torn or stale submission entry");
    if (!q.ids.insert(entry.id()).second) options_.breach("command id used twice");
    if (options_.sees_write && entry.op() == static_cast<std::uint8_t>(nvme::opcode::write))
      options_.sees_write(first);
    ++executed_[first];
    if (executed_[first] > allowed_repeats) options_.breach("command executed twice");
    const auto number = static_cast<std::int64_t>(fetched_++);
    if (number == options_.lose ||
        (options_.lose_every != 0 && number % options_.lose_every == options_.lose_every - 1)) {
      ++counters_.dropped;
      q.lost.push_back(entry);
    } else {
      q.in_hand.push_back(entry);
    }
  }

  void post(served_queue& q) {
    const std::size_t which = roll(q.in_hand.size());
    const nvme::submission_entry entry = q.in_hand[which];
    q.in_hand.erase(q.in_hand.begin() + static_cast<std::ptrdiff_t>(which));
    const status code = answer_to(entry);
    if (code.is_ok()) move_data(entry);
    ++counters_.served;
    q.ids.erase(entry.id());
    post_entry(q, entry.id(), code);
    const bool twice = counters_.served == options_.duplicate_id_at ||
                       (options_.duplicate_every != 0 && counters_.served % options_.duplicate_every == 0);
    if (twice && q.posted - q.freed < q.rings.depth - 1) post_entry(q, entry.id(), code);
  }

  /// Also remembers which writes did not reach the drive: nobody may read there what is older.
  status answer_to(const nvme::submission_entry& entry) {
    const std::uint64_t first = entry.cdw10 | (std::uint64_t{entry.cdw11} << 32);
    if (entry.op() == static_cast<std::uint8_t>(nvme::opcode::read) && missed_.contains(first))
      options_.breach("reads a block whose last write failed there");
    if (entry.op() != static_cast<std::uint8_t>(nvme::opcode::write)) return options_.answer;
    const bool meant = options_.writes_of.empty() || options_.writes_of.contains(first);
    const status code = options_.answer.is_ok() && meant ? options_.writes : options_.answer;
    if (code.is_ok()) {
      missed_.erase(first);
    } else {
      missed_.insert(first);
    }
    return code;
  }

  void post_entry(served_queue& q, std::uint16_t id, status code) {
    auto* ring = reinterpret_cast<nvme::completion_entry*>(q.rings.completion.value);
    nvme::completion_entry& slot = ring[q.posted & (q.rings.depth - 1)];
    const std::uint32_t phase = ((q.posted / q.rings.depth) & 1U) ^ 1U;
    ++q.posted;
    slot.result = 0;
    slot.sq_head = static_cast<std::uint32_t>(q.head) & (q.rings.depth - 1);
    const std::uint32_t tail = nvme::completion_entry::make_tail(id, phase, code);
    cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>(slot.tail).store(tail, lane::release);
  }

  /// Plain accesses on purpose: ThreadSanitizer then sees any that nothing orders.
  void move_data(const nvme::submission_entry& entry) {
    const std::uint64_t first = entry.cdw10 | (std::uint64_t{entry.cdw11} << 32);
    auto* words = reinterpret_cast<std::uint64_t*>(entry.prp1);
    const auto written = second_words_.find(first);
    const std::uint64_t second = written != second_words_.end() ? written->second : stamp_of(first);
    const std::uint64_t stamps[2] = {stamp_of(first), options_.spoiled.contains(first) ? ~second : second};
    const bool reads = entry.op() == static_cast<std::uint8_t>(nvme::opcode::read);
    if (reads && options_.into_frames)
      lane::copy_into_frame(lane::solo{}, reinterpret_cast<std::byte*>(words),
                            reinterpret_cast<const std::byte*>(stamps), sizeof stamps);
    else if (reads)
      std::memcpy(words, stamps, sizeof stamps);
    if (entry.op() == static_cast<std::uint8_t>(nvme::opcode::write) && words[0] != stamp_of(first))
      options_.breach("a write sends bytes that its lane did not write");
    if (options_.into_frames && entry.op() == static_cast<std::uint8_t>(nvme::opcode::write))
      second_words_[first] = words[1];
  }

 public:
  std::uint64_t allowed_repeats = 1;

 private:
  model_drive_options options_;
  ::sluice::drive::drive_info info_;
  ::sluice::drive::drive_counters counters_;
  std::deque<served_queue> ever_granted_;  // also after their deletion
  std::map<std::uint16_t, served_queue*> queues_;
  std::map<std::uint16_t, bells>
      bells_;  // by identifier, also after a deletion: a late ring hits memory that is still ours
  std::map<std::uint64_t, std::uint64_t> executed_;
  std::set<std::uint16_t> kept_;
  std::set<std::uint64_t> missed_;
  std::map<std::uint64_t, std::uint64_t>
      second_words_;  // of blocks that were written; the first is the stamp
  std::uint64_t dice_;
  std::atomic<std::uint32_t> order_ = 0;
  std::uint64_t fetched_ = 0;
  std::uint16_t last_id_ = 0;
};

}  // namespace sluice::tests
