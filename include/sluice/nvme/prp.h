// Physical Region Pages: how a command names memory page by page (NVMe Base 2.0, section 4.1.1).
#pragma once

#include <cstdint>

#include "sluice/base/bits.h"
#include "sluice/base/types.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::nvme {

/// DPTR of a command that uses PRPs. An unused second entry is 0.
struct prp_pair {
  bus_address first;
  bus_address second;
  friend constexpr bool operator==(const prp_pair&, const prp_pair&) = default;
};

/// Memory for a PRP list: `entries` as the writer reaches them, contiguous on the bus from `at` (a multiple
/// of 8).
struct prp_list_memory {
  std::uint64_t* entries = nullptr;
  bus_address at;
};

inline constexpr std::uint64_t prp_entry_bytes = 8;

/// PRP entries that `bytes` starting `offset` into a page take; one a page touched.
constexpr std::uint64_t prp_entries(std::uint64_t offset, std::uint64_t bytes, std::uint64_t page) {
  return divide_up(offset % page + bytes, page);
}

/// Entries of list memory that a transfer needs, chain pointers included, for a list that starts at `list`.
constexpr std::uint64_t prp_list_entries(bus_address data, std::uint64_t bytes, std::uint64_t page,
                                         bus_address list) {
  const std::uint64_t pages = prp_entries(data.value, bytes, page);
  if (pages <= 2) return 0;
  std::uint64_t left = pages - 1;
  std::uint64_t room = (page - list.value % page) / prp_entry_bytes;
  std::uint64_t taken = 0;
  while (left > room) {
    taken += room;
    left -= room - 1;
    room = page / prp_entry_bytes;
  }
  return taken + left;
}

/// List memory, in bytes, that suffices for any transfer of `bytes` at any offset into a page and any place
/// of the list.
constexpr std::uint64_t prp_list_bytes(std::uint64_t bytes, std::uint64_t page) {
  const std::uint64_t entries = prp_entries(page - 1, bytes, page);
  return (entries + divide_up(entries, page / prp_entry_bytes - 1) + 1) * prp_entry_bytes;
}

/// Describes `bytes` that start `offset` into page 0 and go on at the start of pages 1, 2, ...; page_at(i) is
/// where page i begins. The list is written only where more than two pages are touched, and chains where it
/// reaches the end of a page of its own: the last entry of a list page points to the next list page, unless
/// it is the last entry of all (4.1.1).
template <class PageAt>
constexpr prp_pair build_prps(PageAt&& page_at, std::uint64_t offset, std::uint64_t bytes, std::uint64_t page,
                              const prp_list_memory& list) {
  const std::uint64_t pages = prp_entries(offset, bytes, page);
  const bus_address first = page_at(std::uint64_t{0}) + offset;
  if (pages <= 1) return {first, {}};
  if (pages == 2) return {first, page_at(std::uint64_t{1})};
  std::uint64_t slot = 0;
  for (std::uint64_t i = 1; i < pages; ++i) {
    const bus_address here = list.at + slot * prp_entry_bytes;
    const bool last_of_list_page = (here.value + prp_entry_bytes) % page == 0;
    if (last_of_list_page && i + 1 < pages) list.entries[slot++] = here.value + prp_entry_bytes;
    list.entries[slot++] = page_at(i).value;
  }
  return {first, list.at};
}

/// The same for memory that is contiguous on the bus.
constexpr prp_pair build_prps(bus_address data, std::uint64_t bytes, std::uint64_t page,
                              const prp_list_memory& list) {
  const std::uint64_t offset = data.value % page;
  const bus_address start{data.value - offset};
  return build_prps([&](std::uint64_t i) { return start + i * page; }, offset, bytes, page, list);
}

/// Walks what build_prps describes, as a controller does. `read(bus_address, std::uint64_t& entry)` fetches a
/// list entry and says whether it could; `visit(bus_address, std::uint64_t bytes)` takes each piece in order
/// and returns a status. Errors: PRP Offset Invalid (an offset where none may be, or not a multiple of a
/// dword; a list not at a qword), Data Transfer Error where an entry cannot be read, else the first status of
/// `visit` that is not ok.
template <class Read, class Visit>
constexpr status walk_prps(const prp_pair& prps, std::uint64_t bytes, std::uint64_t page, Read&& read,
                           Visit&& visit) {
  if (prps.first.value % 4 != 0) return do_not_retry(code::prp_offset_invalid);
  const std::uint64_t offset = prps.first.value % page;
  const std::uint64_t first = bytes < page - offset ? bytes : page - offset;
  if (const status s = visit(prps.first, first); !s) return s;
  std::uint64_t left = bytes - first;
  if (left == 0) return status::ok;
  if (left <= page) {
    if (prps.second.value % page != 0) return do_not_retry(code::prp_offset_invalid);
    return visit(prps.second, left);
  }
  bus_address at = prps.second;
  if (at.value % prp_entry_bytes != 0) return do_not_retry(code::prp_offset_invalid);
  while (left > 0) {
    std::uint64_t entry = 0;
    if (!read(at, entry)) return code::data_transfer_error;
    at = at + prp_entry_bytes;
    if (at.value % page == 0 && left > page) {
      // Last entry of a list page with more than one page to come: the next list page, which starts at its
      // own offset 0.
      if (entry % page != 0) return do_not_retry(code::prp_offset_invalid);
      at = {entry};
      continue;
    }
    if (entry % page != 0) return do_not_retry(code::prp_offset_invalid);
    const std::uint64_t piece = left < page ? left : page;
    if (const status s = visit(bus_address{entry}, piece); !s) return s;
    left -= piece;
  }
  return status::ok;
}

}  // namespace sluice::nvme
