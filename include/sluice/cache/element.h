// How lanes touch the bytes of a frame: in pieces that are each read or written at once, with the orders the
// protocol needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sluice/lane/atomic.h"
#include "sluice/lane/hd.h"
#include "sluice/lane/load_if.h"
#include "sluice/lane/mutant.h"

namespace sluice::cache {

/// Bytes of the largest piece that divides every T in an array of T: 8, 4, 2 or 1.
template <class T>
inline constexpr std::uint32_t piece_bytes = sizeof(T) % 8 == 0   ? 8
                                             : sizeof(T) % 4 == 0 ? 4
                                             : sizeof(T) % 2 == 0 ? 2
                                                                  : 1;

template <std::uint32_t Bytes>
using piece_word =
    std::conditional_t<Bytes == 8, std::uint64_t,
                       std::conditional_t<Bytes == 4, std::uint32_t,
                                          std::conditional_t<Bytes == 2, std::uint16_t, std::uint8_t>>>;

/// Order of an optimistic read's loads: acquire; pairs with the fence before a refill's stores, so that
/// whoever reads a byte of the refill sees the changed word. Who has the frame pinned may read relaxed.
SLUICE_HD SLUICE_INLINE lane::order optimistic_load() {
  return lane::order_of("cache.read_data", lane::acquire);
}

/// Reads `bytes` bytes (a multiple of Piece) of a frame.
template <std::uint32_t Piece>
SLUICE_HD SLUICE_INLINE void load_pieces(std::byte* to, const std::byte* frame, std::uint32_t bytes,
                                         lane::order o) {
  using word = piece_word<Piece>;
  for (std::uint32_t at = 0; at < bytes; at += Piece) {
    // The frame's memory is writable; an atomic view of it asks for that even to read.
    word& place = *reinterpret_cast<word*>(const_cast<std::byte*>(frame) + at);
    const word value = lane::on_device(place).load(o);
    memcpy(to + at, &value, Piece);
  }
}

/// Writes them. The caller has the frame pinned for writing; its unpin makes them visible to write-back and
/// the next owner.
template <std::uint32_t Piece>
SLUICE_HD SLUICE_INLINE void store_pieces(std::byte* frame, const std::byte* from, std::uint32_t bytes) {
  using word = piece_word<Piece>;
  for (std::uint32_t at = 0; at < bytes; at += Piece) {
    word value;
    memcpy(&value, from + at, Piece);
    lane::on_device(*reinterpret_cast<word*>(frame + at)).store(value, lane::relaxed);
  }
}

template <class T>
SLUICE_HD SLUICE_INLINE T load_element(const std::byte* frame, lane::order o) {
  static_assert(std::is_trivially_copyable_v<T>);
  alignas(T) std::byte raw[sizeof(T)];
  load_pieces<piece_bytes<T>>(raw, frame, sizeof(T), o);
  T value;
  memcpy(&value, raw, sizeof(T));
  return value;
}

/// The element where it is `wanted`, else T{}; one of 4 or 8 bytes without a branch.
template <class T>
SLUICE_HD SLUICE_INLINE T load_element_if(bool wanted, const std::byte* frame, lane::order o) {
  if constexpr (sizeof(T) == piece_bytes<T> && sizeof(T) >= 4) {
    auto& place = *reinterpret_cast<piece_word<sizeof(T)>*>(const_cast<std::byte*>(frame));
    const auto word = lane::load_if(wanted, place, o);
    T value;
    memcpy(&value, &word, sizeof(T));
    return value;
  } else {
    return wanted ? load_element<T>(frame, o) : T{};
  }
}

template <class T>
SLUICE_HD SLUICE_INLINE void store_element(std::byte* frame, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  store_pieces<piece_bytes<T>>(frame, reinterpret_cast<const std::byte*>(&value), sizeof(T));
}

}  // namespace sluice::cache
