// Answers that are not due yet: a drive's model, and the faults that delay.
#pragma once

#include <cstdint>

#include "emulator/answers.h"
#include "emulator/command_check.h"
#include "sluice/base/bits.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/rest.h"
#include "sluice/lane/wait.h"

namespace sluice::emulator {

/// All calls are made by all lanes of the resident's warp.
class late_answers {
 public:
  SLUICE_HD late_answers(const resident_team& team, const resident_job& job) : team_(team), job_(job) {}

  /// Puts the batch's answers among the late ones, each with its time.
  SLUICE_HD void put_off(resident_queue& q, std::uint32_t n, const decoded& mine, std::uint32_t tail) const {
    const bool active = team_.rank() < n;
    const std::uint64_t due = due_time(q, active, mine);
    const bool answered = active && !mine.dropped;
    const std::uint32_t answers = team_.ballot(answered);
    if (answered) {
      const std::uint32_t place = q.late_head + q.late_count + lane::bit_count(answers & (team_.bit() - 1));
      q.late[wrapped(place, q.completion_size)] = {due, tail, 0};
    }
    q.late_count += lane::bit_count(answers);
    team_.sync();
  }

  /// Posts those of the oldest late answers that are due; true where there were some.
  SLUICE_HD bool post_due(resident_queue& q) const {
    if (q.late_count == 0) return false;
    const std::uint32_t window = q.late_count < team_.size() ? q.late_count : team_.size();
    const bool have = team_.rank() < window;
    late_answer answer{};
    if (have) answer = q.late[wrapped(q.late_head + team_.rank(), q.completion_size)];
    std::uint64_t now = 0;
    if (team_.leads()) now = lane::clock_ns();
    now = team_.broadcast(now);
    now = await_soon(have, answer.due, now);
    const bool due = have && (answer.due <= now || lane::planted("emulator.answer_early"));
    const std::uint32_t posted = team_.ballot(due), kept = team_.ballot(have && !due);
    const std::uint32_t n = lane::bit_count(posted);
    if (n == 0) return false;
    const std::uint32_t position = q.posted + lane::bit_count(posted & (team_.bit() - 1));
    write_answers(q, due, position);
    team_.sync();
    lane::fence_for_releases();
    publish_answers(team_, q, due, n, position, answer.tail);
    // The others stay, at the end of the window.
    if (have && !due)
      q.late[wrapped(q.late_head + n + lane::bit_count(kept & (team_.bit() - 1)), q.completion_size)] =
          answer;
    q.late_head = wrapped(q.late_head + n, q.completion_size);
    q.late_count -= n;
    team_.sync();
    lane::tell_waiting_lanes();
    return true;
  }

 private:
  /// Answers that are due before they could be posted apart are waited for: posting takes a GPU's warp about
  /// as long for one as for many. Returns the time then.
  SLUICE_HD std::uint64_t await_soon(bool have, std::uint64_t due, std::uint64_t now) const {
    constexpr std::uint64_t posting_ns = SLUICE_ON_GPU ? 500 : 0;
    const std::uint64_t until = now + posting_ns;
    while (team_.any(have && due > now && due <= until))
      now = team_.broadcast(team_.leads() ? lane::clock_ns() : 0);
    return now;
  }
  SLUICE_HD std::uint64_t due_time(const resident_queue& q, bool active, const decoded& mine) const {
    std::uint64_t now = 0;
    if (team_.leads()) now = lane::clock_ns();
    now = team_.broadcast(now);
    std::uint64_t due = now;
    if (job_.times.any) {
      const bool timed = active && mine.has_blocks() && mine.code.is_ok();
      const std::uint64_t busy = timed ? job_.times.busy(mine.writes(), mine.bytes) : 0;
      std::uint64_t before = 0;
      const std::uint64_t begin = reserve(now, busy, before);
      due = begin + (before >> tick_shift) + job_.times.latency(mine.writes());
    }
    const std::uint64_t drawn =
        mix(q.seen + team_.rank() + (std::uint64_t{q.id} << 48) + job_.dice.plan().seed);
    if (job_.times.jitter_ns != 0) due += drawn % (job_.times.jitter_ns + 1);
    constexpr std::uint64_t shuffle_ns = 50'000;
    if (job_.dice.plan().shuffle) due += drawn % shuffle_ns;
    return due + std::uint64_t{job_.dice.plan().delay_us} * 1000;
  }

  /// Takes `busy` ticks of each lane on the drive's clock, one after the other. Returns when the first
  /// begins, ns; `before`: ticks from there until the calling lane's turn.
  SLUICE_HD std::uint64_t reserve(std::uint64_t now, std::uint64_t busy, std::uint64_t& before) const {
    std::uint64_t through = busy;  // inclusive prefix sum
    for (std::uint32_t reach = 1; reach < team_.size(); reach *= 2) {
      const std::uint64_t other = team_.from(through, team_.rank() >= reach ? team_.rank() - reach : 0);
      if (team_.rank() >= reach) through += other;
    }
    before = through - busy;
    const std::uint64_t all = team_.from(through, team_.size() - 1);
    std::uint64_t begin = now;
    if (team_.leads()) {
      auto origin = lane::on_device(job_.clock[1]);
      std::uint64_t zero = 0;
      if (origin.load(lane::relaxed) == 0) origin.compare_exchange(zero, now, lane::relaxed);
      const std::uint64_t start = origin.load(lane::relaxed);
      const std::uint64_t ticks = (now > start ? now - start : 0) << tick_shift;
      auto free_at = lane::on_device(job_.clock[0]);
      if (free_at.load(lane::relaxed) < ticks) free_at.fetch_max(ticks, lane::relaxed);
      begin = start + (free_at.fetch_add(all, lane::relaxed) >> tick_shift);
    }
    return team_.broadcast(begin);
  }

  const resident_team& team_;
  const resident_job& job_;
};

}  // namespace sluice::emulator
