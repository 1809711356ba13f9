// Kernels that gather rows, and that draw and check them: for `sluice bench cache --access gather`.
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "tools/sluice/cache_stamps.h"
#include "tools/sluice/pass_kernel.h"

namespace sluice::tool {

/// Rows that a gather pass brings in, and where to.
template <class T>
struct row_job {
  std::uint64_t* rows;
  T* out;
  std::uint64_t count;
  std::uint32_t width;  ///< elements of a row
};

/// Warps copy rows, each its share.
template <class Elements, class T>
struct row_gather {
  static constexpr lane::residency resident = pass_residency;
  Elements elements;
  row_job<T> job;

  SLUICE_HD void operator()() const {
    const std::uint64_t share = divide_up(job.count, lane::grid_lanes() / 32);
    const std::uint64_t first = lane::grid_index() / 32 * share;
    if (first >= job.count) return;
    const std::uint64_t count = job.count - first < share ? job.count - first : share;
    (void)elements.gather(lane::full_warp(), job.rows + first, count, job.width, job.out + first * job.width);
  }
};

/// Draws the rows, of `of` that there are, and leaves in `out` what no row holds.
template <class T>
struct draw_rows {
  static constexpr lane::residency resident = pass_residency;
  row_job<T> job;
  std::uint64_t of, seed;

  SLUICE_HD void operator()() const {
    for (std::uint64_t k = lane::grid_index(); k < job.count; k += lane::grid_lanes()) {
      job.rows[k] = (mix(seed + k) >> 32) * of >> 32;
      for (std::uint32_t at = 0; at < job.width; ++at)
        job.out[k * job.width + at] = stored_over<T>(job.rows[k] * job.width + at);
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
    if (wrong != 0) lane::on_device(found->wrong).fetch_add(wrong, lane::relaxed);
  }
};

}  // namespace sluice::tool
