// Writing a cache's dirty pages back from the host: a launch in which each warp takes a share of the frames.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/base/types.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "sluice/memory/buffer.h"

namespace sluice::cache {

template <class Cache>
struct write_back_kernel {
  Cache cache;
  page_id first;
  page_id last;
  std::uint32_t frames_per_warp;
  flush_report* reports;  ///< one a warp

  SLUICE_HD void operator()() const {
    const auto warp = lane::warp_team::whole();
    const std::uint32_t frames = cache.directory().shape().frames();
    const std::uint32_t from = lane::warp_index() * frames_per_warp;
    const std::uint32_t to = from + frames_per_warp < frames ? from + frames_per_warp : frames;
    const flush_report report = cache.write_back(warp, first, last, from, to);
    if (warp.leads()) reports[lane::warp_index()] = report;
  }
};

template <class Cache>
struct store_flush_kernel {
  Cache cache;
  flush_report* report;

  SLUICE_HD void operator()() const {
    if (lane::grid_index() != 0) return;
    lane::budget patience = cache.patience();
    report->code = cache.store().flush(lane::solo(), patience);
  }
};

/// Writes all dirty pages of [first, last) to the store, then makes them last. After it returns ok, another
/// process reads the new bytes. Waits:  for every write, each at most the cache's patience. Errors: status
/// and page of the first one that could not be written twice; it stays dirty in the cache. Else the store's
///   flush's.
template <class Cache>
flush_report flush_pages(lane::machine& on, const Cache& cache, page_id first, page_id last) {
  constexpr std::uint32_t frames_per_warp_at_least = 64;
  const std::uint32_t frames = cache.directory().shape().frames();
  const std::uint32_t resident = lane::resident_blocks<write_back_kernel<Cache>>(on, 32);
  const std::uint32_t wanted = (frames + frames_per_warp_at_least - 1) / frames_per_warp_at_least;
  const std::uint32_t warps = std::max(1U, std::min(resident, wanted));
  const std::uint32_t share = (frames + warps - 1) / warps;

  std::vector<flush_report> reports(warps);
  const memory::buffer place(on.kind(), memory::place::device, warps * sizeof(flush_report));
  const auto bytes = std::as_writable_bytes(std::span(reports));
  memory::copy_in(place.view(), 0, bytes);  // the warps of no frames leave an empty report
  auto* const told = place.lanes_as<flush_report>();
  lane::launch(on, {warps, 32}, write_back_kernel<Cache>{cache, first, last, share, told});
  memory::copy_out(place.view(), 0, bytes);

  flush_report all;
  for (const flush_report& one : reports) {
    all.written += one.written;
    if (all.code.is_ok() && !one.code.is_ok()) {
      all.code = one.code;
      all.page = one.page;
    }
  }
  lane::launch(on, {1, 32}, store_flush_kernel<Cache>{cache, told});
  memory::copy_out(place.view(), 0, bytes.first(sizeof(flush_report)));
  if (all.code.is_ok()) all.code = reports.front().code;
  return all;
}

}  // namespace sluice::cache
