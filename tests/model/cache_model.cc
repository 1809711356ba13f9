// What lanes do in the cache model: probe, read, pin and write, miss and load, hold spans, flush.
#include "tests/model/cache_model.h"

#include "tests/model/cache_model_words.h"

namespace sluice::model {

using enum cache_fault;

bool cache_model::finished(const state& s) const {
  for (std::size_t i = 0; i < setup_.lanes.size(); ++i)
    if (s.lanes[i].next < setup_.lanes[i].size()) return false;
  return true;
}

bool cache_model::nobody_advances(const state& a, const state& b) const {
  for (int i = 0; i < state::max_lanes; ++i)
    if (a.lanes[i].next != b.lanes[i].next) return false;
  return true;
}

/// A move, unless it leaves the set in a state that no schedule may reach.
void cache_model::put(const state& n, step how, moves<state>& out) const {
  const auto& [a, b] = n.set;
  if (a.tag != 0 && a.tag == b.tag && in_use(a.state) && in_use(b.state))
    return out.violate("two frames hold the same page", how);
  for (const auto& frame : n.set)
    if (frame.state == valid && frame.holds == frame.tag && frame.value != n.drive[frame.tag])
      return out.violate("a clean frame differs from the drive: an update will be lost", how);
  out.add(n, how);
}

void cache_model::steps(const state& s, moves<state>& out) const {
  for (std::size_t k = 0; k < setup_.lanes.size() && !out.violated(); ++k) {
    const int i = static_cast<int>(k);
    if (s.lanes[i].next >= setup_.lanes[k].size()) continue;
    const auto at = s.lanes[i].at;
    if (at == beginning)
      begin(s, i, out);
    else if (at <= probing_second)
      probe(s, i, out);
    else if (at == word)
      read_word(s, i, out);
    else if (at <= looking_back)
      read_data(s, i, out);
    else if (at <= unpinning)
      write(s, i, out);
    else if (at <= probing_again)
      miss(s, i, out);
    else if (at == choosing)
      choose_victim(s, i, out);
    else if (at <= submitting)
      load(s, i, out);
    else if (at == awaiting)
      consume(s, i, out);
    else if (at <= span_checked)
      pin_span(s, i, out);
    else
      flush(s, i, out);
  }
  for (int way = 0; way < state::ways && !out.violated(); ++way) {
    serve(s, way, out);
    settle(s, way, out);
    lose(s, way, out);
  }
  if (!out.violated()) act_late(s, out);
  if (!out.violated()) delete_queue(s, out);
}

void cache_model::begin(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  const access now = current(s, i);
  switch (now.what) {
    case act::consume:
      if (me.kept != 0) {
        auto& frame = n.set[me.kept - 1];
        if (!resident(frame.state)) return;
        --frame.pins;
        me.kept = 0;
      }
      end_access(me);
      return put(n, {"consumes the page it kept", i}, out);
    case act::release:
      if (me.span != 0) --n.set[me.span - 1].spans;
      me.span = 0;
      end_access(me);
      return put(n, {"releases its span", i}, out);
    case act::flush:
      for (int page = 1; page <= state::pages; ++page) me.target[page - 1] = s.truth[page];
      me.at = flushing;
      return put(n, {"starts a flush", i}, out);
    default:
      me.least = s.truth[now.page];
      me.at = probing_first;
      return put(n, {"asks for page", i, now.page}, out);
  }
}

void cache_model::probe(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  const int way = me.at == probing_first ? 0 : 1;
  if (s.set[way].tag == current(s, i).page && s.set[way].state != empty) {
    me.way = way;
    me.at = word;
    return put(n, {"finds the tag in way", i, way}, out);
  }
  me.at = way == 0 ? probing_second : locking;
  put(n, {"does not find it in way", i, way}, out);
}

void cache_model::read_word(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  const auto& frame = s.set[me.way];
  const act what = current(s, i).what;
  me.version = frame.version;
  if (frame.state == empty || frame.state == claimed_frame || frame.state == loading) {
    start_over(me);
    return put(n, {"waits for way", i, s.lanes[i].way}, out);
  }
  if (frame.state == error) {
    if (has(old_error_is_a_hit))
      return out.violate("a new asker gets an old error", {"reads the word of way", i, me.way});
    me.at = locking;
    return put(n, {"finds an error, which is a miss, in way", i, me.way}, out);
  }
  if (what == act::write && frame.state == writing && !has(writes_while_writing)) {
    start_over(me);
    return put(n, {"waits for the write of way", i, s.lanes[i].way}, out);
  }
  me.at = what == act::write ? tag_again : what == act::hold ? span_locking : data;
  put(n, {"reads the word of way", i, me.way}, out);
}

void cache_model::read_data(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  const auto& frame = s.set[me.way];
  const int page = current(s, i).page;
  if (me.at == data) {
    me.value = frame.value;
    me.holds = frame.holds;
    me.at = looking_back;
    return put(n, {"reads the data of way", i, me.way}, out);
  }
  const bool unchanged = frame.version == me.version && resident(frame.state) && frame.tag == page;
  if (!unchanged && !has(reads_without_looking_back)) {
    start_over(me);
    return put(n, {"finds the word changed", i}, out);
  }
  if (me.holds != page) return out.violate("a read returns another page's bytes", {"accepts", i});
  if (me.value < me.least)
    return out.violate("a read returns bytes older than an earlier write", {"accepts", i});
  end_access(me);
  put(n, {"accepts what it read", i}, out);
}

void cache_model::write(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  auto& frame = n.set[me.way];
  const int page = current(s, i).page;
  switch (me.at) {
    case tag_again:
      if (frame.tag == page)
        me.at = pinning;
      else
        start_over(me);
      return put(n, {"looks at the tag again", i}, out);
    case pinning: {
      const bool writable = frame.state == valid || frame.state == dirty ||
                            (frame.state == writing && has(writes_while_writing));
      if (!writable || (frame.version != me.version && !has(pins_any_version))) {
        start_over(me);
        return put(n, {"pins in vain", i}, out);
      }
      if (!has(dirties_after_the_store) && frame.state != writing) frame.state = dirty;
      ++frame.pins;
      me.at = storing;
      return put(n, {"pins for writing way", i, me.way}, out);
    }
    case storing:
      if (frame.holds != page || frame.tag != page)
        return out.violate("a write lands in another page", {"stores in way", i, me.way});
      ++frame.value;
      ++n.truth[page];
      me.at = has(dirties_after_the_store) ? dirtying : unpinning;
      if (has(dirties_after_the_store)) return out.add(n, {"stores in way", i, me.way});
      return put(n, {"stores in way", i, me.way}, out);
    case dirtying:
      frame.state = dirty;
      me.at = unpinning;
      return put(n, {"sets dirty way", i, me.way}, out);
    default:
      --frame.pins;
      end_access(me);
      return put(n, {"unpins way", i, s.lanes[i].way}, out);
  }
}

void cache_model::miss(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  if (me.at == locking) {
    if (has(no_set_lock)) {
      me.at = choosing;
      return put(n, {"goes for a victim without the lock", i}, out);
    }
    if (s.locked) return;
    n.locked = 1;
    me.at = probing_again;
    return put(n, {"takes the set's lock", i}, out);
  }
  bool found = false;
  for (const auto& frame : s.set)
    found = found || (frame.tag == current(s, i).page && frame.state != empty && frame.state != error);
  if (found) {
    n.locked = 0;
    start_over(me);
  } else {
    me.at = choosing;
  }
  put(n, {found ? "finds it now, unlocks" : "probes again, in vain", i}, out);
}

void cache_model::choose_victim(const state& s, int i, moves<state>& out) const {
  const bool spanning = current(s, i).what == act::hold && !has(span_loader_has_no_pin);
  bool any = false;
  for (int way = 0; way < state::ways; ++way) {
    const auto& frame = s.set[way];
    const bool clean = frame.state == empty || frame.state == valid || frame.state == error ||
                       (frame.state == dirty && has(evicts_dirty));
    if (!clean || (frame.pins != 0 && !has(evicts_pinned)) || frame.spans != 0 || frame.io != no_command)
      continue;
    any = true;
    state n = s;
    if (spanning && last_way(s, way)) {
      n.locked = 0;
      end_access(n.lanes[i]);
      put(n, {"is told no_frame", i}, out);
      continue;
    }
    n.set[way].version = has(keeps_the_version) ? frame.version : (frame.version + 1) % 16;
    n.set[way].state = claimed_frame;
    n.set[way].failed = 0;
    n.lanes[i].way = way;
    n.lanes[i].version = n.set[way].version;
    n.lanes[i].at = tagging;
    put(n, {"claims way", i, way}, out);
  }
  if (!any) find_no_victim(s, i, out);
}

void cache_model::find_no_victim(const state& s, int i, moves<state>& out) const {
  state n = s;
  n.locked = 0;
  start_over(n.lanes[i]);
  bool will_come = false;
  bool failed = false;
  for (int way = 0; way < state::ways; ++way) {
    const auto& frame = s.set[way];
    if (cleanable(s, way)) {
      will_come = true;
      state w = n;
      start_write(w.set[way]);
      put(w, {"starts the write of way", i, way}, out);
    } else if (frame.state == dirty && frame.failed != 0 && frame.pins == 0 && frame.spans == 0) {
      failed = true;
    } else if (frame.spans == 0) {
      will_come = true;
    }
  }
  if (!will_come && failed) {
    end_access(n.lanes[i]);
    return put(n, {"returns the status of a write that failed", i}, out);
  }
  put(n, {"finds no victim", i}, out);
}

void cache_model::load(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  auto& frame = n.set[me.way];
  const access now = current(s, i);
  switch (me.at) {
    case tagging:
      frame.tag = now.page;
      me.at = publishing;
      return put(n, {"writes the tag of way", i, me.way}, out);
    case publishing:
      frame.state = loading;
      if (now.what == act::hold)
        frame.spans += has(span_loader_has_no_pin) ? 0 : 1;
      else if (!has(loader_has_no_pin))
        ++frame.pins;
      if (!has(no_set_lock)) n.locked = 0;
      me.at = submitting;
      return put(n, {"publishes loading in way", i, me.way}, out);
    default:
      break;
  }
  if (now.what != act::keep || has(keeps_two_frames)) frame.io = load_sent, frame.io_page = now.page;
  if (now.what == act::keep) {
    const int way = me.way;
    me.kept = way + 1;
    end_access(me);
    return put(
        n, {has(keeps_two_frames) ? "submits and keeps way" : "keeps, without submitting, way", i, way}, out);
  }
  if (me.kept != 0 && has(submits_after_both_claims)) {
    auto& kept = n.set[me.kept - 1];
    kept.io = load_sent, kept.io_page = kept.tag;
  }
  me.at = awaiting;
  put(n, {"submits the load of way", i, me.way}, out);
}

void cache_model::consume(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  auto& frame = n.set[me.way];
  const access now = current(s, i);
  const bool mine = frame.version == me.version;
  if (mine && frame.state == loading) return;
  if (now.what == act::hold && !has(span_loader_has_no_pin)) {
    if (frame.state == error)
      --frame.spans;
    else
      me.span = me.way + 1;
    end_access(me);
    return put(n,
               {me.span != 0 ? "holds the span that it loaded, way" : "takes the error of a span, way", i,
                s.lanes[i].way},
               out);
  }
  if (has(loader_has_no_pin) || now.what == act::hold) {
    if (mine && frame.state == error)
      end_access(me);
    else
      start_over(me);
    return put(n, {"sees its load come, looks for it", i}, out);
  }
  if (frame.state == error) {
    --frame.pins;
    end_access(me);
    return put(n, {"takes the error", i}, out);
  }
  if (frame.holds != now.page)
    return out.violate("the loader reads another page", {"consumes way", i, me.way});
  if (now.what == act::read) {
    if (frame.value < me.least) return out.violate("the loader reads old bytes", {"consumes way", i, me.way});
    me.at = unpinning;
    return put(n, {"consumes way", i, me.way}, out);
  }
  if (frame.state == writing) return;
  frame.state = dirty;
  me.at = storing;
  put(n, {"sets dirty way", i, me.way}, out);
}

/// One way of the set is never held by spans: they are counted, and the first pin is taken, under the set's
/// lock.
bool cache_model::last_way(const state& s, int way) const {
  return s.set[way].spans == 0 && s.set[1 - way].spans != 0;
}

void cache_model::pin_span(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  auto& frame = n.set[me.way];
  const bool last = last_way(s, me.way);
  if (me.at == span_locking && !has(checks_spans_then_pins)) {
    if (s.locked) return;
    n.locked = 1;
    me.at = span_pinning;
    return put(n, {"takes the set's lock for a span", i}, out);
  }
  if (me.at == span_locking && !last) {
    me.at = span_checked;
    return put(n, {"sees the other way free of spans", i}, out);
  }
  if (me.at == span_pinning) n.locked = 0;
  if (last && me.at != span_checked) {
    end_access(me);
    return put(n, {"is told no_frame", i}, out);
  }
  if (frame.version != me.version || !resident(frame.state)) {
    start_over(me);
    return put(n, {"pins a span in vain", i}, out);
  }
  ++frame.spans;
  me.span = me.way + 1;
  end_access(me);
  put(n, {"holds a span of way", i, n.lanes[i].span - 1}, out);
}

void cache_model::flush(const state& s, int i, moves<state>& out) const {
  state n = s;
  auto& me = n.lanes[i];
  if (me.at == flushed) {
    for (int page = 1; page <= state::pages; ++page)
      if (s.drive[page] < me.target[page - 1])
        return out.violate("flush returned while the drive holds old bytes",
                           {"returns from flush, page", i, page});
    end_access(me);
    return put(n, {"returns from flush", i}, out);
  }
  const int way = me.at - flushing;
  auto& frame = n.set[way];
  const bool tried = (me.tried >> way & 1) != 0;
  if (frame.state == dirty && frame.failed != 0 && tried) {
    me.target[frame.tag - 1] = 0;
    ++me.at;
    return put(n, {"names the page that cannot be written, in way", i, way}, out);
  }
  if (frame.state == dirty) {
    if (frame.pins != 0 || frame.io != no_command) return;
    start_write(frame);
    me.tried |= 1 << way;
    return put(n, {"flushes way", i, way}, out);
  }
  if (frame.state == writing && !has(flush_passes_writing)) return;
  ++me.at;
  put(n, {"has nothing to flush in way", i, way}, out);
}

}  // namespace sluice::model
