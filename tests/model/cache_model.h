// One set of the cache of design section 5 as a state machine: two ways, three pages, lanes with small
// programs, one drive.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/model/engine.h"

namespace sluice::model {

enum class cache_fault : std::uint8_t {
  none,
  no_set_lock,                 ///< a miss claims without the set's lock and without probing again
  pins_any_version,            ///< the pin's CAS does not name the version whose tag was checked
  keeps_the_version,           ///< a refill does not count the version up
  reads_without_looking_back,  ///< the optimistic read does not compare the word again
  evicts_pinned,               ///< a victim may be pinned
  evicts_dirty,                ///< a dirty victim is dropped without a write
  dirties_after_the_store,     ///< a write pin leaves the frame valid; dirty is set when the bytes are in
  writes_while_writing,        ///< a frame on its way to the drive can be written
  cleans_pinned,               ///< clean-ahead takes frames that a writer has pinned
  checks_spans_then_pins,      ///< the span rule is looked at outside the set's lock
  span_loader_has_no_pin,     ///< the same for spans: the frame is loaded first, and pinned as a span when it
                              ///< has come
  loader_has_no_pin,          ///< a loading frame is anybody's victim as soon as it is valid
  retries_writes_for_ever,    ///< no failed bit: a page that cannot be written is tried again and again
  old_error_is_a_hit,         ///< an error frame answers those who ask later
  flush_passes_writing,       ///< flush does not wait for writes that others started
  fails_reads_at_once,        ///< a lost read's frame errs before the queue is deleted
  fails_writes_at_once,       ///< a lost write's frame is dirty again before the queue is deleted
  submits_after_both_claims,  ///< a team claims two frames, then submits the two loads together
  keeps_two_frames,           ///< a team submits each load but keeps both pinned until both have come
};

/// What a lane does next. `hold` pins a page as a span until `release`. `keep` claims a page as a team does
/// that holds on to it, `consume` lets it go: planted only.
enum class act : std::uint8_t { read, write, hold, release, flush, keep, consume };

struct access {
  act what;
  std::uint8_t page = 0;  ///< 1 to 3
};
using program = std::vector<access>;

struct cache_setup {
  std::vector<program> lanes;
  bool clean_ahead = false;
  bool staged = false;  ///< write-back bytes are copied at submission; otherwise the drive reads the frame
  int io_errors = 0;    ///< how many commands the drive may fail
  int unwritable = 0;   ///< a page whose writes always fail
  int lost_reads = 0;   ///< a command that stays unanswered until its queue is deleted (one in all)
  int lost_writes = 0;
};

struct cache_state {
  static constexpr int ways = 2;
  static constexpr int pages = 3;
  static constexpr int max_lanes = 3;

  struct way {
    std::uint8_t state, version, pins, spans, tag, failed;  // the frame's word
    std::uint8_t holds, value;                              // whose bytes lie in it, and how new they are
    std::uint8_t io, io_page;
  };
  struct lane {
    std::uint8_t at, next, way, version, least, value, holds;
    std::uint8_t span, kept;  // way + 1
    std::uint8_t target[pages], tried;
  };
  struct late_command {  // the drive still has it although nobody waits
    std::uint8_t kind, way, page, value, version;
  };

  way set[ways];
  std::uint8_t drive[pages + 1], truth[pages + 1];  // how many writes of the page they contain
  std::uint8_t locked, io_errors, lost, deleted;
  late_command late;
  lane lanes[max_lanes];
};

class cache_model {
 public:
  using state = cache_state;
  explicit cache_model(cache_setup setup, cache_fault fault = cache_fault::none)
      : setup_(std::move(setup)), fault_(fault) {}

  state start() const { return {}; }
  bool finished(const state& s) const;
  void steps(const state& s, moves<state>& out) const;
  /// For the livelock search: no lane's access ended between the two.
  bool nobody_advances(const state& a, const state& b) const;

 private:
  bool has(cache_fault f) const { return fault_ == f; }
  const access& current(const state& s, int i) const { return setup_.lanes[i][s.lanes[i].next]; }
  void put(const state& n, step how, moves<state>& out) const;

  void begin(const state& s, int i, moves<state>& out) const;
  void probe(const state& s, int i, moves<state>& out) const;
  void read_word(const state& s, int i, moves<state>& out) const;
  void read_data(const state& s, int i, moves<state>& out) const;
  void write(const state& s, int i, moves<state>& out) const;
  void miss(const state& s, int i, moves<state>& out) const;
  void choose_victim(const state& s, int i, moves<state>& out) const;
  void find_no_victim(const state& s, int i, moves<state>& out) const;
  void load(const state& s, int i, moves<state>& out) const;
  void consume(const state& s, int i, moves<state>& out) const;
  bool last_way(const state& s, int way) const;
  void pin_span(const state& s, int i, moves<state>& out) const;
  void flush(const state& s, int i, moves<state>& out) const;

  bool cleanable(const state& s, int way) const;
  void serve(const state& s, int way, moves<state>& out) const;
  void settle(const state& s, int way, moves<state>& out) const;
  void lose(const state& s, int way, moves<state>& out) const;
  void act_late(const state& s, moves<state>& out) const;
  void delete_queue(const state& s, moves<state>& out) const;

  cache_setup setup_;
  cache_fault fault_;
};

}  // namespace sluice::model
