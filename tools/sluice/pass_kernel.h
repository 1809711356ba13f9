// Kernels that pass over elements in one way each, with nothing else in the loop: for `sluice bench cache
// --access`. The same source passes over an array_ref and over plain memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/bytes.h"
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
  pass_found* found;
  std::uint64_t seed;
  std::uint64_t accesses;  ///< of each lane, where a pass does not go over all elements
  bool changed;            ///< elements that are drawn hold what random_stores left there
};

/// Elements in plain memory, with as much of array_ref's interface as the passes use.
template <class T>
struct plain_array {
  using value_type = T;
  T* elements;
  std::uint64_t count;
  std::uint32_t per_page;

  struct whole_page {
    const T* first;
    std::uint32_t count;
    SLUICE_HD const T* data() const { return first; }
    SLUICE_HD std::uint32_t size() const { return count; }
  };

  SLUICE_HD std::uint64_t size() const { return count; }
  SLUICE_HD std::uint64_t pages() const { return count / per_page; }
  SLUICE_HD T read(std::uint64_t i) const { return elements[i]; }
  SLUICE_HD void write(std::uint64_t i, T value) const {
    lane::on_device(elements[i]).store(value, lane::relaxed);  // others may store to it too
  }
  template <class Team>
  SLUICE_HD whole_page span(const Team& /*team*/, std::uint64_t p) const {
    return {elements + p * per_page, per_page};
  }
  template <class Team, class Use>
  SLUICE_HD void walk(const Team& /*team*/, std::uint64_t begin, std::uint64_t end, const Use& use) const {
    for (std::uint64_t p = begin; p < end; ++p) use(elements + p * per_page, p * per_page, per_page);
  }
  template <class Team>
  SLUICE_HD void gather(const Team& team, const std::uint64_t* rows, std::uint64_t rows_count,
                        std::uint32_t width, T* out) const {
    using lane::word16;
    const std::uint32_t words = width * sizeof(T) / sizeof(word16);
    for (std::uint64_t k = 0; k < rows_count; ++k) {
      const auto* from = reinterpret_cast<const word16*>(elements + rows[k] * width);
      auto* to = reinterpret_cast<word16*>(out + k * width);
      for (std::uint32_t word = team.rank(); word < words; word += team.size()) to[word] = from[word];
    }
  }
};

/// Which element a lane draws for its n-th access.
SLUICE_HD inline std::uint64_t drawn(const pass_job& job, std::uint64_t n, std::uint64_t elements) {
  const std::uint64_t draw = mix(job.seed + n * lane::grid_lanes() + lane::grid_index());
  return (draw >> 32) * elements >> 32;
}

SLUICE_HD inline void tell(std::uint64_t& total, std::uint64_t mine) {
  if (mine != 0) lane::on_device(total).fetch_add(mine, lane::relaxed);
}

/// As many lanes as hide the way to memory.
inline constexpr lane::residency pass_residency{256, 5};

/// Each element compared with its truth.
template <class Elements>
struct random_loads {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  pass_job job;

  SLUICE_HD void operator()() const {
    using T = typename Elements::value_type;
    std::uint64_t wrong = 0;
    for (std::uint64_t n = 0; n < job.accesses; ++n) {
      const std::uint64_t i = drawn(job, n, elements.size());
      const T truth = job.changed ? static_cast<T>(~stamp_of<T>(i)) : stamp_of<T>(i);
      wrong += elements.read(i) == truth ? 0 : 1;
    }
    tell(job.found->wrong, wrong);
  }
};

/// Lanes that draw the same element store the same value.
template <class Elements>
struct random_stores {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  pass_job job;

  SLUICE_HD void operator()() const {
    using T = typename Elements::value_type;
    for (std::uint64_t n = 0; n < job.accesses; ++n) {
      const std::uint64_t i = drawn(job, n, elements.size());
      elements.write(i, static_cast<T>(~stamp_of<T>(i)));
    }
  }
};

/// `for (i = my index; i < size; i += lanes) sum += a[i]`: what somebody writes who has read nothing about
/// caches.
template <class Elements>
struct plain_loop {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  pass_job job;

