// The addition in plain C++, and what makes a sum wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>

namespace sluice::vector_add {

template <class T>
void add_reference(std::span<const T> a, std::span<const T> b, std::span<T> c) {
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = a[i] + b[i];
}

/// Where the first element is that differs in any bit; nothing where none does.
template <class T>
std::optional<std::size_t> first_difference(std::span<const T> found, std::span<const T> truth) {
  if (std::memcmp(found.data(), truth.data(), truth.size_bytes()) == 0) return std::nullopt;
  std::size_t i = 0;
  while (std::memcmp(&found[i], &truth[i], sizeof(T)) == 0) ++i;
  return i;
}

}  // namespace sluice::vector_add
