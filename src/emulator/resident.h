// An emulated drive's residents: warps that look at doorbells, fetch, move bytes, and post. Design 0006.
#pragma once

#include <cstdint>

#include "emulator/answers.h"
#include "emulator/command_check.h"
#include "emulator/late_answers.h"
#include "emulator/piece_walk.h"
#include "emulator/region_shelf.h"
#include "emulator/resident_words.h"
#include "sluice/lane/copies.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/rest.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"
#include "sluice/nvme/registers.h"

namespace sluice::emulator {

template <service How>
struct resident_kernel {
  static constexpr std::uint32_t block_lanes = 512;
  static constexpr lane::residency resident{block_lanes, 1};
  static constexpr bool alone = true;

  using team_type = resident_team;
  resident_job job;

  /// What a look at a queue's doorbells and at the orders showed. The same in all lanes.
  struct news {
    std::uint32_t tail, head, stop, park;
  };

  SLUICE_HD static std::uint32_t warps() { return static_cast<std::uint32_t>(lane::grid_lanes() / 32); }
  /// Neighbours live on different SMs, so that few queues have many SMs.
  SLUICE_HD static std::uint32_t own_index() {
    return lane::thread_index() / 32 * lane::grid_blocks() + lane::block_index();
  }

  SLUICE_HD void operator()() const {
    const team_type team;
    // Release pairs with residents::begin(), which then lets the launch go.
    if (lane::thread_index() == 0)
      lane::on_system(job.present[lane::block_index()]).store(job.ordinal, lane::release);
    std::uint32_t obeyed = 0;
    while (!serve_until_ordered(team, obeyed)) park(team, obeyed);
    // Release pairs with residents::await_parked(): what we did to our queues is seen by the host.
    if (team.leads()) lane::on_system(job.parked[own_index()]).store(left, lane::release);
  }

  /// Serves this warp's queues. True where it is time to leave, false where it is time to park: then `obeyed`
  /// is the order.
  SLUICE_HD bool serve_until_ordered(const team_type& team, std::uint32_t& obeyed) const {
    // Changed while we were parked, before the order that we acquired to begin again.
    const std::uint32_t count = team.broadcast(lane::on_device(job.orders->queues).load(lane::relaxed));
    std::uint32_t at = own_index();
    bool some = at < count;
    resident_queue q{};
    if (some) q = job.queues[job.served[at]];
    bool moved = false, late = false;
    for (std::uint32_t looks = 0;;) {
      const news now = look(team, some, q);
      if (now.stop != 0 || (now.park != obeyed && (now.park & 1U) != 0)) {
        if (!lane::planted("emulator.park_without_saving")) put_down(team, some, q, count);
        obeyed = now.park;
        return now.stop != 0;
      }
      if (some) moved |= serve(team, q, now);
      late |= q.late_count != 0;
      const bool around = at + warps() >= count;
      if (some && count > warps()) {
        if (team.leads()) job.queues[q.id] = q;
        team.sync();
        at = around ? own_index() : at + warps();
        q = job.queues[job.served[at]];
      }
      if (!around) continue;
      looks = moved ? 0 : looks + 1;
      if (!moved) idle(team, some, q, count, looks, late);
      moved = late = false;
    }
  }

  SLUICE_HD void park(const team_type& team, std::uint32_t order) const {
    // Release pairs with residents::await_parked(): what we did to our queues is seen by the host.
    if (team.leads())
      lane::on_system(job.parked[own_index()]).store(order, lane::order_of("emulator.parked", lane::release));
    for (std::uint32_t looks = 1;; ++looks) {
      // Acquire pairs with the host's next order: the tables that it changed are seen.
      std::uint32_t now = order;
      if (team.leads()) now = lane::on_system(job.orders->park).load(lane::acquire);
      if (team.broadcast(now) != order) break;
      if (team.leads())
        lane::rest(job.sleeper, looks, a_moment_ns,
                   [&] { return lane::on_system(job.orders->park).load(lane::seq_cst) != order; });
      team.sync();
    }
    team.sync();
  }

 private:
  static constexpr std::uint32_t few = 4;
  // Between two looks of a thread that nobody wakes: with answers that come to be due, and without.
  static constexpr std::uint64_t a_short_moment_ns = 20'000, a_moment_ns = 100'000'000;