  SLUICE_HD void operator()() const {
    std::uint64_t sum = 0;
    for (std::uint64_t i = lane::grid_index(); i < elements.size(); i += lane::grid_lanes())
      sum += elements.read(i);
    tell(job.found->sum, sum);
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

/// One element of every page, each page once, in a scattered order.
template <class Elements>
struct page_reads {
  static constexpr lane::residency resident{128, 8};
  Elements elements;
  pass_job job;

  SLUICE_HD void operator()() const {
    using T = typename Elements::value_type;
    constexpr std::uint64_t prime = 2'654'435'761;
    const std::uint64_t pages = elements.pages();
    const std::uint64_t per_page = elements.size() / pages;
    std::uint64_t wrong = 0;
    for (std::uint64_t n = lane::grid_index(); n < pages; n += lane::grid_lanes()) {
      const std::uint64_t i = n * prime % pages * per_page + n % 8;
      wrong += elements.read(i) == stamp_of<T>(i) ? 0 : 1;
    }
    tell(job.found->wrong, wrong);
  }
};

/// Warps walk pages.
template <class Elements>
struct page_walk {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  pass_job job;

  SLUICE_HD void operator()() const {
    using T = typename Elements::value_type;
    constexpr std::uint64_t at_once = 8;
    const auto warp = lane::full_warp();
    const std::uint64_t pages = elements.pages();
    std::uint64_t sum = 0;
    for (std::uint64_t p = lane::grid_index() / 32 * at_once; p < pages;
         p += lane::grid_lanes() / 32 * at_once)
      (void)elements.walk(
          warp, p, p + at_once < pages ? p + at_once : pages,
          [&](const T* page, std::uint64_t, std::uint32_t count) { sum += sum_of_page(warp, page, count); });
    tell(job.found->sum, sum);
  }
};

/// Warps hold a page each, one after another.
template <class Elements>
struct page_spans {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  pass_job job;

  SLUICE_HD void operator()() const {
    const auto warp = lane::full_warp();
    std::uint64_t sum = 0;
    for (std::uint64_t p = lane::grid_index() / 32; p < elements.pages(); p += lane::grid_lanes() / 32) {
      const auto span = elements.span(warp, p);
      sum += sum_of_page(warp, span.data(), span.size());
    }
    tell(job.found->sum, sum);
  }
};

/// Rows that a gather pass brings in, and where to.
template <class T>
struct row_job {
  const std::uint64_t* rows;
  T* out;
  std::uint64_t count;
  std::uint32_t width;  ///< elements of a row
};

/// Warps copy rows, each its share.
template <class Elements>
struct row_gather {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  row_job<typename Elements::value_type> job;

  SLUICE_HD void operator()() const {
    const std::uint64_t share = divide_up(job.count, lane::grid_lanes() / 32);
    const std::uint64_t first = lane::grid_index() / 32 * share;
    if (first >= job.count) return;
    const std::uint64_t count = job.count - first < share ? job.count - first : share;
    (void)elements.gather(lane::full_warp(), job.rows + first, count, job.width, job.out + first * job.width);
  }
};

/// Draws the rows, and leaves in `out` what no row holds.
template <class T>
struct draw_rows {
  static constexpr lane::residency resident = pass_residency;
  std::uint64_t* rows;
  T* out;
  std::uint64_t count, of, seed;
  std::uint32_t width;

  SLUICE_HD void operator()() const {
    for (std::uint64_t k = lane::grid_index(); k < count; k += lane::grid_lanes()) {
      rows[k] = (mix(seed + k) >> 32) * of >> 32;
      for (std::uint32_t at = 0; at < width; ++at) out[k * width + at] = ~stamp_of<T>(rows[k] * width + at);
    }
  }
};

/// Compares each element of each row.
template <class T>
struct check_rows {
  static constexpr lane::residency resident = pass_residency;
  row_job<T> job;
  pass_found* found;

  SLUICE_HD void operator()() const {
    std::uint64_t wrong = 0;
    for (std::uint64_t n = lane::grid_index(); n < job.count * job.width; n += lane::grid_lanes())
      wrong += job.out[n] == stamp_of<T>(job.rows[n / job.width] * job.width + n % job.width) ? 0 : 1;
    tell(found->wrong, wrong);
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
    tell(found->sum, sum);
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
