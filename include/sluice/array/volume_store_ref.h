// Lanes' view of a volume as a source of pages: which drive, which queue, which commands, and who helps them
// along.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/array/mirror_ref.h"
#include "sluice/array/seal_ref.h"
#include "sluice/base/bits.h"
#include "sluice/base/report.h"
#include "sluice/cache/page_store.h"
#include "sluice/drive/volume_ref.h"
#include "sluice/lane/identity.h"
#include "sluice/queue/queue_pair_ref.h"

namespace sluice {

/// One drive as lanes reach it.
struct drive_port {
  const queue::queue_fields* queues = nullptr;
  std::uint32_t queue_count = 0;
  std::uint32_t command_bytes = 0;  ///< the most that one command moves
  queue::prp_table_ref
      frames;  ///< frames as this drive sees them, in pieces of command_bytes; peer path only
};

/// Words that lanes share.
struct store_words {
  // For flushing, which needs somewhere in lanes' memory for its answer.
  std::uint32_t flushing;  ///< 1 while somebody holds the two words below
  std::uint64_t word;
  std::uint64_t detail;

  mirror_words mirror;
};

/// Where a command waits, in the 64 bits that its `report_to::detail` holds until the answer: bit 63, drive
/// 62:48, queue 47:32, slot 31:0.
class poll_hint {
 public:
  SLUICE_HD constexpr explicit poll_hint(std::uint64_t bits) : bits_(bits) {}
  SLUICE_HD constexpr poll_hint(std::uint32_t drive, std::uint32_t queue, std::uint32_t slot)
      : bits_((std::uint64_t{1} << 63) | (std::uint64_t{drive} << 48) | (std::uint64_t{queue} << 32) | slot) {
  }
  SLUICE_HD constexpr bool valid() const { return (bits_ >> 63) != 0; }
  SLUICE_HD constexpr std::uint32_t drive() const {
    return static_cast<std::uint32_t>(bits_ >> 48) & 0x7fffU;
  }
  SLUICE_HD constexpr std::uint32_t queue() const {
    return static_cast<std::uint32_t>(bits_ >> 32) & 0xffffU;
  }
  SLUICE_HD constexpr std::uint32_t slot() const { return static_cast<std::uint32_t>(bits_); }
  SLUICE_HD constexpr std::uint64_t bits() const { return bits_; }
  /// Drive and queue in one number.
  SLUICE_HD constexpr std::uint64_t where() const { return bits_ >> 32; }

 private:
  std::uint64_t bits_;
};

/// A cache::page_store. Trivially copyable; all calls are made by every lane of the team together.
class volume_store_ref {
 public:
  SLUICE_HD std::uint32_t page_bytes() const { return std::uint32_t{1} << page_shift_; }
  SLUICE_HD std::uint64_t pages() const { return pages_; }
  SLUICE_HD bool writable() const { return writable_; }
  SLUICE_HD std::uint32_t sources() const { return mirror_.copies(); }
  SLUICE_HD std::uint32_t reports(bool write) const {
    return mirror_.commands() * (write ? mirror_.copies() : 1);
  }

  // Of a cache::checked_store.
  SLUICE_HD bool checks() const { return seals_.checks(); }
  template <class Team>
  SLUICE_HD status check(const Team& team, page_id page, const std::byte* frame) const {
    return seals_.check(team, first_byte_ + (page.value << page_shift_), frame, page_bytes());
  }

  template <class Team>
  SLUICE_HD status submit(const Team& team, bool active, const cache::page_transfer& transfer,
                          lane::budget& patience) const;
  template <class Team>
  SLUICE_HD void poll(const Team& team, std::uint64_t hint) const;
  template <class Team>
  SLUICE_HD status flush(const Team& team, lane::budget& patience) const;

 private:
  friend class volume_store;

  template <class Team>
  SLUICE_HD status submit_command(const Team& team, bool active, std::uint32_t drive,
                                  const queue::io_request& request, lane::budget& patience) const;
  template <class Team>
  SLUICE_HD status submit_on_drive(const Team& team, bool active, std::uint32_t drive,
                                   const queue::io_request& request, lane::budget& patience) const;
  SLUICE_HD queue::io_request command_for(const cache::page_transfer& transfer, drive::volume_place place,
                                          std::uint32_t part) const;
  SLUICE_HD bool all_dead(std::uint32_t drive) const;

  struct flush_answer {
    status code;
    bool came = true;  ///< else it may still come into the shared words
  };
  SLUICE_HD flush_answer flush_drives(lane::budget& patience) const;
  SLUICE_HD flush_answer flush_drive(std::uint32_t drive, lane::budget& patience) const;

  mirror_ref mirror_;
  seal_ref seals_;
  std::uint64_t first_byte_ = 0;
  std::uint64_t pages_ = 0;
  const drive_port* drives_ = nullptr;
  store_words* words_ = nullptr;
  const std::byte* frames_ = nullptr;
  std::uint32_t drive_count_ = 0;
  std::uint32_t command_shift_ = 0;  // log2 of the bytes of one command
  std::uint32_t page_shift_ = 12;
  std::uint32_t block_shift_ = 9;
  bool writable_ = true;
};

}  // namespace sluice

#include "sluice/array/detail/volume_store_impl.h"
