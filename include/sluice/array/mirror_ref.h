// The replicas of a volume as lanes see them: which one to read, which to write, which to do without.
#pragma once

#include <cstdint>

#include "sluice/base/report.h"
#include "sluice/base/status.h"
#include "sluice/cache/frame_word.h"
#include "sluice/cache/page_store.h"
#include "sluice/drive/volume_ref.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/mutant.h"

namespace sluice {

/// Replicas that are neither read nor written any more, as bits. Zeroed memory: none.
struct mirror_words {
  std::uint64_t lost;                            ///< by lanes: they failed a write that another replica took
  std::uint64_t left_out;                        ///< by the host
  std::uint32_t forgiven[drive::most_replicas];  ///< failures of each that another try may mend
};

/// Where a copy of a page goes to, or comes from.
struct replica_choice {
  std::uint32_t replica = 0;
  status missing;  ///< why it does not: aborted where the replica is left out, queue_lost where all are
};

/// A copy is one replica that was alive when the store was made. Trivially copyable. What is rare stands in
/// functions of its own, so that volumes without replicas do not pay for it.
class mirror_ref {
 public:
  mirror_ref() = default;
  mirror_ref(const drive::volume_ref& volume, std::uint32_t copies, std::uint32_t commands,
             mirror_words* words)
      : volume_(volume), words_(words), copies_(copies), commands_(commands) {}

  SLUICE_HD const drive::volume_ref& volume() const { return volume_; }
  SLUICE_HD bool is_mirror() const { return volume_.replicas() > 1; }
  /// Of each page.
  SLUICE_HD std::uint32_t copies() const { return copies_; }
  /// One copy takes.
  SLUICE_HD std::uint32_t commands() const { return commands_; }

  /// For the page at `byte`. The first copy of a write also sees to it that a replica is left out that failed
  /// the page's last write.
  SLUICE_NOINLINE SLUICE_HD replica_choice choose(const cache::page_transfer& transfer, std::uint64_t byte,
                                                  std::uint32_t copy) const {
    if (transfer.write && copy == 0 && !lane::planted("mirror.blame_nobody"))
      judge_last_write(transfer.to.detail);
    const std::uint64_t out = lane::planted("mirror.read_the_lost") && !transfer.write ? 0 : left_out();
    replica_choice to;
    if (volume_.live(out) == 0) {
      to.missing = status::queue_lost;
    } else if (transfer.write) {
      to.replica = volume_.live_replica(copy);
      if (((out >> to.replica) & 1) != 0) to.missing = status::aborted;
    } else {
      to.replica = volume_.choose_replica(byte, lane::warp_index(), transfer.attempt, out);
    }
    return to;
  }

  /// Makes the report of a command that was not submitted while others of its page are, or may be. For a
  /// replica that is left out it is a good one, though what it says is no copy of the page.
  SLUICE_NOINLINE SLUICE_HD static void report(bool write, const report_to& to, status code) {
    const bool good = write && code == status::aborted;
    if (write && code == status::timed_out) code = status::aborted;  // it lacked a turn: no fault of the page
    lane::on_device(*to.detail).store(code.bits(), lane::relaxed);
    // Release: whoever sees the report sees its status.
    lane::on_device(*to.word).fetch_add(good ? to.on_ok : to.on_error, lane::release);
  }

  /// Relaxed: whoever reads a page from the volume that a replica missed has acquired the page's frame after
  /// the lane that left the replica out released it.
  SLUICE_HD std::uint64_t left_out() const {
    return lane::on_device(words_->lost).load(lane::relaxed) |
           lane::on_device(words_->left_out).load(lane::relaxed);
  }
  /// False where no replica would be left.
  SLUICE_HD bool leave_out(std::uint64_t replicas) const {
    auto lost = lane::on_device(words_->lost);
    const std::uint64_t by_host = lane::on_device(words_->left_out).load(lane::relaxed);
    std::uint64_t before = lost.load(lane::relaxed);
    do {
      if (volume_.live(before | by_host | replicas) == 0 && !lane::planted("mirror.leave_out_all"))
        return false;
    } while (!lost.compare_exchange(before, before | replicas, lane::relaxed));
    return true;
  }

 private:
  static constexpr std::uint32_t most_forgiven = 16;

  /// What the reports of a frame's last write tell, where some told of failures: one that another copy bore
  /// out is the replica's own. Only the lane that made the frame writing again looks, after its acquire of
  /// the frame's word, which pairs with the reports' release.
  SLUICE_HD void judge_last_write(std::uint64_t* details) const {
    std::uint64_t failed = 0;
    bool whole = false;
    for (std::uint32_t copy = 0; copy < copies_; ++copy) {
      const status code = failure(details + copy * commands_);
      const std::uint32_t replica = volume_.live_replica(copy);
      whole |= code.is_ok();
      if (!code.is_ok() && code != status::aborted && !forgives(replica, code))
        failed |= std::uint64_t{1} << replica;
    }
    if ((whole || lane::planted("mirror.blame_without_proof")) && failed != 0) leave_out(failed);
  }

  /// Of one copy: the first that says more than that a queue was lost; else that, or ok.
  SLUICE_HD status failure(std::uint64_t* details) const {
    status code;
    for (std::uint32_t part = 0; part < commands_; ++part) {
      const status told = cache::frame_detail(lane::on_device(details[part]).load(lane::relaxed)).told();
      if (!told.is_ok() && (code.is_ok() || code == status::aborted)) code = told;
    }
    return code;
  }

  /// True where the drive did not say that trying again is of no use, and this has not come up too often.
  SLUICE_HD bool forgives(std::uint32_t replica, status code) const {
    if (!code.is_nvme() || code.do_not_retry()) return false;
    if (lane::planted("mirror.forgive_for_ever")) return true;
    return lane::on_device(words_->forgiven[replica]).fetch_add(1, lane::relaxed) < most_forgiven;
  }

  drive::volume_ref volume_;
  mirror_words* words_ = nullptr;
  std::uint32_t copies_ = 1;
  std::uint32_t commands_ = 1;
};

}  // namespace sluice
