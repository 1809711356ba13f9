// The addition by lanes: each warp brings a run of pages of A and B while it adds up the run before, and
// overwrites pages of C that nobody reads first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apps/vector_add/element.h"
#include "sluice/array/array_span.h"
#include "sluice/array/mailbox.h"
#include "sluice/base/status.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/far_call.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/latency_buckets.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"

namespace sluice::vector_add {

/// What the lanes of an addition share. Zeroed before it.
struct add_words {
  std::uint64_t claimed;  ///< pages that warps have taken
  std::uint32_t stopped;  ///< 1: a page could not be had, and the mailbox tells why; or the host said so
  std::uint64_t page_times[lane::latency_buckets];  ///< pages of C by the time from begin to sum
};

/// The kernel. Array: an array_ref of elements of 4 or 8 bytes. The three begin at the start of a page each,
/// and have the same number of elements.
template <class Array>
struct add_kernel {
  using value_type = typename Array::value_type;
  using pack = element_pack<value_type>;

  static constexpr std::uint32_t block_lanes = 128;
  /// 64 registers a lane.
  static constexpr lane::residency resident{block_lanes, 8};

  Array a, b, c;
  add_words* words;
  std::uint32_t run;  ///< pages of each vector that a warp takes at once, 1 to 32
  bool ahead;         ///< it asks for a run before it adds up the one that it took before

  /// Far calls: what they do for a page is long, and the loop around them keeps its registers.
  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    std::uint64_t next = claim(warp);
    if (next == 0) lane::far_call(&add_kernel::add_behind, this, warp);
    if (ahead) lane::far_call(&add_kernel::ask_for, this, warp, next);
    while (next < whole_pages()) {
      std::uint64_t page = next;
      const std::uint64_t end = page + run < whole_pages() ? page + run : whole_pages();
      next = claim(warp);
      if (ahead) lane::far_call(&add_kernel::ask_for, this, warp, next);
      while (page < end && lane::far_call(&add_kernel::add_page, this, warp, page)) ++page;
      if (page < end) next = give_up();
    }
  }

 private:
  /// Packs that a lane has under way at once.
  static constexpr std::uint32_t packs = 4;

  /// Those that lie in C wholly.
  SLUICE_HD std::uint64_t whole_pages() const { return c.size() / c.page_elements(); }

  /// The next run for the warp; none once a page could not be had.
  SLUICE_HD std::uint64_t claim(const lane::warp_team& warp) const {
    std::uint64_t first = whole_pages();
    if (warp.leads() && lane::on_device(words->stopped).load(lane::relaxed) == 0)
      first = lane::on_device(words->claimed).fetch_add(run, lane::relaxed);
    return warp.broadcast(first);
  }
  SLUICE_HD std::uint64_t give_up() const {
    lane::on_device(words->stopped).store(1, lane::relaxed);
    return whole_pages();
  }

  /// Each lane asks for one page of the run: A's all together, then B's.
  SLUICE_NOINLINE SLUICE_HD static void ask_for(const add_kernel* self, lane::warp_team warp,
                                                std::uint64_t first) {
    const std::uint64_t page = first + warp.rank();
    if (warp.rank() < self->run && page < self->whole_pages())
      for (const Array* from : {&self->a, &self->b}) from->prefetch(page * from->page_elements());
    warp.sync();
  }

  /// The elements behind the last whole page, one by one: what shares their page beyond the end of C stays as
  /// it is. Whoever takes the first run sees to them before it, beside all other warps.
  SLUICE_NOINLINE SLUICE_HD static void add_behind(const add_kernel* self, lane::warp_team warp) {
    const Array& c = self->c;
    for (std::uint64_t i = self->whole_pages() * c.page_elements() + warp.rank(); i < c.size();
         i += warp.size())
      c.write(i, self->a.read(i) + self->b.read(i));
  }

  /// Where spans of other warps fill the set of C's page, waits until one ends: whoever holds one waits for
  /// pages of A and B only, and those need no way that spans may hold.
  SLUICE_NOINLINE SLUICE_HD static bool add_page(const add_kernel* self, lane::warp_team warp,
                                                 std::uint64_t page) {
    const std::uint64_t began = lane::clock_ns();
    lane::budget left = self->c.cache().patience();
    status code = self->try_page(warp, page);
    while (code == status::no_frame && !warp.broadcast(warp.leads() && left.spent()))
      code = self->try_page(warp, page);
    if (code == status::no_frame) self->report(warp, code, page);
    if (code.is_ok() && warp.leads()) self->note_page(warp, lane::clock_ns() - began);
    return code.is_ok();
  }
  SLUICE_HD void note_page(const lane::warp_team& warp, std::uint64_t ns) const {
    c.cache().note_visits(2 * warp.size(), 0);
    lane::on_device(words->page_times[lane::latency_bucket(ns)]).fetch_add(1, lane::relaxed);
  }
  SLUICE_HD void report(const lane::warp_team& warp, status code, std::uint64_t page) const {
    if (warp.leads()) c.report(code, array_operation::write, page * c.page_elements());
  }

  /// Errors: no_frame; aborted where the mailbox knows why, in all lanes alike. C's page holds A's elements
  /// before it holds the sums: so pages may have any size, and only one is held across a wait.
  SLUICE_NOINLINE SLUICE_HD status try_page(const lane::warp_team& warp, std::uint64_t page) const {
    const auto sums = c.try_span(warp, page, span_kind::overwrite);
    if (!sums.is_ok() && sums.code() != status::no_frame) report(warp, sums.code(), page);
    status done = sums.code();
    // One after the other by the same code: registers for two would be too many.
    for (std::uint32_t nth = 0; nth < 2 && done.is_ok(); ++nth) {
      const Array& from = nth == 0 ? a : b;
      done = from.visit(warp, true, sums.first(), [&](const value_type* elements) {
        nth == 0 ? copy(sums, elements, warp.rank()) : add(sums, elements, warp.rank());
      });
      if (!warp.all(done.is_ok())) done = status::aborted;
    }
    return done;
  }

  template <class Sums>
  SLUICE_HD static void copy(const Sums& sums, const value_type* from, std::uint32_t rank) {
    each_pack(sums, rank, [&](std::uint32_t k) { return load_pack(from + k); });
  }
  /// Each lane adds to what it has copied itself.
  template <class Sums>
  SLUICE_HD static void add(const Sums& sums, const value_type* from, std::uint32_t rank) {
    const value_type* const copied = sums.data();
    each_pack(sums, rank, [&](std::uint32_t k) {
      const pack more = load_pack(from + k);
      pack sum = load_pack(copied + k);
      SLUICE_UNROLL
      for (std::uint32_t j = 0; j < pack::size; ++j) sum.at[j] += more.at[j];
      return sum;
    });
  }

  /// Sets the lane's share of a whole page to what `get(k)` gives for the pack from element k on; several of
  /// them come before the first is set.
  template <class Sums, class Get>
  SLUICE_HD static void each_pack(const Sums& sums, std::uint32_t rank, const Get& get) {
    constexpr std::uint32_t stride = 32 * pack::size;
    const std::uint32_t size = sums.size();
    for (std::uint32_t first = rank * pack::size; first < size; first += packs * stride) {
      pack under_way[packs];
      SLUICE_UNROLL
      for (std::uint32_t n = 0; n < packs; ++n)
        if (first + n * stride < size) under_way[n] = get(first + n * stride);
      SLUICE_UNROLL
      for (std::uint32_t n = 0; n < packs; ++n)
        if (first + n * stride < size) sums.set(first + n * stride, under_way[n].at);
    }
  }
};

}  // namespace sluice::vector_add
