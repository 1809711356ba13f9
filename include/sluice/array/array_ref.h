// An array that lies on drives, as lanes see it: indexed like memory, read on demand through a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sluice/array/array_span.h"
#include "sluice/array/mailbox.h"
#include "sluice/base/bits.h"
#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/cache/element.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/team.h"

namespace sluice {

/// Lanes' view of `size` elements that start `first_byte` bytes into the cache's address space; trivially
/// copyable. Accesses that fail return T{} (or nothing), and leave the launch's first failure in the mailbox.
template <class T, class Cache>
class array_ref {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "elements travel as plain bytes");
  using value_type = T;

  /// `a[i]`: reads where a value is wanted, writes where it is assigned to.
  class element {
   public:
    SLUICE_HD element(const array_ref& array, std::uint64_t index) : array_(array), index_(index) {}
    SLUICE_HD SLUICE_INLINE operator T() const { return array_.read(index_); }
    SLUICE_HD const element& operator=(const T& value) const { return array_.write(index_, value), *this; }
    SLUICE_HD const element& operator=(const element& other) const { return *this = static_cast<T>(other); }
    element(const element&) = default;

   private:
    const array_ref& array_;
    std::uint64_t index_;
  };

  array_ref() = default;
  /// `first_byte` is a multiple of 8, and of sizeof(T) where that is a power of two, so that no such element
  /// straddles.
  array_ref(const Cache& cache, std::uint64_t first_byte, std::uint64_t size, mailbox* failures)
      : cache_(cache), first_byte_(first_byte), size_(size), failures_(failures) {}

  SLUICE_HD std::uint64_t size() const { return size_; }
  SLUICE_HD const Cache& cache() const { return cache_; }
  SLUICE_HD SLUICE_INLINE element operator[](std::uint64_t i) const { return {*this, i}; }

  /// The element, or T{} where it cannot be had.
  /// Lanes:  any lane; those that miss together share the work.
  /// Order:  sees every write that happened before. Aligned elements of up to 8 bytes are read and written at
  /// once; larger
  ///   ones, and those that straddle two pages, like plain memory.
  /// Waits:  at most the cache's patience.
  /// Errors: through the mailbox; out_of_range beyond the end, else as cache_ref::read().
  SLUICE_HD SLUICE_INLINE T read(std::uint64_t i) const {
    const cache::outcome<T> got = try_read(i);
    if (!got.is_ok()) return fail(got.code, array_operation::read, i), T{};
    return got.value;
  }
  /// The element or its failure, which the mailbox does not hear of.
  SLUICE_HD SLUICE_INLINE cache::outcome<T> try_read(std::uint64_t i) const {
    if (i >= size_) return {T{}, status::out_of_range};
    if (straddles(i)) return read_in_parts(i);
    return cache_.template read<T>(page(i), offset(i));
  }

  SLUICE_HD status write(std::uint64_t i, const T& value) const {
    status code = status::out_of_range;
    if (i < size_)
      code = straddles(i) ? write_in_parts(i, value) : cache_.template write<T>(page(i), offset(i), value);
    if (!code.is_ok()) fail(code, array_operation::write, i);
    return code;
  }

  /// Adds at once and returns what was there. T: an arithmetic type of 4 or 8 bytes.
  SLUICE_HD T fetch_add(std::uint64_t i, T value) const {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
    cache::outcome<T> got{T{}, status::out_of_range};
    if (i < size_) got = cache_.template fetch_add<T>(page(i), offset(i), value);
    if (!got.is_ok()) fail(got.code, array_operation::write, i);
    return got.value;
  }

  /// Pages that the array touches, counted from the one that holds its first byte.
  SLUICE_HD std::uint64_t pages() const {
    if (size_ == 0) return 0;
    return ((first_byte_ + size_ * sizeof(T) - 1) >> cache_.page_shift()) - first_page() + 1;
  }
  /// The page, counted so, that holds the first byte of element i.
  SLUICE_HD std::uint64_t page_of(std::uint64_t i) const { return page(i).value - first_page(); }

  /// Holds the elements that lie wholly in the array's p-th page. Use: `const auto span = a.span(team, p);`
  /// Lanes:  all lanes of the team; the span ends with its scope, for all of them.
  /// Errors: no_frame where spans hold all but one way of the page's set; else as read(). In span.code() and
  /// the mailbox.
  template <class Team>
  SLUICE_HD array_span<T, Cache, Team> span(const Team& team, std::uint64_t p,
                                            span_kind kind = span_kind::read) const {
    const std::uint64_t page_start = (first_page() + p) << cache_.page_shift();
    const std::uint64_t begin = page_start > first_byte_ ? divide_up(page_start - first_byte_, sizeof(T)) : 0;
    const std::uint64_t page_end = page_start + cache_.page_bytes();
    std::uint64_t end = page_end > first_byte_ ? (page_end - first_byte_) / sizeof(T) : 0;
    if (end > size_) end = size_;
    cache::held_page held{cache::no_frame_index, kind, status::out_of_range};
    if (p < pages()) held = cache_.hold(team, {first_page() + p}, kind);
    if (!held.is_ok() && team.leads()) {
      fail(held.code, kind == span_kind::read ? array_operation::read : array_operation::write, begin);
    }
    const auto start = static_cast<std::uint32_t>(first_byte_ + begin * sizeof(T) - page_start);
    return {cache_, team, held, begin, static_cast<std::uint32_t>(end > begin ? end - begin : 0), start};
  }

