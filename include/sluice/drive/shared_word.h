// Words that the host and running lanes share, in memory of either: how the host reads and writes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sluice/lane/atomic.h"
#include "sluice/memory/buffer.h"

namespace sluice::drive {

/// The word of type T at `offset`. Order: acquire.
template <class T>
T peek(const memory::region& in, std::size_t offset) {
  if (in.host != nullptr) return lane::on_system(*reinterpret_cast<T*>(in.host + offset)).load(lane::acquire);
  T value;
  memory::copy_out(in, offset, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// Order: release.
template <class T>
void poke(const memory::region& in, std::size_t offset, T value) {
  if (in.host != nullptr)
    return lane::on_system(*reinterpret_cast<T*>(in.host + offset)).store(value, lane::release);
  memory::copy_in(in, offset, std::as_bytes(std::span(&value, 1)));
}

}  // namespace sluice::drive
