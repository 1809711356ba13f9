// Passes over elements in one way each, with nothing else in the lanes' loop: for `sluice bench cache
// --access`. The same source passes over an array_ref and over plain memory.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "tools/sluice/cache_stamps.h"

namespace sluice::tool {

/// What all lanes found.
struct pass_found {
  std::uint64_t sum;    ///< of the elements read by passes over all of them, without a carry out of 64 bits
  std::uint64_t wrong;  ///< elements that were not what they must be
};

struct pass_job {
  std::uint64_t seed;
  std::uint64_t accesses;  ///< of each lane, where a pass does not go over all elements
  bool stored;             ///< elements that are drawn hold what random_stores left there
};

/// Which element a lane draws for its n-th access.
SLUICE_HD inline std::uint64_t drawn(const pass_job& job, std::uint64_t n, std::uint64_t elements) {
  const std::uint64_t draw = mix(job.seed + n * lane::grid_lanes() + lane::grid_index());
  return (draw >> 32) * elements >> 32;
}

/// As many lanes as hide the way to memory.
inline constexpr lane::residency pass_residency{256, 5};
/// All that an SM runs, where each lane has one element under way.
inline constexpr lane::residency loop_residency{256, 8};

/// The kernel of a pass. `Pass::over(elements, job)` is what each lane does, and tells what it found.
template <class Elements, class Pass>
struct pass_kernel {
  static constexpr lane::residency resident = Pass::resident;
  Elements elements;
  pass_job job;
  pass_found* found;

  SLUICE_HD void operator()() const {
    const pass_found mine = Pass::over(elements, job);
    if (mine.sum != 0) lane::on_device(found->sum).fetch_add(mine.sum, lane::relaxed);
    if (mine.wrong != 0) lane::on_device(found->wrong).fetch_add(mine.wrong, lane::relaxed);
  }
};

/// Each element compared with its truth.
struct random_loads {
  static constexpr lane::residency resident = pass_residency;

  template <class Elements>
  SLUICE_HD SLUICE_INLINE static pass_found over(const Elements& elements, const pass_job& job) {
    using T = typename Elements::value_type;
    pass_found mine{};
    for (std::uint64_t n = 0; n < job.accesses; ++n) {
      const std::uint64_t i = drawn(job, n, elements.size());
      const T truth = job.stored ? stored_over<T>(i) : stamp_of<T>(i);
      mine.wrong += elements.read(i) == truth ? 0 : 1;
    }
    return mine;
  }
};

/// Lanes that draw the same element store the same value.
struct random_stores {
  static constexpr lane::residency resident = pass_residency;

  template <class Elements>
  SLUICE_HD SLUICE_INLINE static pass_found over(const Elements& elements, const pass_job& job) {
    using T = typename Elements::value_type;
    for (std::uint64_t n = 0; n < job.accesses; ++n) {
      const std::uint64_t i = drawn(job, n, elements.size());
      elements.write(i, stored_over<T>(i));
    }
    return {};
  }
};

/// `for (i = my index; i < size; i += lanes) sum += a[i]`: what somebody writes who has read nothing about
/// caches.
struct plain_loop {
  static constexpr lane::residency resident = loop_residency;

  template <class Elements>
  SLUICE_HD SLUICE_INLINE static pass_found over(const Elements& elements, const pass_job& /*job*/) {
    pass_found mine{};
    for (std::uint64_t i = lane::grid_index(); i < elements.size(); i += lane::grid_lanes())
      mine.sum += elements.read(i);
    return mine;
  }
};

/// The sum of this lane's elements of a page that its team reads, 16 bytes an access.
template <class Team, class T>
SLUICE_HD SLUICE_INLINE std::uint64_t sum_of_page(const Team& team, const T* elements, std::uint32_t count) {
  struct alignas(16) several {
    T values[16 / sizeof(T)];
  };
  constexpr std::uint32_t at_once = 8;
  const auto* words = reinterpret_cast<const several*>(elements);
  const std::uint32_t all = count * sizeof(T) / sizeof(several);
  std::uint64_t sum = 0;
  const auto add = [&sum](const several& word) {
    for (const T value : word.values) sum += value;
  };
  std::uint32_t next = team.rank();
  for (; next + (at_once - 1) * team.size() < all; next += at_once * team.size()) {
    several got[at_once];
    SLUICE_UNROLL
    for (std::uint32_t k = 0; k < at_once; ++k) got[k] = words[next + k * team.size()];
    SLUICE_UNROLL
    for (const several& each : got) add(each);
  }
  for (; next < all; next += team.size()) add(words[next]);
  return sum;
}

/// The n-th of `pages` pages in a scattered order that has each once.
SLUICE_HD inline std::uint64_t scattered(std::uint64_t n, std::uint64_t pages) {
  constexpr std::uint64_t prime = 2'654'435'761;
  return n * prime % pages;
}

/// One element of every page, each page once.
struct page_reads {
  static constexpr lane::residency resident{128, 8};

