// What many lanes do to the same few elements, and write down: one source for seeded schedules, threads and
// GPUs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/cache/element.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"
#include "tests/support/history.h"

namespace sluice::testing {

/// Which elements the lanes use: of each page the first `of_each` of 8 bytes, and the last `of_each` of 4.
/// Numbered page by page.
struct element_places {
  std::uint32_t page_bytes = 4096;
  std::uint64_t pages = 1;
  std::uint32_t of_each = 1;
  std::uint64_t first_page = 0;

  SLUICE_HD std::uint64_t elements() const { return pages * in_page(); }
  SLUICE_HD std::uint32_t in_page() const { return 2 * of_each; }
  SLUICE_HD page_id page(std::uint64_t element) const { return {first_page + element / in_page()}; }
  SLUICE_HD std::uint32_t bytes(std::uint64_t element) const { return element % in_page() < of_each ? 8 : 4; }
  SLUICE_HD std::uint32_t offset(std::uint64_t element) const {
    const auto at = static_cast<std::uint32_t>(element % in_page());
    return at < of_each ? at * 8 : page_bytes - (at - of_each + 1) * 4;
  }
};

/// A kernel: each lane reads, writes and adds as its dice say, element by element, now and then through spans
/// of its whole warp, and records it.
template <class Cache>
struct mixed_lanes {
  Cache cache;
  element_places places;
  history_ref to;
  std::uint64_t seed = 1;
  std::uint32_t operations = 8;       ///< of each lane; those of spans count as one
  std::uint32_t span_every = 0;       ///< about so often a span; 0: never
  std::uint32_t launches_before = 0;  ///< that recorded into the same history

  SLUICE_HD void operator()() const {
    for (std::uint32_t k = 0; k < operations; ++k) {
      if (span_every != 0 && team_dice(k) % span_every == 0)
        use_span(team_dice(k + 1000), k);
      else
        use_element(dice(k), k);
    }
  }

  /// A number that depends on the seed, the lane and `k`; the other is the same for all lanes of a warp.
  SLUICE_HD std::uint64_t dice(std::uint64_t k) const {
    return mix(seed * 1000003 + mix(lane::grid_index() + 1) + k);
  }
  SLUICE_HD std::uint64_t team_dice(std::uint64_t k) const {
    return mix(seed * 7000003 + mix(lane::warp_index() + 77777) + k);
  }

  SLUICE_HD void use_element(std::uint64_t thrown, std::uint32_t k) const {
    const std::uint64_t element = thrown % places.elements();
    const auto what = (thrown >> 40) % 4;
    const auto kind = what < 2    ? operation::kind::read
                      : what == 2 ? operation::kind::write
                                  : operation::kind::add;
    places.bytes(element) == 8 ? use<std::uint64_t>(element, kind, k) : use<std::uint32_t>(element, kind, k);
  }

  template <class T>
  SLUICE_HD void use(std::uint64_t element, operation::kind kind, std::uint32_t k) const {
    operation done = begun(element, kind);
    const page_id page = places.page(element);
    const std::uint32_t offset = places.offset(element);
    if (kind == operation::kind::write) {
      done.value = own_value(k);
      done.code = cache.template write<T>(page, offset, static_cast<T>(done.value)).bits();
    } else {
      done.value = kind == operation::kind::add ? 1 : 0;
      const cache::outcome<T> got = kind == operation::kind::add
                                        ? cache.template fetch_add<T>(page, offset, T{1})
                                        : cache.template read<T>(page, offset);
      done.result = got.value;
      done.code = got.code.bits();
    }
    end(done);
  }

  /// Lanes:  all lanes of the warp.
  SLUICE_HD void use_span(std::uint64_t thrown, std::uint32_t k) const {
    const auto team = lane::warp_team::whole();
    const std::uint64_t page = thrown % places.pages;
    const auto kind = static_cast<cache::span_kind>((thrown >> 40) % 3);
    const std::uint64_t called = lane::clock_ns();
    const cache::held_page held = cache.hold(team, places.page(page * places.in_page()), kind);
    if (!held.is_ok()) return;
    for (std::uint32_t at = team.rank(); at < places.in_page(); at += team.size()) {
      const std::uint64_t element = page * places.in_page() + at;
      if (kind != cache::span_kind::read) {
        store(held, element, k);
        continue;
      }
      operation done = begun(element, operation::kind::read);
      done.result = load(held, element);
      end(done);
    }
    if (kind == cache::span_kind::read) use_element(dice(k + 2000), k);
    cache.release(team, held);
    if (kind == cache::span_kind::read) return;
    // Written at some moment of the span, for all that others know.
    for (std::uint32_t at = team.rank(); at < places.in_page(); at += team.size()) {
      operation done = begun(page * places.in_page() + at, operation::kind::write);
      done.called = called;
      done.value = own_value(k);
      end(done);
    }
  }

  SLUICE_HD operation begun(std::uint64_t element, operation::kind kind) const {
    operation done;
    done.element = element;
    done.bytes = places.bytes(element);
    done.what = kind;
    done.called = lane::clock_ns();
    return done;
  }
  SLUICE_HD void end(operation& done) const {
    done.returned = lane::clock_ns();
    to.put(done);
  }

 private:
  /// Nobody else writes it, in four bytes either; additions leave its upper part alone.
  SLUICE_HD std::uint64_t own_value(std::uint32_t k) const {
    const std::uint64_t lanes_before = launches_before * lane::grid_lanes() + lane::grid_index();
    return (lanes_before * operations + k + 1) << 8 & 0xffffffffU;
  }
  SLUICE_HD void store(const cache::held_page& held, std::uint64_t element, std::uint32_t k) const {
    std::byte* const at = cache.bytes(held) + places.offset(element);
    if (places.bytes(element) == 8)
      cache::store_element<std::uint64_t>(at, own_value(k));
    else
      cache::store_element<std::uint32_t>(at, static_cast<std::uint32_t>(own_value(k)));
  }
  SLUICE_HD std::uint64_t load(const cache::held_page& held, std::uint64_t element) const {
    const std::byte* const at = cache.bytes(held) + places.offset(element);
    if (places.bytes(element) == 8) return cache::load_element<std::uint64_t>(at, lane::relaxed);
    return cache::load_element<std::uint32_t>(at, lane::relaxed);
  }
};

}  // namespace sluice::testing