  SLUICE_HD std::uint32_t& bell(std::uint32_t index) const { return job.bells[index * job.bell_stride]; }
  /// Acquire: pairs with the lanes' rings; the entries before the tail, and what they point to, are visible.
  SLUICE_HD news look(const team_type& team, bool some, const resident_queue& q) const {
    // Four lanes look at once: one journey to memory for all four words.
    const std::uint32_t rank = team.rank();
    std::uint32_t* word = rank == 2 ? &job.orders->stop : &job.orders->park;
    if (some && rank == 0) word = &bell(nvme::submission_doorbell(q.id));
    if (some && rank == 1) word = &bell(nvme::completion_doorbell(q.id));
    std::uint32_t seen = 0;
    if (rank < 4) seen = lane::on_system(*word).load(lane::acquire);
    const news now{team.from(seen, 0), team.from(seen, 1), team.from(seen, 2), team.from(seen, 3)};
    team.sync();  // the four lanes' acquires come before the others' loads
    return now;
  }

  /// Before parking or leaving: all that is held back is done, and the queues' states are in memory.
  SLUICE_HD void put_down(const team_type& team, bool some, resident_queue& q, std::uint32_t count) const {
    if (!some) return;
    if (team.leads()) job.queues[q.id] = q;
    team.sync();
    if constexpr (How == service::by_region) {
      for (std::uint32_t at = own_index(); at < count; at += warps()) {
        q = job.queues[job.served[at]];
        const bool forgets = lane::planted("emulator.park_with_copies_held");
        for (std::uint32_t region = 0; !forgets && region < job.regions && q.late_count != 0; ++region)
          while (serve_held(team, q, region)) {
          }
        if (team.leads()) job.queues[q.id] = q;
        team.sync();
      }
    }
  }

  /// One round for one queue; true where anything moved.
  SLUICE_HD bool serve(const team_type& team, resident_queue& q, const news& now) const {
    bool moved = take_bells(team, q, now);
    if constexpr (How == service::timed) moved |= late_answers(team, job).post_due(q);
    moved |= serve_new(team, q);
    if constexpr (How == service::by_region) moved |= take_turn(team, q);
    return moved;
  }

  SLUICE_HD bool serve_new(const team_type& team, resident_queue& q) const {
    const std::uint32_t n = fetchable(team, q);
    if (n == 0) return false;
    const bool active = team.rank() < n;
    const std::uint32_t slot = wrapped(q.head + team.rank(), q.size);
    const reach_extent near = job.reach[q.extent];
    decoded mine;
    std::uint32_t command = 0;
    if (active) {
      const nvme::submission_entry& entry = q.submissions[slot];
      command = entry.cdw0 >> 16;
      mine = decode(entry, job.bounds, q.page, near);
      if constexpr (How == service::timed) suffer(q, mine);
    }
    bool answered = active;
    if constexpr (How == service::by_region) {
      // A queue that is hardly used does not wait for turns.
      const bool holds = active && mine.todo == task::copy && (n > few || q.late_count != 0);
      if (team.any(holds)) region_shelf(team, job, q).put(holds, mine, command, q.late_count);
      if (holds) mine.todo = task::none;
      answered = active && !holds;
    }
    lane::fence_before_refill();
    move(team, q, n, mine, slot);
    if (!team.all(mine.code.is_ok())) report(q.submissions + slot, q.id, active && !mine.dropped, mine);
    q.head = wrapped(q.head + n, q.size);
    q.seen += n;
    const std::uint32_t tail = command | mine.code.bits() << 17;
    if constexpr (How == service::timed) {
      late_answers late(team, job);
      count(team, q, active && !mine.dropped, active && mine.dropped, mine);
      late.put_off(q, n, mine, tail);
      late.post_due(q);
    } else {
      answer(team, q, answered, mine, tail);
    }
    lane::tell_waiting_lanes();
    return true;
  }

  /// Counts and posts the answers of those lanes.
  SLUICE_HD void answer(const team_type& team, resident_queue& q, bool mine, const decoded& what,
                        std::uint32_t tail) const {
    const std::uint32_t lanes = team.ballot(mine);
    if (lanes == 0) return;
    const std::uint32_t position = q.posted + lane::bit_count(lanes & (team.bit() - 1));
    write_answers(q, mine, position);
    team.sync();  // all bytes and entries come before our releases
    count(team, q, mine, false, what);
    publish_answers(team, q, mine, lane::bit_count(lanes), position, tail);
  }

