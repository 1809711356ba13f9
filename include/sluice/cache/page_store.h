// What a cache asks for pages: transfers between frames and wherever the pages live. It never says NVMe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "sluice/base/report.h"
#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"

namespace sluice::cache {

/// One page to be brought into a frame, or written from it.
struct page_transfer {
  page_id page;
  std::byte* frame = nullptr;  ///< lane address of the frame's bytes
  bool write = false;
  std::uint32_t attempt = 0;  ///< of a load: how many failed before; each goes to another source, in turn
  report_to to;  ///< gets reports(write) reports, each with on_ok or on_error; the k-th tells detail[k]
};

/// Lanes' view of a page source; trivially copyable. All calls are made by every lane of the team together.
///
/// submit: starts the transfers of the active lanes and returns at once (it waits only for its turn on a full
/// queue, at
///   most `patience`, and helps others finish meanwhile). For each active lane: ok: exactly reports(write)
///   reports will come, whatever happens, and `to.detail[k]` held a hint for poll() before the k-th could
///   come. Not ok (timed_out, queue_lost, out_of_range, aborted): nothing was started, no report will come;
///   aborted may be tried again at once. Everything written to the frame before is what a write transfers. A
///   frame's word must say loading before a read is submitted: late readers are turned away by it (design
///   section 5).
/// poll: one look's worth of help for the lanes that wait, each for the report whose hint it gives; 0 where
/// it
///   waits for none. A lane that polls with the hints of all reports in turn sees the transfer end, whether
///   others help or not.
/// flush: makes all finished writes last (NVMe FLUSH); returns the first failure.
/// sources: how many copies of a page there are. A load brings one, a write makes all, in equal shares of its
///   reports, copy by copy. A write that one copy took wholly is worth starting again whatever became of the
///   others: the store leaves out those that failed. It looks at what is in `to.detail` when the page's next
///   write comes.
/// writable: whether writes may come; else the cache refuses them to lanes.
/// reports: how many reports one transfer makes: 1 unless mirrored or larger than the drive takes at once.
template <class S>
concept page_store = requires(const S store, lane::warp_team warp, lane::solo one, page_transfer transfer,
                              std::uint64_t hint, lane::budget& patience) {
  { store.submit(warp, true, transfer, patience) } -> std::same_as<status>;
  { store.submit(one, true, transfer, patience) } -> std::same_as<status>;
  {store.poll(warp, hint)};
  {store.poll(one, hint)};
  { store.flush(one, patience) } -> std::same_as<status>;
  { store.sources() } -> std::same_as<std::uint32_t>;
  { store.writable() } -> std::same_as<bool>;
  { store.reports(true) } -> std::same_as<std::uint32_t>;
  { store.page_bytes() } -> std::same_as<std::uint32_t>;
  { store.pages() } -> std::same_as<std::uint64_t>;
};

}  // namespace sluice::cache
