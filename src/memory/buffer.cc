#include "sluice/memory/buffer.h"

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <utility>

#include "memory/gpu_memory.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::memory {

namespace {

constexpr std::size_t small_alignment = 4 * KiB;
constexpr std::size_t large_alignment = 2 * MiB;

std::size_t alignment_for(std::size_t bytes) {
  return bytes >= large_alignment ? large_alignment : small_alignment;
}

template <class Byte>
Byte* aligned(Byte* from, std::size_t unit) {
  return from +
         (align_up(reinterpret_cast<std::uintptr_t>(from), unit) - reinterpret_cast<std::uintptr_t>(from));
}

/// Zeroed pages of the host, aligned; large ones on huge pages where the kernel has them.
std::byte* map_host(std::size_t bytes, std::size_t unit) {
  const std::size_t whole = align_up(bytes, small_alignment);
  const std::size_t room = whole + (unit > small_alignment ? unit : 0);
  void* mapped =
      mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    throw error(error_kind::unavailable,
                "the host has no " + std::to_string(bytes) + " bytes of memory left");
  auto* const low = static_cast<std::byte*>(mapped);
  std::byte* const start = aligned(low, unit);
  if (start != low) munmap(low, static_cast<std::size_t>(start - low));
  if (start + whole != low + room)
    munmap(start + whole, static_cast<std::size_t>(low + room - start - whole));
  if (unit > small_alignment) madvise(start, whole, MADV_HUGEPAGE);
  return start;
}

void check_range(const region& which, std::size_t offset, std::size_t bytes) {
  if (offset <= which.bytes && bytes <= which.bytes - offset) return;
  throw error(error_kind::bad_input, "a copy of " + std::to_string(bytes) + " bytes at offset " +
                                         std::to_string(offset) + " leaves a region of " +
                                         std::to_string(which.bytes) + " bytes");
}

}  // namespace

buffer::buffer(backend on, place where, std::size_t bytes) {
  if (bytes == 0) return;
  const std::size_t unit = alignment_for(bytes);
  view_ = {nullptr, nullptr, bytes, where, on};
  if (on == backend::cuda && where == place::device) {
    device_base_ = allocate_device(bytes + unit);
    view_.lanes = aligned(device_base_, unit);
    return;
  }
  view_.host = view_.lanes = map_host(bytes, unit);
  if (on == backend::cpu) return;
  if (where == place::host) {
    view_.lanes = nullptr;
    return;
  }
  try {
    view_.lanes = pin_host(view_.host, bytes);
    pinned_ = true;
  } catch (...) {
    release();
    throw;
  }
}

buffer::buffer(buffer&& other) noexcept
    : view_(std::exchange(other.view_, {})),
      device_base_(std::exchange(other.device_base_, nullptr)),
      pinned_(std::exchange(other.pinned_, false)) {}

buffer& buffer::operator=(buffer&& other) noexcept {
  if (this == &other) return *this;
  release();
  view_ = std::exchange(other.view_, {});
  device_base_ = std::exchange(other.device_base_, nullptr);
  pinned_ = std::exchange(other.pinned_, false);
  return *this;
}

buffer::~buffer() { release(); }

void buffer::release() noexcept {
  if (device_base_ != nullptr) free_device(device_base_);
  if (pinned_) unpin_host(view_.host);
  if (view_.host != nullptr) munmap(view_.host, align_up(view_.bytes, small_alignment));
  view_ = {};
  device_base_ = nullptr;
  pinned_ = false;
}

void copy_in(const region& to, std::size_t offset, std::span<const std::byte> from) {
  check_range(to, offset, from.size());
  if (from.empty()) return;
  if (to.host != nullptr)
    std::memcpy(to.host + offset, from.data(), from.size());
  else
    copy_to_device(to.lanes + offset, from.data(), from.size());
}

void copy_out(const region& from, std::size_t offset, std::span<std::byte> to) {
  check_range(from, offset, to.size());
  if (to.empty()) return;
  if (from.host != nullptr)
    std::memcpy(to.data(), from.host + offset, to.size());
  else
    copy_from_device(to.data(), from.lanes + offset, to.size());
}

}  // namespace sluice::memory