  template <class Elements>
  SLUICE_HD SLUICE_INLINE static pass_found over(const Elements& elements, const pass_job& /*job*/) {
    using T = typename Elements::value_type;
    const std::uint64_t pages = elements.pages();
    pass_found mine{};
    for (std::uint64_t n = lane::grid_index(); n < pages; n += lane::grid_lanes()) {
      const std::uint64_t i = scattered(n, pages) * elements.page_elements() + n % 8;
      mine.wrong += elements.read(i) == stamp_of<T>(i) ? 0 : 1;
    }
    return mine;
  }
};

/// Warps walk pages.
struct page_walk {
  static constexpr lane::residency resident{256, 4};

  template <class Elements>
  SLUICE_HD SLUICE_INLINE static pass_found over(const Elements& elements, const pass_job& /*job*/) {
    using T = typename Elements::value_type;
    constexpr std::uint64_t at_once = 16;
    const auto warp = lane::full_warp();
    const std::uint64_t pages = elements.pages();
    pass_found mine{};
    const auto add = [&](const T* page, std::uint64_t, std::uint32_t count) {
      mine.sum += sum_of_page(warp, page, count);
    };
    for (std::uint64_t p = lane::grid_index() / 32 * at_once; p < pages;
         p += lane::grid_lanes() / 32 * at_once)
      (void)elements.walk(warp, p, p + at_once < pages ? p + at_once : pages, add);
    return mine;
  }
};

/// Warps hold a page each, one after another.
struct page_spans {
  static constexpr lane::residency resident = pass_residency;

  template <class Elements>
  SLUICE_HD SLUICE_INLINE static pass_found over(const Elements& elements, const pass_job& /*job*/) {
    const auto warp = lane::full_warp();
    pass_found mine{};
    for (std::uint64_t p = lane::grid_index() / 32; p < elements.pages(); p += lane::grid_lanes() / 32) {
      const auto span = elements.span(warp, p);
      mine.sum += sum_of_page(warp, span.data(), span.size());
    }
    return mine;
  }
};

/// Sums what all elements must hold.
template <class T>
struct sum_stamps {
  static constexpr lane::residency resident = pass_residency;
  pass_found* found;
  std::uint64_t count;

  SLUICE_HD void operator()() const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = lane::grid_index(); i < count; i += lane::grid_lanes()) sum += stamp_of<T>(i);
    lane::on_device(found->sum).fetch_add(sum, lane::relaxed);
  }
};

/// Fills plain memory with what the array's elements hold.
template <class T>
struct put_stamps {
  static constexpr lane::residency resident = pass_residency;
  T* to;
  std::uint64_t count;

  SLUICE_HD void operator()() const {
    for (std::uint64_t i = lane::grid_index(); i < count; i += lane::grid_lanes()) to[i] = stamp_of<T>(i);
  }
};

/// Makes every page resident that has a frame.
template <class Elements>
struct touch_pages {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;

  SLUICE_HD void operator()() const {
    const std::uint64_t per_page = elements.page_elements();
    for (std::uint64_t p = lane::grid_index(); p < elements.pages(); p += lane::grid_lanes())
      (void)elements.read(p * per_page);
  }
};

}  // namespace sluice::tool
