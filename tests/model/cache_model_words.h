// The values that the words of the cache model take, and where its lanes and its commands stand.
#pragma once

#include <cstdint>

#include "tests/model/cache_model.h"

namespace sluice::model {

enum frame : std::uint8_t { empty, claimed_frame, loading, valid, dirty, writing, error };

enum command : std::uint8_t {
  no_command,
  load_sent,
  write_sent,
  loaded,
  written,
  load_failed,
  write_failed,
  load_unanswered,
  write_unanswered,
  write_aborted
};

enum walking : std::uint8_t {
  beginning,
  probing_first,
  probing_second,
  word,
  data,
  looking_back,
  tag_again,
  pinning,
  storing,
  dirtying,
  unpinning,
  locking,
  probing_again,
  choosing,
  tagging,
  publishing,
  submitting,
  awaiting,
  span_locking,
  span_pinning,
  span_checked,
  flushing,
  flushed = flushing + cache_state::ways
};

inline bool resident(std::uint8_t state) { return state == valid || state == dirty || state == writing; }
inline bool in_use(std::uint8_t state) { return resident(state) || state == loading; }

/// The lane's access is over; what it holds stays with it.
inline void end_access(cache_state::lane& me) {
  cache_state::lane fresh{};
  fresh.next = me.next + 1;
  fresh.span = me.span;
  fresh.kept = me.kept;
  me = fresh;
}

/// From the probe again, as a fresh access.
inline void start_over(cache_state::lane& me) {
  me.at = probing_first;
  me.way = me.version = 0;
}

/// One CAS: dirty becomes writing, and the write is on its way.
inline void start_write(cache_state::way& frame) {
  frame.state = writing;
  frame.io = write_sent;
  frame.io_page = frame.tag;
}

}  // namespace sluice::model