  /// Serves the region whose turn it is. A queue that has nothing left for it votes for the next one's turn,
  /// and goes ahead to that one, but no further; the last vote begins it.
  SLUICE_HD bool take_turn(const team_type& team, resident_queue& q) const {
    std::uint32_t turn = 0;
    if (team.leads()) turn = lane::on_device(job.turns->turn).load(lane::relaxed);
    turn = team.broadcast(turn);
    const bool voted = q.voted == turn + 1;
    if (serve_held(team, q, (turn + (voted ? 1 : 0)) % job.regions)) return true;
    if (!voted && !lane::planted("emulator.never_vote")) {
      q.voted = turn + 1;
      const std::uint32_t voters = lane::on_device(job.orders->queues).load(lane::relaxed);
      if (team.leads() && lane::on_device(job.turns->votes).fetch_add(1, lane::relaxed) + 1 == voters) {
        // Relaxed: nothing is handed over but the count itself. Taken off, not set to 0: a queue may see the
        // new turn, and vote for it, before this.
        lane::on_device(job.turns->votes).fetch_sub(voters, lane::relaxed);
        lane::on_device(job.turns->turn).store(turn + 1, lane::relaxed);
      }
    }
    return q.late_count != 0;
  }

  /// One batch of the copies that wait for a region; false where there is none.
  SLUICE_HD bool serve_held(const team_type& team, resident_queue& q, std::uint32_t region) const {
    if (q.late_count == 0) return false;
    decoded mine;
    std::uint32_t command = 0;
    const std::uint32_t n = region_shelf(team, job, q).take(region, mine, command, q.late_count);
    if (n == 0) return false;
    lane::fence_before_refill();
    move(team, q, n, mine, 0);
    answer(team, q, team.rank() < n, mine, command);
    lane::tell_waiting_lanes();
    return true;
  }

  SLUICE_HD bool take_bells(const team_type& team, resident_queue& q, const news& now) const {
    bool moved = false, nonsense = false;
    if (now.head != q.freed_read) {
      q.freed_read = now.head;
      // A head may move up to the tail, never past it: past it there are no entries to free.
      const bool good = now.head < q.completion_size && distance(q.freed, now.head, q.completion_size) <=
                                                            distance(q.freed, q.posted, q.completion_size);
      if (good) q.freed = now.head;
      moved |= good;
      nonsense |= !good;
    }
    if (now.tail != q.tail_read) {
      q.tail_read = now.tail;
      // One entry always stays free (NVMe Base 2.0, 3.3.1.5).
      const std::uint32_t room = q.size - 1 - distance(q.head, q.tail, q.size);
      const bool good = (now.tail < q.size && distance(q.tail, now.tail, q.size) <= room) ||
                        lane::planted("emulator.believe_any_tail");
      if (good) q.tail = now.tail;
      moved |= good;
      nonsense |= !good;
    }
    if (nonsense && team.leads()) note({0, static_cast<std::uint16_t>(q.id), 0, 0, 0, 0});
    return moved;
  }

  /// Commands to take now: no more than there are answers' places for.
  SLUICE_HD static std::uint32_t fetchable(const team_type& team, const resident_queue& q) {
    const std::uint32_t waiting = distance(q.head, q.tail, q.size);
    const std::uint32_t room =
        q.completion_size - 1 - distance(q.freed, q.posted, q.completion_size) - q.late_count;
    const bool some_room = room < team.size() && !lane::planted("emulator.fetch_without_room");
    const std::uint32_t most = some_room ? room : team.size();
    return waiting < most ? waiting : most;
  }

  /// The faults of the drive's plan.
  SLUICE_HD void suffer(const resident_queue& q, decoded& mine) const {
    if (!mine.code.is_ok() || !job.dice.any()) return;
    const std::uint64_t nth = q.seen + lane::lane_index();
    const auto id = static_cast<std::uint16_t>(q.id);
    mine.dropped = job.dice.drops(id, nth);
    const std::uint64_t blocks = mine.bytes >> job.bounds.block_shift;
    if (!mine.dropped &&
        (job.dice.fails(id, nth) || (mine.has_blocks() && job.dice.fails_at(mine.block, blocks))))
      mine.code = job.dice.plan().code;
    if (mine.dropped || !mine.code.is_ok()) {
      mine.todo = task::none;
      return;
    }
    mine.torn = mine.writes() && job.dice.tears(id, nth);
    if (mine.torn) mine.dropped = true, mine.todo = task::walk;
  }

