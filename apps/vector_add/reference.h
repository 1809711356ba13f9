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
  const std::span<const std::byte> ours = std::as_bytes(found), theirs = std::as_bytes(truth);
  if (std::memcmp(ours.data(), theirs.data(), theirs.size()) == 0) return std::nullopt;
  const auto at = std::mismatch(theirs.begin(), theirs.end(), ours.begin()).first;
  return static_cast<std::size_t>(at - theirs.begin()) / sizeof(T);
}

}  // namespace sluice::vector_add
