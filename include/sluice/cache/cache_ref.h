// A cache of pages as lanes see it: elements read and written by page and offset, whatever is resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/std/bit>

#include "sluice/base/report.h"
#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/cache/checked_store.h"
#include "sluice/cache/claim.h"
#include "sluice/cache/counters.h"
#include "sluice/cache/directory.h"
#include "sluice/cache/element.h"
#include "sluice/cache/frame_word.h"
#include "sluice/cache/host_tier.h"
#include "sluice/cache/page_store.h"
#include "sluice/cache/policy.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/far_call.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/mutant.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"

namespace sluice::cache {

/// What the cache does for an access; the lesser two are there to be measured against.
enum class mode : std::uint8_t {
  none,       ///< every access is I/O, also of a page that is resident
  naive,      ///< resident pages are used, but each lane probes, pins and asks for itself
  optimized,  ///< optimistic hits; lanes that want the same page share a probe, a pin and a transfer
};

enum class access : std::uint8_t { read, write };

/// What became of an access, and the value where it is ok.
template <class T>
struct outcome {
  T value{};
  status code;

  SLUICE_HD bool is_ok() const { return code.is_ok(); }
};

enum class span_kind : std::uint8_t {
  read,       ///< others may read and write the page meanwhile
  write,      ///< the same; the page is dirty when the span ends
  overwrite,  ///< the page is not read first; others see it loading until the span ends
};

/// A page held in its frame. All lanes of the team that opened it have the same one, and close it together.
struct held_page {
  std::uint32_t frame = no_frame_index;
  span_kind kind = span_kind::read;
  status code;

  SLUICE_HD bool is_ok() const { return code.is_ok(); }
};

/// A page that was asked for ahead of its use. Holds nothing: neither a frame nor a place in a queue.
struct prefetch_token {
  std::uint32_t frame = no_frame_index;  ///< where it was loading, or none: nothing to wait for
  frame_word word;
};

inline constexpr page_id no_page{~std::uint64_t{0}};

/// What a write-back of many pages did.
struct flush_report {
  status code;             ///< of the first page that could not be written, or of the store's flush
  page_id page = no_page;  ///< that page
  std::uint32_t written = 0;
};

/// The part of a cache that does not depend on where pages come from; filled by its owner.
struct cache_view {
  directory_ref directory;
  std::byte* frames = nullptr;
  std::uint32_t page_shift = 12;
  std::uint64_t patience_ns = 0;   ///< how long one access may wait
  std::uint32_t* abort = nullptr;  ///< in lanes' memory; ends all waits when the host sets it
  const tier_ref* tier = nullptr;  ///< in lanes' memory; none where there is no second tier
  counters_ref counters;
};

/// A use of pages, in visit(), that names a type `whole_team`: all lanes of the team take part in it.
template <class Use>
concept used_together = requires {
  typename Use::whole_team;
};

/// Lanes' view of a cache; trivially copyable. Any lanes may call it, in any number and divergence. Misses
/// and what they cost are always counted, accesses and their bytes only where it `Counts`: that is an
/// addition on the hit path.
template <page_store Store, replacement_policy Policy = clock, mode Mode = mode::optimized,
          bool Counts = true>
class cache_ref {
 public:
  using store_type = Store;

  cache_ref() = default;
  cache_ref(const cache_view& view, const Store& store)
      : view_(view), store_(store), pages_(store.pages()), page_bytes_(1U << view.page_shift) {
    view_.directory = view.directory.with_copies(store.sources(), store.reports(true) / store.sources());
    if (Mode == mode::none) view_.tier = nullptr;  // each access is I/O
  }

  SLUICE_HD std::uint32_t page_bytes() const { return page_bytes_; }
  SLUICE_HD std::uint32_t page_shift() const { return view_.page_shift; }
  SLUICE_HD std::uint64_t pages() const { return pages_; }
  SLUICE_HD const Store& store() const { return store_; }
  /// A fresh budget for one wait.
  SLUICE_HD lane::budget patience() const { return lane::budget(view_.patience_ns, view_.abort); }
  SLUICE_HD const directory_ref& directory() const { return view_.directory; }

  /// Reads the element that starts `offset` bytes into the page, and lies in it wholly, aligned to
  /// piece_bytes<T>. Lanes:  any lane; those that miss together share the work. Order:  sees every write to
  /// the page that happened before, also after write-back and eviction. Elements of up to 8
  ///   bytes are read at once; larger ones like plain memory.
  /// Waits:  at most the cache's patience, for a frame and for the store.
  /// Errors: the load's status as the store gave it; timed_out, out_of_range, or a failed write's, where such
  /// pages fill
  ///   the set.
  /// `due`: the page was asked for before, so after a glance it is waited for, and not looked for.
  template <class T>
  SLUICE_HD SLUICE_INLINE outcome<T> read(page_id page, std::uint32_t offset, bool due = false) const;