  SLUICE_HD void move(const team_type& team, resident_queue& q, std::uint32_t n, decoded& mine,
                      std::uint32_t slot) const {
    // A refused command may name any block.
    const std::uint64_t at = mine.todo == task::copy ? mine.block << job.bounds.block_shift : 0;
    std::byte* const media = job.media + at;
    std::byte* const to = mine.writes() ? media : mine.memory;
    const std::byte* const from = mine.writes() ? mine.memory : media;
    const bool active = team.rank() < n;
    const std::uint32_t bytes = team.broadcast(mine.bytes);
    if (team.all(!active || (mine.todo == task::copy && mine.bytes == bytes))) {
      lane::copy_each(team, n, to, from, bytes);
      return;
    }
    for (std::uint32_t rest = team.ballot(mine.todo == task::copy); rest != 0; rest &= rest - 1) {
      const std::uint32_t bit = rest & (~rest + 1);
      lane::copy_each(team, 1, team.of(to, bit), team.of(from, bit), team.of(mine.bytes, bit));
    }
    for (std::uint32_t rest = team.ballot(mine.todo == task::walk); rest != 0; rest &= rest - 1) {
      const std::uint32_t bit = rest & (~rest + 1);
      const status done = walk(team, q.submissions + slot, q.page, mine, bit);
      if (team.bit() != bit) continue;
      mine.code = done;
      mine.dropped = mine.dropped && done.is_ok();
    }
    // Lanes whose memory is elsewhere now: the next batch begins there.
    if (team.any(mine.todo == task::walk)) find_extent(team, q, slot, mine.todo == task::walk);
  }

  /// The command of the lane with that bit, whose entry its `own` is.
  SLUICE_HD SLUICE_NOINLINE status walk(team_type team, const nvme::submission_entry* own, std::uint32_t page,
                                        decoded mine, std::uint32_t bit) const {
    const bool is_mine = team.bit() == bit;
    nvme::submission_entry entry{};
    entry.prp1 = team.of(is_mine ? own->prp1 : 0, bit);
    entry.prp2 = team.of(is_mine ? own->prp2 : 0, bit);
    entry.cdw10 = team.of(is_mine ? own->cdw10 : 0, bit);
    entry.cdw11 = team.of(is_mine ? own->cdw11 : 0, bit);
    decoded its;
    its.block = team.of(mine.block, bit);
    its.bytes = team.of(mine.bytes, bit);
    its.op = team.of(mine.op, bit);
    const std::uint32_t limit = team.of(mine.torn ? mine.bytes / 2 : mine.bytes, bit);
    const std::uint32_t extents = team.broadcast(lane::on_device(job.orders->extents).load(lane::relaxed));
    return piece_walk<team_type>(team, job, extents, page).run(entry, its, limit);
  }

  /// Remembers the extent that the memory of the first walked command lies in.
  SLUICE_HD void find_extent(const team_type& team, resident_queue& q, std::uint32_t slot,
                             bool walked) const {
    const std::uint32_t bits = team.ballot(walked);
    const std::uint32_t bit = bits & (~bits + 1);
    const std::uint64_t at = team.of(team.bit() == bit ? q.submissions[slot].prp1 : 0, bit);
    const std::uint32_t extents = team.broadcast(lane::on_device(job.orders->extents).load(lane::relaxed));
    for (std::uint32_t i = 0; i < extents; ++i)
      if (job.reach[i].holds(at, 1)) q.extent = i;
  }

