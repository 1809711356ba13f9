// The 64 bits that say everything about a frame: whose page it holds, in what state, and who is using it.
#pragma once

#include <cstdint>

#include "sluice/base/status.h"

namespace sluice::cache {

/// A frame's word, as one value. States are functions of fields, so that a transfer's report is one addition:
///
///   | bits  | field       | meaning                                                                        |
///   |-------|-------------|--------------------------------------------------------------------------------|
///   | 42-63 | tag         | which of its set's pages the frame holds                                       |
///   | 26-41 | version     | + 1 each time the frame is taken for new contents                              |
///   | 24-25 | mode        | empty, load, write, dirty: what was last done to the contents                  |
///   | 20-23 | outstanding | reports still to come                                                          |
///   | 16-19 | errors      | reports that told of a failure                                                 |
///   | 11-15 | uses        | teams that use the frame for a moment: loading, writing, reading an element    |
///   | 3-10  | holds       | teams that hold it across user code: spans                                     |
///   | 1-2   | proven, referenced | the replacement policy's                                                |
///   | 0     | lock        | in way 0: somebody chooses a victim in this set                                |
///
///   loading = load, outstanding > 0 · clean = load or write, outstanding = errors = 0 · error = load, errors
///   > 0 · writing = write, outstanding > 0 · dirty = dirty, or write with errors and nothing outstanding.
/// A frame whose reads or writes are under way never changes its tag: it is taken only with nothing
/// outstanding, unused and unheld, by one compare-exchange of the whole word, which sets tag, version and
/// loading at once.
class frame_word {
 public:
  enum class mode : std::uint32_t { empty = 0, load = 1, write = 2, dirty = 3 };

  static constexpr std::uint32_t tag_bits = 22;
  static constexpr std::uint32_t version_bits = 16;
  static constexpr std::uint32_t max_uses = 31;
  static constexpr std::uint32_t max_holds = 255;
  static constexpr std::uint32_t max_reports = 15;

  static constexpr std::uint64_t lock_bit = 1U << 0;
  static constexpr std::uint64_t referenced_bit = 1U << 1;
  static constexpr std::uint64_t proven_bit = 1U << 2;
  static constexpr std::uint64_t one_hold = 1U << 3;
  static constexpr std::uint64_t one_use = 1U << 11;
  static constexpr std::uint64_t one_error = 1U << 16;
  static constexpr std::uint64_t one_outstanding = 1U << 20;

  constexpr frame_word() = default;
  constexpr explicit frame_word(std::uint64_t bits) : bits_(bits) {}

  constexpr std::uint64_t bits() const { return bits_; }
  constexpr std::uint32_t tag() const { return static_cast<std::uint32_t>(bits_ >> tag_at); }
  constexpr std::uint32_t version() const {
    return static_cast<std::uint32_t>(bits_ >> version_at) & 0xffffU;
  }
  constexpr mode last() const { return static_cast<mode>(bits_ >> mode_at & 3U); }
  constexpr std::uint32_t outstanding() const { return static_cast<std::uint32_t>(bits_ >> 20) & 15U; }
  constexpr std::uint32_t errors() const { return static_cast<std::uint32_t>(bits_ >> 16) & 15U; }
  constexpr std::uint32_t uses() const { return static_cast<std::uint32_t>(bits_ >> 11) & 31U; }
  constexpr std::uint32_t holds() const { return static_cast<std::uint32_t>(bits_ >> 3) & 255U; }
  constexpr bool proven() const { return (bits_ & proven_bit) != 0; }
  constexpr bool referenced() const {
    return (static_cast<std::uint32_t>(bits_) & static_cast<std::uint32_t>(referenced_bit)) != 0;
  }
  constexpr bool locked() const { return (bits_ & lock_bit) != 0; }

  constexpr bool is_empty() const { return last() == mode::empty; }
  constexpr bool is_loading() const { return last() == mode::load && outstanding() != 0; }
  /// Taken by a span that overwrites it and has not ended: no frame that is being read into is held.
  constexpr bool is_overwriting() const { return is_loading() && holds() != 0; }
  /// Of a load that is checked: the drives have made their reports, and the check's is still to come. (A
  /// frame that a span overwrites is held; one that is loading otherwise is not.)
  constexpr bool awaits_check() const { return last() == mode::load && outstanding() == 1 && holds() == 0; }
  constexpr bool is_error() const { return last() == mode::load && outstanding() == 0 && errors() != 0; }
  constexpr bool is_writing() const { return last() == mode::write && outstanding() != 0; }
  constexpr bool is_clean() const {
    return (last() == mode::load || last() == mode::write) && outstanding() == 0 && errors() == 0;
  }
  constexpr bool is_dirty() const { return last() == mode::dirty || (is_settled_write() && errors() != 0); }
  /// Its bytes are the page's: it may be read.
  constexpr bool is_resident() const {
    const std::uint32_t progress = state();
    return progress == clean_load || progress >= any_write;
  }
  /// Nobody finds a page in it: empty, or an error that only its loader still looks at.
  constexpr bool is_absent() const { return is_empty() || is_error(); }
  constexpr bool is_unpinned() const { return uses() == 0 && holds() == 0; }
  /// May be taken for another page.
  constexpr bool is_victim() const { return is_unpinned() && (is_absent() || is_clean()); }
  /// May be pinned for writing.
  constexpr bool is_writable() const { return is_clean() || is_dirty(); }
  /// May be written back now: nobody can be changing its bytes.
  constexpr bool is_cleanable() const { return is_dirty() && uses() == 0; }
  constexpr bool takes_use() const { return uses() < max_uses; }
  constexpr bool takes_hold() const { return holds() < max_holds; }

