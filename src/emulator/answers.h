// A resident's end of a completion ring: entries are written, then published.
#pragma once

#include <cstdint>

#include "emulator/resident_words.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/team.h"

namespace sluice::emulator {

using resident_team = lane::full_warp;

SLUICE_HD inline std::uint32_t wrapped(std::uint32_t at, std::uint32_t size) {
  return at >= size ? at - size : at;
}
SLUICE_HD inline std::uint32_t distance(std::uint32_t from, std::uint32_t to, std::uint32_t size) {
  return to >= from ? to - from : to + size - from;
}

SLUICE_HD inline nvme::completion_entry& answer_at(const resident_queue& q, std::uint32_t position) {
  return q.completions[wrapped(position, q.completion_size)];
}
/// The entry but for its last dword, which publishes it.
SLUICE_HD inline void write_answers(const resident_queue& q, bool mine, std::uint32_t position) {
  if (!mine) return;
  nvme::completion_entry& entry = answer_at(q, position);
  entry.result = 0;
  entry.dw1 = 0;
  entry.sq_head = q.head | q.id << 16;
}
/// Release, by the caller's fence: pairs with the reaper's acquire of the phase.
SLUICE_HD inline void publish_answers(const resident_team& team, resident_queue& q, bool mine,
                                      std::uint32_t n, std::uint32_t position, std::uint32_t tail) {
  const std::uint32_t phase = position >= q.completion_size ? q.phase ^ 1U : q.phase;
  if (mine)
    lane::on_system(answer_at(q, position).tail)
        .store(tail | phase << 16, lane::order_of("emulator.post", lane::released));
  team.sync();
  if (q.posted + n >= q.completion_size && !lane::planted("emulator.phase_stays")) q.phase ^= 1U;
  q.posted = wrapped(q.posted + n, q.completion_size);
}

}  // namespace sluice::emulator
