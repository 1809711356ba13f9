// What became of an operation: the NVMe status code exactly as it came, or one of our own reasons.
#pragma once

#include <cstdint>

namespace sluice {

/// Outcome of one command or access; 4 bytes, trivially copyable, the same on the host and in kernels.
/// Bits 0-14 hold an NVMe status field without its phase bit (NVMe Base 2.0, 4.6.1): SC in 0-7, SCT in 8-10,
/// CRD in 11-12, More in 13, Do Not Retry in 14. Our own reasons lie above bit 15.
class status {
 public:
  constexpr status() = default;

  /// From the 15-bit status field of a completion, kept as it came.
  static constexpr status from_nvme(std::uint32_t field) { return status{field & 0x7fffU}; }
  static constexpr status from_bits(std::uint32_t bits) { return status{bits}; }

  static const status ok, timed_out, aborted, out_of_range, no_frame, read_only, queue_lost, bad_checksum,
      cancelled;

  constexpr bool is_ok() const { return bits_ == 0; }
  constexpr explicit operator bool() const { return is_ok(); }
  constexpr bool is_nvme() const { return bits_ != 0 && (bits_ >> 15) == 0; }
  /// Status code type and status code, as in 0x281 (media error, unrecovered read).
  constexpr std::uint32_t nvme_code() const { return bits_ & 0x7ffU; }
  constexpr bool do_not_retry() const { return is_nvme() && (bits_ & 0x4000U) != 0; }
  constexpr std::uint32_t bits() const { return bits_; }

  friend constexpr bool operator==(status, status) = default;

 private:
  constexpr explicit status(std::uint32_t bits) : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

inline constexpr status status::ok{0};
/// A command or a wait outlived its deadline.
inline constexpr status status::timed_out{1U << 16};
/// The command's queue was lost before it was answered; nothing is known of its effect; may be retried.
inline constexpr status status::aborted{2U << 16};
/// Beyond the end of the array or volume.
inline constexpr status status::out_of_range{3U << 16};
/// Every frame that could hold the page is held by spans.
inline constexpr status status::no_frame{4U << 16};
/// A write to something opened for reading.
inline constexpr status status::read_only{5U << 16};
/// The drive has no open queue left.
inline constexpr status status::queue_lost{6U << 16};
/// The bytes do not match their recorded checksum.
inline constexpr status status::bad_checksum{7U << 16};
/// The user asked to stop.
inline constexpr status status::cancelled{8U << 16};

}  // namespace sluice
