// The bare limit of the cache benchmark's passes: elements in plain memory behind array_ref's interface.
#pragma once

#include <cstdint>

#include "sluice/lane/atomic.h"
#include "sluice/lane/bytes.h"
#include "sluice/lane/hd.h"

namespace sluice::tool {

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
  SLUICE_HD std::uint32_t page_elements() const { return per_page; }
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

}  // namespace sluice::tool
