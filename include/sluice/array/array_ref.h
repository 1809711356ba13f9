// An array that lies on drives, as lanes see it: indexed like memory, read on demand through a cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sluice/array/array_span.h"
#include "sluice/array/detail/gather.h"
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
  /// The element or its failure, which the mailbox does not hear of. `due`: it was asked for before.
  SLUICE_HD SLUICE_INLINE cache::outcome<T> try_read(std::uint64_t i, bool due = false) const {
    if (i >= size_) return {T{}, status::out_of_range};
    if (straddles(i)) return read_in_parts(i);
    return cache_.template read<T>(page(i), offset(i), due);
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
    const cache::held_page held = hold(team, p, kind);
    if (!held.is_ok() && team.leads()) {
      fail(held.code, kind == span_kind::read ? array_operation::read : array_operation::write,
           run_of(p).first);
    }
    return span_of(team, p, held);
  }
  /// The same, but that the mailbox does not hear of a failure: for teams that can wait until other spans
  /// end.
  template <class Team>
  SLUICE_HD array_span<T, Cache, Team> try_span(const Team& team, std::uint64_t p,
                                                span_kind kind = span_kind::read) const {
    return span_of(team, p, hold(team, p, kind));
  }
  /// Leaves in the mailbox that the caller could not do without what a `try_` call declined.
  SLUICE_HD void report(status code, array_operation what, std::uint64_t i) const { fail(code, what, i); }

  /// Lets `use(const T* elements, first, count)` run once in each lane for each of the array's pages [begin,
  /// end), in any order, with the page pinned meanwhile: the elements wholly in it, of which the first is
  /// element `first` of the array. The quick way to read pages whole, as plain memory, while no lane writes
  /// to them. `use` may not wait; for that there is span(). Lanes:  all lanes of the team, with the same
  /// pages. Errors: the first failed page's, as read().
  template <class Team, class Use>
  SLUICE_HD SLUICE_INLINE status walk(const Team& team, std::uint64_t begin, std::uint64_t end,
                                      const Use& use) const {
    constexpr std::uint32_t at_once = 8;
    const std::uint32_t most = team.size() < at_once ? team.size() : at_once;
    status failure;
    for (std::uint64_t p = begin; p < end; p += most) {
      const auto count = static_cast<std::uint32_t>(end - p < most ? end - p : most);
      const cache::outcome<std::uint32_t> done =
          cache_.walk(team, {first_page() + p}, count, [&](const std::byte* frame, std::uint32_t k) {
            const element_run run = run_of(p + k);
            use(reinterpret_cast<const T*>(frame + run.offset), run.first, run.count);
          });
      if (done.is_ok() || !failure.is_ok()) continue;
      failure = done.code;
      if (team.leads()) fail(failure, array_operation::read, run_of(p + done.value).first);
    }
    return failure;
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

  /// Copies rows of `width` elements, row r being elements r * width to (r + 1) * width - 1, to `out`, in the
  /// order of rows[0] to rows[count - 1]: embeddings, features of nodes. Rows may lie across pages, and may
  /// be longer than one; a page that several of them want is brought in once. Lanes:  all lanes of the team,
  /// with the same arguments; `rows` and `out` lie in the lanes' memory. Order:  as plain memory, while no
  /// lane writes to the rows. Errors: the first failed row's, as read(), in all lanes, and in the mailbox;
  /// the other rows are copied.
  template <class Team, class Index>
  SLUICE_HD status gather(const Team& team, const Index* rows, std::uint64_t count, std::uint32_t width,
                          T* out) const;

  /// Starts bringing in element i's page, and returns at once. The token holds nothing and may be dropped.
  SLUICE_HD cache::prefetch_token prefetch(std::uint64_t i) const {
    if (i >= size_) return {};
    return cache_.prefetch(lane::warp_team::converged(), page(i));
  }
  /// An element that was asked for: names it, and holds nothing.
  struct read_token {
    std::uint64_t index;
  };
  /// Starts reading element i, and returns at once; wait() gives its value. A lane may have any number under
  /// way, and those of a warp go out as one batch: work between the two costs no time that the drives need.
  SLUICE_HD SLUICE_INLINE read_token read_async(std::uint64_t i) const {
    (void)prefetch(i);
    return {i};
  }
  /// The element, or T{} where it cannot be had: as read(), also in its errors. Lanes that call it together
  /// go on together.
  SLUICE_HD SLUICE_INLINE T wait(const read_token& token) const {
    const auto with = lane::companions::here();
    const cache::outcome<T> got = try_read(token.index, true);
    if (!got.is_ok()) fail(got.code, array_operation::read, token.index);
    with.rejoin();
    return got.is_ok() ? got.value : T{};
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
  /// The elements that lie wholly in one page, and where in it they begin.
  struct element_run {
    std::uint64_t first;
    std::uint32_t count;
    std::uint32_t offset;
  };
  SLUICE_HD element_run run_of(std::uint64_t p) const {
    const std::uint64_t page_start = (first_page() + p) << cache_.page_shift();
    const std::uint64_t begin = page_start > first_byte_ ? divide_up(page_start - first_byte_, sizeof(T)) : 0;
    const std::uint64_t page_end = page_start + cache_.page_bytes();
    std::uint64_t end = page_end > first_byte_ ? (page_end - first_byte_) / sizeof(T) : 0;
    if (end > size_) end = size_;
    return {begin, static_cast<std::uint32_t>(end > begin ? end - begin : 0),
            static_cast<std::uint32_t>(first_byte_ + begin * sizeof(T) - page_start)};
  }
  SLUICE_HD bool straddles(std::uint64_t i) const {
    if constexpr (is_power_of_two(sizeof(T))) return false;
    return offset(i) + sizeof(T) > cache_.page_bytes();
  }

  template <class Team>
  SLUICE_HD cache::held_page hold(const Team& team, std::uint64_t p, span_kind kind) const {
    if (p >= pages()) return {cache::no_frame_index, kind, status::out_of_range};
    return cache_.hold(team, {first_page() + p}, kind);
  }
  template <class Team>
  SLUICE_HD array_span<T, Cache, Team> span_of(const Team& team, std::uint64_t p,
                                               const cache::held_page& held) const {
    const element_run run = run_of(p);
    return {cache_, team, held, run.first, run.count, run.offset};
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

  template <class Word, class Team, class Index>
  SLUICE_HD status gather_words(const Team& team, const Index* rows, std::uint64_t count, std::uint32_t width,
                                T* out) const;

  Cache cache_;
  std::uint64_t first_byte_ = 0;
  std::uint64_t size_ = 0;
  mailbox* failures_ = nullptr;
};

template <class T, class Cache>
template <class Team, class Index>
SLUICE_HD status array_ref<T, Cache>::gather(const Team& team, const Index* rows, std::uint64_t count,
                                             std::uint32_t width, T* out) const {
  if (width == 0) return status();
  const std::uint64_t row_bytes = std::uint64_t{width} * sizeof(T);
  const bool wide =
      ((first_byte_ | row_bytes | reinterpret_cast<std::uintptr_t>(out)) % sizeof(lane::word16)) == 0;
  return wide ? gather_words<lane::word16>(team, rows, count, width, out)
              : gather_words<cache::piece_word<cache::piece_bytes<T>>>(team, rows, count, width, out);
}

/// Round by round, each lane asks for one part of a row; all copy what comes.
template <class T, class Cache>
template <class Word, class Team, class Index>
SLUICE_NOINLINE SLUICE_HD status array_ref<T, Cache>::gather_words(const Team& team, const Index* rows,
                                                                   std::uint64_t count, std::uint32_t width,
                                                                   T* out) const {
  const std::uint64_t row_bytes = std::uint64_t{width} * sizeof(T);
  const std::uint64_t page_bytes = cache_.page_bytes();
  // Rows that begin anywhere in a page touch one page more than those that begin on multiples of their
  // length.
  const bool aligned = is_power_of_two(row_bytes) && first_byte_ % row_bytes == 0;
  const auto parts = static_cast<std::uint32_t>(divide_up(row_bytes, page_bytes) + (aligned ? 0 : 1));
  const auto largest = static_cast<std::uint32_t>(row_bytes < page_bytes ? row_bytes : page_bytes);
  status failure;
  std::uint64_t failed = 0;
  for (std::uint64_t base = 0; base < count * parts; base += team.size()) {
    const std::uint64_t n = base + team.rank();
    const std::uint64_t k = parts == 1 ? n : n / parts;
    detail::row_part mine;
    status code;
    std::uint64_t row = 0;
    if (k < count) {
      row = static_cast<std::uint64_t>(rows[k]);
      if (row < size_ / width)
        mine = detail::part_of_row(first_byte_ + row * row_bytes, row_bytes,
                                   static_cast<std::uint32_t>(n - k * parts), cache_.page_shift(),
                                   reinterpret_cast<std::byte*>(out + k * width));
      else
        code = status::out_of_range;
    }
    const bool asks = mine.bytes != 0;
    const status came =
        cache_.template visit<cache::access::read>(team, asks ? mine.page : page_id{cache_.pages()},
                                                   detail::part_copier<Word, Team>(team, mine, largest));
    if (asks) code = came;
    if (code.is_ok() || !failure.is_ok()) continue;
    failure = code;
    failed = row * width;
  }
  if (team.leads()) cache_.note_visits(count, count * row_bytes);
  if (!failure.is_ok()) fail(failure, array_operation::read, failed);
  const std::uint32_t failures = team.ballot(!failure.is_ok());
  if (failures == 0) return status();
  return status::from_bits(team.of(failure.bits(), failures & (~failures + 1)));
}

}  // namespace sluice