  /// Elements that a page holds, and those from element i to the end of its page. For elements that never
  /// straddle.
  SLUICE_HD std::uint32_t page_elements() const { return cache_.page_bytes() / sizeof(T); }
  SLUICE_HD std::uint32_t page_rest(std::uint64_t i) const {
    return (cache_.page_bytes() - offset(i)) / static_cast<std::uint32_t>(sizeof(T));
  }

  /// Lets `use(const T* at)` run once in each lane with element i's page pinned, `at` where that element
  /// lies: a quick way to read several elements of a page, as plain memory, while no lane writes to it. `use`
  /// may not wait. Lanes:  all lanes of the team, each with an element of its own; those that are not
  /// `active` only come along. Those
  ///   in the same page share one pin, and what the team has to load is submitted as one batch.
  /// Errors: as read(); ok for lanes that are not active.
  template <class Team, class Use>
  SLUICE_HD status visit(const Team& team, bool active, std::uint64_t i, const Use& use) const {
    static_assert(is_power_of_two(sizeof(T)), "such elements lie in one page wholly");
    const page_id nowhere{cache_.pages()};
    const status code = cache_.template visit<cache::access::read>(
        team, active && i < size_ ? page(i) : nowhere,
        [&](const std::byte* frame) { use(reinterpret_cast<const T*>(frame + offset(i))); });
    if (!active || code.is_ok()) return status::ok;
    fail(code, array_operation::read, i);
    return code;
  }

  /// Starts bringing in element i's page, and returns at once. The token holds nothing and may be dropped.
  SLUICE_HD cache::prefetch_token prefetch(std::uint64_t i) const {
    if (i >= size_) return {};
    return cache_.prefetch(lane::warp_team::converged(), page(i));
  }
  /// Waits until the page has come; its failure, if any. The access that follows may still have to fetch it
  /// again.
  SLUICE_HD status wait(const cache::prefetch_token& token) const {
    return cache_.wait(lane::warp_team::converged(), token);
  }

 private:
  SLUICE_HD std::uint64_t first_page() const { return first_byte_ >> cache_.page_shift(); }
  SLUICE_HD page_id page(std::uint64_t i) const {
    return {(first_byte_ + i * sizeof(T)) >> cache_.page_shift()};
  }
  SLUICE_HD std::uint32_t offset(std::uint64_t i) const {
    return static_cast<std::uint32_t>(first_byte_ + i * sizeof(T)) & (cache_.page_bytes() - 1);
  }
  SLUICE_HD bool straddles(std::uint64_t i) const {
    if constexpr (is_power_of_two(sizeof(T))) return false;
    return offset(i) + sizeof(T) > cache_.page_bytes();
  }

  /// Part by part, never both pages at once: so it cannot deadlock, and is not one atomic access.
  SLUICE_NOINLINE SLUICE_HD cache::outcome<T> read_in_parts(std::uint64_t i) const {
    alignas(T) std::byte raw[sizeof(T)];
    const std::uint32_t front = cache_.page_bytes() - offset(i);
    status code = cache_.template read_bytes<cache::piece_bytes<T>>(page(i), offset(i), raw, front);
    if (code.is_ok()) {
      code = cache_.template read_bytes<cache::piece_bytes<T>>({page(i).value + 1}, 0, raw + front,
                                                               sizeof(T) - front);
    }
    cache::outcome<T> result{T{}, code};
    if (code.is_ok()) memcpy(&result.value, raw, sizeof(T));
    return result;
  }
  SLUICE_NOINLINE SLUICE_HD status write_in_parts(std::uint64_t i, const T& value) const {
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    const std::uint32_t front = cache_.page_bytes() - offset(i);
    const status code = cache_.template write_bytes<cache::piece_bytes<T>>(page(i), offset(i), raw, front);
    if (!code.is_ok()) return code;
    return cache_.template write_bytes<cache::piece_bytes<T>>({page(i).value + 1}, 0, raw + front,
                                                              sizeof(T) - front);
  }

  SLUICE_NOINLINE SLUICE_HD void fail(status code, array_operation what, std::uint64_t i) const {
    if (failures_ != nullptr) failures_->put(code, what, i, page(i).value);
  }

  Cache cache_;
  std::uint64_t first_byte_ = 0;
  std::uint64_t size_ = 0;
  mailbox* failures_ = nullptr;
};

}  // namespace sluice
