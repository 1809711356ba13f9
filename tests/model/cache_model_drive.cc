// What happens to a frame from outside: clean-ahead, the drive's DMA and errors, continuations, a queue that
// fails.
#include "tests/model/cache_model.h"
#include "tests/model/cache_model_words.h"

namespace sluice::model {

using enum cache_fault;

bool cache_model::cleanable(const state& s, int way) const {
  const auto& frame = s.set[way];
  return frame.state == dirty && frame.io == no_command && (frame.pins == 0 || has(cleans_pinned)) &&
         (frame.failed == 0 || has(retries_writes_for_ever));
}

void cache_model::serve(const state& s, int way, moves<state>& out) const {
  const auto& frame = s.set[way];
  const auto answer = [&](command with, step how) {
    state n = s;
    n.set[way].io = with;
    if (with == loaded) n.set[way].holds = frame.io_page, n.set[way].value = s.drive[frame.io_page];
    if (with == written) n.drive[frame.io_page] = frame.value;
    if (with == load_failed || (with == write_failed && frame.io_page != setup_.unwritable)) ++n.io_errors;
    put(n, how, out);
  };
  if (setup_.clean_ahead && cleanable(s, way)) {
    state n = s;
    start_write(n.set[way]);
    put(n, {"clean-ahead writes way", -1, way}, out);
  }
  const bool may_fail = s.io_errors < setup_.io_errors;
  if (frame.io == load_sent) {
    answer(loaded, {"drive fills way", -1, way});
    if (may_fail) answer(load_failed, {"drive fails the read into way", -1, way});
  }
  if (frame.io == write_sent) {
    const bool unwritable = frame.io_page == setup_.unwritable;
    if (!unwritable && frame.holds != frame.io_page)
      return out.violate("a write-back takes another page's bytes", {"drive empties way", -1, way});
    if (!unwritable) answer(written, {"drive empties way", -1, way});
    if (unwritable || may_fail) answer(write_failed, {"drive fails the write from way", -1, way});
  }
}

/// The continuation: one addition that changes the frame's state when nothing is outstanding.
void cache_model::settle(const state& s, int way, moves<state>& out) const {
  state n = s;
  auto& frame = n.set[way];
  const auto become = [&](std::uint8_t state, std::uint8_t failed, step how) {
    frame.state = state;
    frame.failed = failed;
    frame.io = no_command;
    put(n, how, out);
  };
  switch (frame.io) {
    case loaded:
      return become(valid, frame.failed, {"becomes valid: way", -1, way, true});
    case written:
      return become(valid, 0, {"becomes clean: way", -1, way});
    case load_failed:
      return become(error, frame.failed, {"becomes an error: way", -1, way});
    case write_failed:
      return become(dirty, 1, {"stays dirty, failed: way", -1, way});
    case write_aborted:
      return become(dirty, frame.failed, {"stays dirty, aborted: way", -1, way});
    default:
      return;
  }
}

/// The command of `way` is not answered in time. Its frame stays as it is until the queue is deleted.
void cache_model::lose(const state& s, int way, moves<state>& out) const {
  const auto& frame = s.set[way];
  const bool read = frame.io == load_sent;
  const bool write = frame.io == write_sent;
  if (s.lost != 0 || !((read && setup_.lost_reads != 0) || (write && setup_.lost_writes != 0))) return;
  state n = s;
  n.lost = 1;
  n.late = {frame.io, static_cast<std::uint8_t>(way), frame.io_page, frame.value, frame.version};
  auto& lost = n.set[way];
  if (read && has(fails_reads_at_once))
    lost.state = error, lost.io = no_command;
  else if (write && has(fails_writes_at_once))
    lost.state = dirty, lost.io = no_command;
  else
    lost.io = read ? load_unanswered : write_unanswered;
  put(n, {"queue fails, unanswered is the command of way", -1, way}, out);
}

/// The drive acts on the lost command after all.
void cache_model::act_late(const state& s, moves<state>& out) const {
  if (s.late.kind == no_command) return;
  state n = s;
  auto& frame = n.set[s.late.way];
  n.late = {};
  const step how{"drive acts late on way", -1, s.late.way};
  if (s.late.kind == load_sent) {
    if (frame.version != s.late.version) return out.violate("late DMA lands in a frame that was reused", how);
    frame.holds = s.late.page;
    frame.value = s.drive[s.late.page];
    return put(n, how, out);
  }
  if (!setup_.staged && frame.holds != s.late.page)
    return out.violate("a late write takes another page's bytes", how);
  const std::uint8_t value = setup_.staged ? s.late.value : frame.value;
  if (value < s.drive[s.late.page]) return out.violate("a late write overwrites a newer one", how);
  n.drive[s.late.page] = value;
  put(n, how, out);
}

void cache_model::delete_queue(const state& s, moves<state>& out) const {
  if (s.lost == 0 || s.deleted != 0) return;
  state n = s;
  n.deleted = 1;
  n.late = {};
  for (auto& frame : n.set) {
    if (frame.io == load_unanswered) frame.io = load_failed;
    if (frame.io == write_unanswered) frame.io = write_aborted;
  }
  put(n, {"watcher deletes the queue"}, out);
}

}  // namespace sluice::model