  /// Of the lanes that are answered, and of those whose commands are dropped. Order: release of what the team
  /// did before the last sync.
  SLUICE_HD void count(const team_type& team, const resident_queue& q, bool is_answered, bool is_dropped,
                       const decoded& mine) const {
    using kind = resident_counts;
    const std::uint32_t answered = team.ballot(is_answered);
    const std::uint32_t good = team.ballot(mine.code.is_ok());
    const std::uint32_t reads = answered & team.ballot(mine.op == opcode::read);
    const std::uint32_t writes = answered & team.ballot(mine.writes());
    const std::uint32_t failed = answered & ~good;
    const std::uint32_t media_errors =
        failed == 0 ? 0 : failed & team.ballot(mine.code.nvme_code() >> 8 == 2);
    const std::uint64_t bytes_read = sum(team, reads & good, mine.bytes);
    const std::uint64_t bytes_written = sum(team, writes & good, mine.bytes);
    std::uint64_t add = 0;
    const auto is = [&](std::uint32_t which, std::uint64_t what) {
      if (team.rank() == which) add = what;
    };
    is(kind::served, lane::bit_count(answered));
    is(kind::dropped, lane::bit_count(team.ballot(is_dropped)));
    is(kind::failed, lane::bit_count(failed));
    is(kind::reads, lane::bit_count(reads));
    is(kind::writes, lane::bit_count(writes));
    is(kind::media_errors, lane::bit_count(media_errors));
    is(kind::bytes_read, bytes_read);
    is(kind::bytes_written, bytes_written);
    lane::fence_for_releases();
    if (add != 0) lane::on_device(job.counts[q.id].of[team.rank()]).fetch_add(add, lane::released);
  }

  /// Of the lanes in `which`. Most often all have the same, or there are none.
  SLUICE_HD static std::uint64_t sum(const team_type& team, std::uint32_t which, std::uint32_t value) {
    if (which == 0) return 0;
    const bool counts = (which & team.bit()) != 0;
    const std::uint32_t first = team.of(value, which & (~which + 1));
    if (team.all(!counts || value == first)) return std::uint64_t{first} * lane::bit_count(which);
    std::uint64_t total = 0;
    for (; which != 0; which &= which - 1) total += team.of(value, which & (~which + 1));
    return total;
  }

  SLUICE_HD SLUICE_NOINLINE void report(const nvme::submission_entry* entry, std::uint32_t id, bool answered,
                                        decoded mine) const {
    if (!answered || mine.code.is_ok()) return;
    note({0, static_cast<std::uint16_t>(id), entry->id(), mine.code.bits(), entry->nsid,
          mine.has_blocks() ? first_block(*entry) : 0});
  }

  /// Where the host has not read the last ones yet, this one is lost.
  SLUICE_HD void note(const resident_trouble& what) const {
    auto count = lane::on_device(job.orders->troubles);
    std::uint32_t number = count.load(lane::relaxed);
    do {
      // Acquire pairs with the host's release: it has read the entry that we write to.
      if (number - lane::on_system(job.orders->told).load(lane::acquire) >= trouble_entries) return;
    } while (!count.compare_exchange(number, number + 1, lane::relaxed));
    resident_trouble& to = job.trouble[number % trouble_entries];
    to.queue = what.queue;
    to.command = what.command;
    to.code = what.code;
    to.nsid = what.nsid;
    to.block = what.block;
    // Release pairs with residents::report(): the entry is seen with its number.
    lane::on_system(to.number).store(number + 1, lane::release);
  }

  /// Nothing to do for any of this warp's queues.
  SLUICE_HD void idle(const team_type& team, bool some, const resident_queue& q, std::uint32_t count,
                      std::uint32_t looks, bool late) const {
    if (team.leads())
      lane::rest(job.sleeper, looks, late ? a_short_moment_ns : a_moment_ns,
                 [&] { return stirred(some, q, count); });
    team.sync();
  }

  /// CPU backend: true where a doorbell of any queue has moved, or there are orders.
  SLUICE_HD bool stirred(bool some, const resident_queue& q, std::uint32_t count) const {
    const auto value = [](std::uint32_t& word) { return lane::on_system(word).load(lane::seq_cst); };
    const auto rung = [&](const resident_queue& one) {
      return value(bell(nvme::submission_doorbell(one.id))) != one.tail_read ||
             value(bell(nvme::completion_doorbell(one.id))) != one.freed_read;
    };
    if (value(job.orders->stop) != 0 || (value(job.orders->park) & 1U) != 0) return true;
    if (!some) return false;
    if (count <= warps()) return rung(q);
    for (std::uint32_t at = own_index(); at < count; at += warps())
      if (rung(job.queues[job.served[at]])) return true;
    return false;
  }
};

}  // namespace sluice::emulator
