// One file or drive as an array: the shortest way from a URI to a kernel that indexes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/array/cached_volume.h"

namespace sluice {

/// Owns everything between a drive and `array_ref<T>`. Only `.cu` files include it.
template <class T, class Policy = cache::clock>
class array {
 public:
  using ref_type = typename cached_volume<Policy>::template array_type<T>;

  /// Opens the drive as it is (no manifest): element i lies at byte i × sizeof(T).
  static array open(lane::machine& on, std::string_view uri, drive::access mode = drive::access::read,
                    const cached_options& options = {}) {
    return array(on, uri, mode, options);
  }

  std::uint64_t size() const { return size_; }
  /// Lanes' view; goes into kernels by value.
  ref_type ref() const { return cached_->template array<T>(0, size_); }
  /// Call after a launch: throws the first failure of its accesses.
  void sync() const { cached_->sync(); }
  /// Writes what lanes wrote, so that it lasts.
  void flush() { cached_->flush(); }
  io_truth truth() const { return cached_->truth(); }

 private:
  array(lane::machine& on, std::string_view uri, drive::access mode, const cached_options& options)
      : storage_(std::make_unique<storage>(storage::raw({{std::string(uri)}}, {.mode = mode}))),
        cached_(std::make_unique<cached_volume<Policy>>(on, *storage_, options)),
        size_(storage_->volume().bytes() / sizeof(T)) {}

  std::unique_ptr<storage> storage_;
  std::unique_ptr<cached_volume<Policy>> cached_;
  std::uint64_t size_;
};

}  // namespace sluice