  /// Writes the element; the page becomes dirty. The rest as read(); read_only where the store takes no
  /// writes.
  template <class T>
  SLUICE_HD SLUICE_INLINE status write(page_id page, std::uint32_t offset, const T& value) const;

  /// Adds to an element of 4 or 8 bytes at once and returns what was there. The rest as write().
  template <class T>
  SLUICE_HD SLUICE_INLINE outcome<T> fetch_add(page_id page, std::uint32_t offset, T value) const;

  /// Bytes inside one page, in pieces of `Piece` bytes: for elements that straddle pages, part by part.
  template <std::uint32_t Piece>
  SLUICE_NOINLINE SLUICE_HD status read_bytes(page_id page, std::uint32_t offset, std::byte* to,
                                              std::uint32_t bytes) const;
  template <std::uint32_t Piece>
  SLUICE_NOINLINE SLUICE_HD status write_bytes(page_id page, std::uint32_t offset, const std::byte* from,
                                               std::uint32_t bytes) const;

  /// Lets `use(frame)` run once in each lane with its page pinned: `frame` is where the page's bytes lie. It
  /// may not wait. Lanes:  all lanes of the team, each with a page of its own; those with the same page share
  /// one pin, and what the team has to load is submitted as one batch. Where `use` is for the whole team (see
  /// used_together), all its lanes call it together, once or more often, with null where their page is not
  /// among those that have come. The rest as read() or write().
  template <access Kind, class Team, class Use>
  SLUICE_HD status visit(const Team& team, page_id page, const Use& use) const;

  /// Adds to the statistics what the calling lane read in pages that it visited; element accesses are counted
  /// anyway.
  SLUICE_HD void note_visits([[maybe_unused]] std::uint64_t visits,
                             [[maybe_unused]] std::uint64_t bytes) const {
    if constexpr (Counts) {
      count(counter::accesses, visits);
      count(counter::bytes_asked, bytes);
    }
  }

  /// Lets `use(frame, k)` run once in each lane for each of `count` neighbouring pages, k from 0 on but in
  /// any order, with the page pinned meanwhile: it may not wait. Resident pages cost two atomic operations
  /// each, all of them at once; what is missing is on its way as one batch while the others are used. Lanes:
  /// all lanes of the team, of which there are `count` or more. Errors: of the first page that failed, with
  /// its k: as read(); the others are used.
  template <class Team, class Use>
  SLUICE_HD SLUICE_INLINE outcome<std::uint32_t> walk(const Team& team, page_id first, std::uint32_t count,
                                                      const Use& use) const;

  /// Pins a page across user code.
  /// Lanes:  all lanes of the team, one page.
  /// Errors: no_frame where spans hold all but one way of the page's set; else as read() or write().
  template <class Team>
  SLUICE_HD held_page hold(const Team& team, page_id page, span_kind kind) const;
  /// Ends it. Order: release; whoever pins the page next, or writes it back, sees what the team wrote.
  template <class Team>
  SLUICE_HD void release(const Team& team, const held_page& held) const;
  /// The held page's bytes.
  SLUICE_HD std::byte* bytes(const held_page& held) const { return frame_bytes(held.frame); }

  /// Starts loading a page that is not resident, and returns at once. Best effort: the access that follows
  /// asks again.
  template <class Team>
  SLUICE_HD SLUICE_INLINE prefetch_token prefetch(const Team& team, page_id page) const;
  /// Waits until the page of the token has come (or gone again). Errors: as read().
  template <class Team>
  SLUICE_HD status wait(const Team& team, const prefetch_token& token) const;

  /// Writes the dirty pages among [first, last) that lie in frames [from, to), failed ones twice.
  /// Lanes:  all lanes of the team. Several teams may share the frames of a cache; then one calls
  /// store().flush(). Waits:  for the writes, and before for the ends of spans that write or overwrite such
  /// pages.
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD flush_report write_back(const Team& team, page_id first, page_id last,
                                                    std::uint32_t from, std::uint32_t to) const;
  /// write_back() over all frames, then the store's flush: the pages' bytes now outlive power.
  template <class Team>
  SLUICE_HD flush_report flush(const Team& team, page_id first, page_id last) const;

 private:
  static constexpr std::uint32_t optimistic_tries = 4;

