// Commands of an emulated drive that take more than one copy: long ones, odd addresses, compare, write
// zeroes, deallocation. One command at a time, by the whole team.
#pragma once

#include <cstdint>
#include <cstring>

#include "emulator/command_check.h"
#include "sluice/lane/copies.h"
#include "sluice/lane/mutant.h"
#include "sluice/nvme/dataset.h"

namespace sluice::emulator {

/// Every lane of the team holds the same one.
template <class Team>
class piece_walk {
 public:
  /// `extents`: how many of `reach` there are. `page`: the unit of PRPs.
  SLUICE_HD piece_walk(const Team& team, const resident_job& job, std::uint32_t extents, std::uint32_t page)
      : team_(team), job_(job), extents_(extents), page_(page) {}

  /// Does what `e` asks; it has passed decode() as `d`. At most `limit` bytes reach the media.
  /// Lanes:  all lanes of the team, with the same arguments.
  SLUICE_HD status run(const nvme::submission_entry& e, const decoded& d, std::uint32_t limit) {
    std::byte* const at = job_.media + (d.block << job_.bounds.block_shift);
    switch (d.op) {
      case opcode::write_zeroes:
        zero(at, d.bytes);
        return status::ok;
      case opcode::dataset_management:
        return check_ranges(e);
      default:
        break;
    }
    // First all pieces are looked up: a transfer that cannot be made leaves no trace.
    status s = visit(e, d.bytes, [](std::byte*, std::uint32_t) { return status(); });
    if (!s.is_ok()) return s;
    std::uint32_t done = 0;
    bool differs = false;
    s = visit(e, d.bytes, [&](std::byte* memory, std::uint32_t bytes) {
      const std::uint32_t n = done >= limit ? 0 : (bytes < limit - done ? bytes : limit - done);
      if (d.op == opcode::read) copy(memory, at + done, n);
      if (d.op == opcode::write) copy(at + done, memory, n);
      if (d.op == opcode::compare) differs = differs || !equal(at + done, memory, n);
      done += bytes;
      return status();
    });
    return differs ? do_not_retry(code::compare_failure) : s;
  }

 private:
  /// The extent that holds those bytes, or an empty one. The same for all lanes.
  SLUICE_HD reach_extent find(std::uint64_t at, std::uint64_t bytes) const {
    std::uint32_t low = 0, high = extents_;
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      if (job_.reach[middle].end <= at)
        low = middle + 1;
      else
        high = middle;
    }
    if (low < extents_ && job_.reach[low].holds(at, bytes)) return job_.reach[low];
    return {};
  }

  /// One lane reads for all: a host that changes its list meanwhile must not part the team.
  SLUICE_HD std::uint64_t read_entry(const std::byte* at) const {
    std::uint64_t seen = 0;
    if (team_.leads()) memcpy(&seen, at, sizeof seen);
    return team_.broadcast(seen);
  }

  /// Calls `act(memory, bytes)` for the command's memory, in order: pieces that lie one behind the other are
  /// one, since a long copy keeps more under way than many short ones.
  template <class Act>
  SLUICE_HD status visit(const nvme::submission_entry& e, std::uint64_t bytes, Act&& act) const {
    reach_extent in, list;
    std::byte* first = nullptr;
    std::uint32_t joined = 0;
    const status s = nvme::walk_prps(
        {{e.prp1}, {e.prp2}}, bytes, page_,
        [&](bus_address at, std::uint64_t& entry) {
          const bool found = find_from(list, at.value, sizeof entry);
          if (found) entry = read_entry(list.of(at.value));
          return found;
        },
        [&](bus_address at, std::uint64_t length) {
          if (!find_from(in, at.value, length)) return code::data_transfer_error;
          std::byte* const memory = in.of(at.value);
          const auto more = static_cast<std::uint32_t>(length);
          const bool behind = memory == first + joined || lane::planted("emulator.join_any_pieces");
          if (joined != 0 && behind) {
            joined += more;
            return status();
          }
          const status done = joined == 0 ? status() : act(first, joined);
          first = memory;
          joined = more;
          return done;
        });
    return s.is_ok() && joined != 0 ? act(first, joined) : s;
  }
  /// Most often what lies behind is in the same extent.
  SLUICE_HD bool find_from(reach_extent& in, std::uint64_t at, std::uint64_t bytes) const {
    if (!in.holds(at, bytes)) in = find(at, bytes);
    return in.lanes != nullptr;
  }

  SLUICE_HD void copy(std::byte* to, const std::byte* from, std::uint32_t bytes) const {
    const std::uint64_t odd =
        reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
    if (odd % lane::copy_piece == 0)
      lane::copy_each(team_, 1, to, from, bytes);
    else
      lane::copy_words(team_, to, from, bytes);
  }

  SLUICE_HD bool equal(const std::byte* a, const std::byte* b, std::uint32_t bytes) const {
    bool same = true;
    for (std::uint32_t at = team_.rank() * 4; at < bytes; at += team_.size() * 4) {
      std::uint32_t of_a, of_b;
      memcpy(&of_a, a + at, 4);
      memcpy(&of_b, b + at, 4);
      same = same && of_a == of_b;
    }
    return team_.all(same);
  }

  SLUICE_HD void zero(std::byte* at, std::uint64_t bytes) const {
    for (std::uint64_t i = team_.rank() * lane::copy_piece; i < bytes; i += team_.size() * lane::copy_piece)
      memset(at + i, 0, lane::copy_piece);
  }

  /// Deallocation is a hint, which this drive does not take; its ranges must be ranges all the same.
  SLUICE_HD status check_ranges(const nvme::submission_entry& e) const {
    if ((e.cdw11 & nvme::dataset_deallocate) == 0) return status::ok;
    const std::uint32_t count = (e.cdw10 & 0xffU) + 1;
    std::uint32_t have = 0;  // bytes of the present range that have come: pieces may part one anywhere
    std::uint32_t words[sizeof(nvme::dataset_range) / 4] = {};
    bool fits = true;
    const status s =
        visit(e, count * sizeof(nvme::dataset_range), [&](std::byte* memory, std::uint32_t bytes) {
          for (std::uint32_t at = 0; at < bytes; at += 4) {
            std::uint32_t word = 0;
            if (team_.leads()) memcpy(&word, memory + at, 4);
            words[have / 4] = team_.broadcast(word);
            have += 4;
            if (have < sizeof words) continue;
            have = 0;
            nvme::dataset_range range;
            memcpy(&range, words, sizeof range);
            fits =
                fits && range.first <= job_.bounds.blocks && range.blocks <= job_.bounds.blocks - range.first;
          }
          return status();
        });
    return s.is_ok() && !fits ? do_not_retry(code::lba_out_of_range) : s;
  }

  const Team& team_;
  const resident_job& job_;
  std::uint32_t extents_, page_;
};

}  // namespace sluice::emulator
