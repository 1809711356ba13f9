// What the elements of vectors may be, as names and as types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "sluice/lane/hd.h"

namespace sluice::vector_add {

enum class element : std::uint8_t { u32, u64, f32, f64 };

/// In the order of `element`.
inline constexpr std::array<std::string_view, 4> element_names{"u32", "u64", "f32", "f64"};

constexpr std::uint32_t element_bytes(element of) { return of == element::u32 || of == element::f32 ? 4 : 8; }

/// As many neighbours as one lane loads at once.
template <class T>
struct alignas(16) element_pack {
  static constexpr std::uint32_t size = 16 / sizeof(T);
  T at[size];
};

/// At a multiple of the pack's size.
template <class T>
SLUICE_HD element_pack<T> load_pack(const T* from) {
  element_pack<T> loaded;
  memcpy(&loaded, __builtin_assume_aligned(reinterpret_cast<const std::byte*>(from), sizeof loaded),
         sizeof loaded);
  return loaded;
}
template <class T>
SLUICE_HD void store_pack(T* to, const element_pack<T>& pack) {
  memcpy(__builtin_assume_aligned(reinterpret_cast<std::byte*>(to), sizeof pack), &pack, sizeof pack);
}

/// Calls `act` with a value of the type that `of` names.
template <class Act>
decltype(auto) with_element(element of, Act&& act) {
  switch (of) {
    case element::u64:
      return act(std::uint64_t{});
    case element::f32:
      return act(float{});
    case element::f64:
      return act(double{});
    case element::u32:
      break;
  }
  return act(std::uint32_t{});
}

}  // namespace sluice::vector_add