  /// What the leader of a group knows of the page that its group wants.
  struct quest {
    page_id page;
    bool loading = false;       ///< `frame` is ours to consume: our pin was born with it
    bool seen = false;          ///< its first look is over, and counted
    bool from_tier = false;     ///< the load under way brings what the second tier has
    bool shuns_tier = false;    ///< what that had was bad
    std::uint32_t attempt = 0;  ///< loads of ours that failed
    std::uint32_t frame = no_frame_index;
    sighting watched{};  ///< the page's frame, where others load it
  };
  /// What one step of a leader led to.
  struct step {
    bool moved = false;                      ///< something came of it: look again at once
    bool load = false;                       ///< quest.frame is taken and wants its load
    bool ready = false;                      ///< quest.frame is pinned for us
    tier_move move;                          ///< of the frame that is taken, before its load
    std::uint32_t clean = no_frame_index;    ///< this frame is writing and wants its write
    std::uint32_t wait_at = no_frame_index;  ///< the frame whose transfer we wait for
    status failure;
  };

  SLUICE_HD std::byte* frame_bytes(std::uint32_t frame) const {
    return view_.frames + std::uint64_t{frame} * page_bytes_;
  }
  SLUICE_HD std::uint32_t frame_of(const std::byte* bytes) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bytes - view_.frames) >> view_.page_shift);
  }
  SLUICE_HD status out_of_patience() const {
    if (view_.abort != nullptr && lane::on_system(*view_.abort).load(lane::relaxed) != 0)
      return status::cancelled;
    return status::timed_out;
  }
  SLUICE_HD void count(counter what, std::uint64_t n) const { view_.counters.add(what, n); }
  /// Counts an element access of each lane of the team, by one addition.
  SLUICE_HD SLUICE_INLINE void count_accesses([[maybe_unused]] const lane::warp_team& here,
                                              [[maybe_unused]] std::uint32_t bytes) const {
    if constexpr (Counts) {
      if (!here.leads()) return;
      count(counter::accesses, here.size());
      count(counter::bytes_asked, std::uint64_t{here.size()} * bytes);
    }
  }
  SLUICE_HD void unpin(std::uint32_t frame) const {
    // Release pairs with whoever takes, writes back or pins the frame next: our accesses to its bytes are
    // over.
    view_.directory.word(frame).fetch_add(frame_word::release_use,
                                          lane::order_of("cache.unpin", lane::release));
  }
  SLUICE_HD void note_reference(const sighting& seen) const {
    if (seen.word.referenced()) return;
    view_.directory.word(seen.frame).fetch_or(frame_word::referenced_bit, lane::relaxed);
  }
  /// The lanes of the team that act for this page as one. All lanes of the team have arrived when it returns:
  /// a leader that took a frame before could wait for a lane that itself waits for that frame.
  template <class Team>
  SLUICE_HD static auto group_of(const Team& team, page_id page) {
    if constexpr (Mode == mode::optimized) return team.matching(page.value);
    team.sync();
    return team.subset(team.bit());
  }
  /// Lanes that start a read together. On the CPU backend finding them costs a switch a lane.
  SLUICE_HD SLUICE_INLINE static lane::warp_team readers() {
    if constexpr (Counts || SLUICE_ON_GPU) return lane::warp_team::converged();
    return lane::warp_team(1U << lane::lane_index());
  }
  /// Whether the read is over for all of them, each of whom says whether it `hit`. On a GPU those that did
  /// wait for the others and help them: once parted they would not meet again, and teams of a few lanes would
  /// stand in each other's way in one warp (H200: 0.05 M in place of 8 M misses a second).
  SLUICE_HD SLUICE_INLINE static bool all_hit([[maybe_unused]] const lane::warp_team& readers, bool hit) {
#if SLUICE_ON_GPU
    return readers.all(hit);
#else
    return hit;
#endif
  }
  /// visit() where all_hit() was false: only those that did not hit have a page to visit.
  template <access Kind, class Use>
  SLUICE_HD status visit_missed([[maybe_unused]] const lane::warp_team& readers, [[maybe_unused]] bool hit,
                                page_id page, const Use& use) const {
#if SLUICE_ON_GPU
    const status code = visit<Kind>(readers, hit ? page_id{pages_} : page, use);
    return hit ? status() : code;
#else
    return visit<Kind>(lane::warp_team::converged(), page, use);
#endif
  }
  template <access Kind>
  SLUICE_HD status refusal(page_id page) const {
    if (page.value >= pages_) return status::out_of_range;
    if (Kind == access::write && !store_.writable()) return status::read_only;
    return {};
  }
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD status bring(const Team& team, page_id page) const;
  SLUICE_HD bool pin(access kind, const sighting& seen) const;

  // detail/hit.h
  template <class Read>
  SLUICE_HD SLUICE_INLINE bool read_optimistically(page_id page, const Read& read) const;
  template <class T>
  SLUICE_HD SLUICE_INLINE bool read_at_a_glance(page_id page, const directory_place& at, std::uint32_t offset,
                                                T& value, sighting& seen) const;
  template <class T>
  SLUICE_HD SLUICE_INLINE bool read_after_glance(const directory_place& at, std::uint32_t offset, T& value,
                                                 const sighting& seen) const;
  template <class T>
  SLUICE_NOINLINE SLUICE_HD static outcome<T> read_pinned(const cache_ref* self, lane::warp_team readers,
                                                          bool hit, page_id page, std::uint32_t offset);
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD static outcome<std::uint32_t> pin_late(const cache_ref* self, Team team,
                                                                   page_id page);
  template <class Use>
  SLUICE_HD SLUICE_INLINE bool write_resident(const lane::warp_team& writers, page_id page,
                                              const Use& use) const;
  template <class T>
  SLUICE_NOINLINE SLUICE_HD static status write_pinned(const cache_ref* self, lane::warp_team writers,
                                                       bool hit, page_id page, std::uint32_t offset, T value);
  template <class T>
  SLUICE_NOINLINE SLUICE_HD static outcome<T> add_pinned(const cache_ref* self, lane::warp_team writers,
                                                         bool hit, page_id page, std::uint32_t offset,
                                                         T value);

  /// Whose transfer a lane waits for, if any.
  enum class waits_for : std::uint8_t { nothing, own, others };

  // detail/visit.h
  template <class Team, class Group, class Use>
  SLUICE_HD SLUICE_INLINE void use_ready(const Team& team, const Group& group, std::uint32_t ready,
                                         const Use& use) const;
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD static prefetch_token start_prefetch(const cache_ref* self, Team team,
                                                                 page_id page);
  template <access Kind>
  SLUICE_HD step advance(quest& mine, std::uint32_t askers) const;
  template <access Kind>
  SLUICE_HD step seek(quest& mine, std::uint32_t askers) const;
  template <access Kind>
  SLUICE_HD step look_at_load(quest& mine) const;
  SLUICE_HD bool loads_again(quest& mine, status failed) const;
  SLUICE_HD step renew(quest& mine, const sighting& seen) const;
  SLUICE_HD step take(quest& mine, const set_view& seen) const;
  SLUICE_HD claim_request request_for(const quest& mine) const;
  template <class Team>
  SLUICE_HD void submit_loads(const Team& team, const step& led, const quest& mine, lane::budget& left) const;
  template <class Team>
  SLUICE_HD void submit_writes(const Team& team, std::uint32_t frame, lane::budget& left) const;
  template <class Team>
  SLUICE_HD bool pause(const Team& team, waits_for what, std::uint32_t wait_at, lane::budget& left) const;

  // detail/tier.h
  template <class Team>
  SLUICE_HD bool move_pages(const Team& team, const tier_move& move, std::uint32_t frame) const;
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD static void move_by_team(const cache_ref* self, Team team, tier_move move,
                                                     std::uint32_t frame);
  SLUICE_HD void report_moved(std::uint32_t frame) const;

  // detail/check.h
  template <class Team>
  SLUICE_HD bool check_arrived(const Team& team, std::uint32_t wait_at, bool pinned) const;
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD bool check_frames(const Team& team, std::uint32_t wait_at, bool pinned) const;
  SLUICE_HD bool pin_to_check(std::uint32_t frame, frame_word word) const;
  SLUICE_HD void report_check(std::uint32_t frame, status code, bool pinned) const;

  // detail/spans.h
  template <class Team>
  SLUICE_HD held_page hold_loaded(const Team& team, page_id page, span_kind kind) const;
  template <class Team>
  SLUICE_NOINLINE SLUICE_HD held_page hold_overwritten(const Team& team, page_id page) const;
  SLUICE_HD step take_to_overwrite(quest& mine) const;

  // detail/flush.h
  struct write_back_state;
  SLUICE_HD bool start_write_back(write_back_state& mine, page_id first, page_id last) const;

  cache_view view_;
  Store store_;
  std::uint64_t pages_ = 0;
  std::uint32_t page_bytes_ = 0;
};

}  // namespace sluice::cache

#include "sluice/cache/detail/check.h"
#include "sluice/cache/detail/flush.h"
#include "sluice/cache/detail/hit.h"
#include "sluice/cache/detail/spans.h"
#include "sluice/cache/detail/tier.h"
#include "sluice/cache/detail/visit.h"