  /// Holds the page of that tag, or will: an absent frame does not.
  constexpr bool names(std::uint32_t tag) const { return this->tag() == tag && !is_absent(); }
  /// Holds it, and resident: both without a branch.
  constexpr bool is_resident_page(std::uint32_t tag) const {
    const std::uint32_t progress = state();
    return ((this->tag() ^ tag) == 0) & ((progress == clean_load) | (progress >= any_write));
  }
  /// The same contents, still resident: what an optimistic reader asks. Only taking a frame ends residency,
  /// and that changes the version; pins, dirt and policy bits may differ.
  constexpr bool same_contents(frame_word other) const { return ((bits_ ^ other.bits_) >> version_at) == 0; }

  /// same_contents(), of a word that has its reference bit: what a hit asks that has nothing else to do.
  constexpr bool same_referenced(frame_word other) const {
    constexpr std::uint64_t contents = ~std::uint64_t{0} << version_at;
    return (((bits_ ^ other.bits_) & contents) | (~bits_ & referenced_bit)) == 0;
  }

  // What a compare-exchange puts in place of this word.

  /// A victim, taken to load the page of `tag` in `reports` reports, with the loader's pin already in it.
  constexpr frame_word taken_to_load(std::uint32_t tag, std::uint32_t reports) const {
    return frame_word(taken(tag) | reports * one_outstanding | one_use);
  }
  /// A victim or the page's own frame, unpinned, taken to be overwritten by a span: others see it loading
  /// until it ends.
  constexpr frame_word taken_to_overwrite(std::uint32_t tag) const {
    return frame_word(taken(tag) | one_outstanding | one_hold);
  }
  constexpr frame_word referenced_now() const { return frame_word(bits_ | referenced_bit); }
  constexpr frame_word used() const { return frame_word(bits_ + one_use); }
  constexpr frame_word held() const { return frame_word(bits_ + one_hold); }
  /// Dirty from clean or dirty; an earlier failure to write it stays on record.
  constexpr frame_word dirtied() const { return frame_word(bits_ | std::uint64_t{3} << mode_at); }
  constexpr frame_word writing(std::uint32_t reports) const {
    return frame_word((bits_ & ~(progress_mask << progress_at)) | std::uint64_t{2} << mode_at |
                      reports * one_outstanding);
  }
  /// An overwritten frame whose span ends.
  constexpr frame_word overwritten() const {
    return frame_word((bits_ & ~(progress_mask << progress_at)) | std::uint64_t{3} << mode_at)
        .plus(release_hold);
  }
  constexpr frame_word with_version_of(frame_word other) const {
    return frame_word(bits_ ^ ((bits_ ^ other.bits_) & (std::uint64_t{0xffff} << version_at)));
  }
  constexpr frame_word plus(std::uint64_t delta) const { return frame_word(bits_ + delta); }

  // What one fetch_add does, whatever else changes in the word meanwhile. Fields never borrow: each is only
  // counted down by whoever counted it up.

  static constexpr std::uint64_t report_ok = 0 - one_outstanding;
  static constexpr std::uint64_t report_error = one_error - one_outstanding;
  static constexpr std::uint64_t release_use = 0 - one_use;
  static constexpr std::uint64_t release_hold = 0 - one_hold;
  /// A transfer of `reports` reports that was never started.
  static constexpr std::uint64_t never_started(std::uint32_t reports) {
    return one_error - reports * one_outstanding;
  }

  friend constexpr bool operator==(frame_word, frame_word) = default;

 private:
  static constexpr std::uint32_t progress_at = 16;
  static constexpr std::uint32_t mode_at = 24;
  static constexpr std::uint32_t version_at = 26;
  static constexpr std::uint32_t tag_at = version_at + version_bits;
  static constexpr std::uint64_t progress_mask = 0x3ff;  // mode, outstanding, errors
  static constexpr std::uint32_t clean_load = 0x100;
  static constexpr std::uint32_t any_write = 0x200;

  constexpr std::uint32_t state() const {
    return static_cast<std::uint32_t>(bits_ >> progress_at) & progress_mask;
  }
  constexpr bool is_settled_write() const { return last() == mode::write && outstanding() == 0; }
  constexpr std::uint64_t taken(std::uint32_t tag) const {
    const std::uint64_t next = (version() + 1) & 0xffffU;
    return std::uint64_t{tag} << tag_at | next << version_at | std::uint64_t{1} << mode_at |
           (bits_ & lock_bit);
  }

  std::uint64_t bits_ = 0;
};

static_assert(sizeof(frame_word) == 8);
static_assert(frame_word::tag_bits + frame_word::version_bits + 26 == 64);
static_assert(frame_word().is_empty() && frame_word().is_victim(), "zeroed memory is an empty cache");

/// A frame's second word, one for each report of its transfers: until the report a hint for poll(), and after
/// a failure its status.
class frame_detail {
 public:
  constexpr explicit frame_detail(std::uint64_t bits) : bits_(bits) {}

  /// For poll(): where the transfer waits, or 0 where nobody said so yet.
  constexpr std::uint64_t hint() const { return (bits_ >> 32) != 0 ? bits_ : 0; }
  /// What the report told: ok while there is none, and where it was good.
  constexpr status told() const {
    return (bits_ >> 32) != 0 ? status::ok : status::from_bits(static_cast<std::uint32_t>(bits_));
  }

 private:
  std::uint64_t bits_;
};

}  // namespace sluice::cache
