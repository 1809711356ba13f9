// A page store that knows its pages again: what it adds to page_store, and how the cache asks for it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/cache/page_store.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"

namespace sluice::cache {

/// checks: whether pages are checked at all, the same in all lanes for as long as the store lives. Then a
/// load
///   has one report more than the drives make, which the cache adds itself after check().
/// check: ok, or bad_checksum where the frame's bytes are not the page's. Lanes: all lanes of the team, one
///   page, whose bytes all of them may read. Waits: for nothing.
template <class S>
concept checked_store = page_store<S> &&
    requires(const S store, lane::warp_team warp, lane::solo one, page_id page, const std::byte* frame) {
  { store.checks() } -> std::same_as<bool>;
  { store.check(warp, page, frame) } -> std::same_as<status>;
  { store.check(one, page, frame) } -> std::same_as<status>;
};

/// Reports of a load, the check's included.
template <page_store Store>
SLUICE_HD std::uint32_t load_reports(const Store& store) {
  if constexpr (checked_store<Store>) return store.reports(false) + (store.checks() ? 1 : 0);
  return store.reports(false);
}

}  // namespace sluice::cache
