// A page's elements, held by a team for as long as the object lives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/base/status.h"
#include "sluice/base/types.h"
#include "sluice/cache/cache_ref.h"
#include "sluice/cache/element.h"
#include "sluice/lane/hd.h"

namespace sluice {

using cache::span_kind;

/// The elements of an array that lie wholly in one page. Every lane of the team has the same one; all of them
/// come to the end of its scope, which lets the page go. Order:  what the team wrote through it is visible to
/// whoever reads the page after its end.
template <class T, class Cache, class Team>
class array_span {
 public:
  SLUICE_HD array_span(const Cache& cache, const Team& team, const cache::held_page& held,
                       std::uint64_t first, std::uint32_t count, std::uint32_t offset)
      : cache_(cache),
        team_(team),
        held_(held),
        first_(first),
        count_(held.is_ok() ? count : 0),
        offset_(offset) {}
  array_span(const array_span&) = delete;
  array_span& operator=(const array_span&) = delete;
  SLUICE_HD ~array_span() { cache_.release(team_, held_); }

  SLUICE_HD bool is_ok() const { return held_.is_ok(); }
  SLUICE_HD status code() const { return held_.code; }
  /// Index in the array of the span's first element.
  SLUICE_HD std::uint64_t first() const { return first_; }
  /// Elements in it; none where it could not be had.
  SLUICE_HD std::uint32_t size() const { return count_; }

  /// The k-th element of the span. In a span that overwrites: undefined until it has been set.
  SLUICE_HD T operator[](std::uint32_t k) const {
    return cache::load_element<T>(bytes() + std::uint64_t{k} * sizeof(T), lane::relaxed);
  }
  /// Sets it. Only in spans that write or overwrite; lanes set different elements.
  SLUICE_HD void set(std::uint32_t k, const T& value) const {
    cache::store_element<T>(bytes() + std::uint64_t{k} * sizeof(T), value);
  }
  /// Sets the elements from the k-th on, which starts at a multiple of 8 bytes: in fewer stores than one by
  /// one.
  template <std::size_t Count>
  SLUICE_HD void set(std::uint32_t k, const T (&values)[Count]) const {
    constexpr std::uint32_t bytes_in_all = Count * sizeof(T);
    cache::store_pieces<bytes_in_all % 8 == 0 ? 8 : cache::piece_bytes<T>>(
        bytes() + std::uint64_t{k} * sizeof(T), reinterpret_cast<const std::byte*>(values), bytes_in_all);
  }
  /// The elements as plain memory, to be read in any width: only while no lane writes to the page.
  SLUICE_HD const T* data() const { return reinterpret_cast<const T*>(bytes()); }

 private:
  SLUICE_HD std::byte* bytes() const { return cache_.bytes(held_) + offset_; }

  const Cache& cache_;
  Team team_;
  cache::held_page held_;
  std::uint64_t first_;
  std::uint32_t count_;
  std::uint32_t offset_;
};

}  // namespace sluice
