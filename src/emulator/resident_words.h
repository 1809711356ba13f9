// What the host and an emulated drive's residents share: the drive, its queues, and the words by which one
// stops the other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "controller/fault_dice.h"
#include "controller/limits.h"
#include "emulator/service_times.h"
#include "sluice/base/types.h"
#include "sluice/lane/hd.h"
#include "sluice/nvme/command.h"

namespace sluice::emulator {

/// How residents go about their commands.
enum class service : std::uint8_t {
  at_once,    ///< one batch after the other, each answered when its bytes have moved
  timed,      ///< answers wait until they are due, and faults are committed
  by_region,  ///< all residents move bytes of one region of the media at a time
};

/// Host to residents; in lanes' memory.
struct alignas(line_bytes) resident_orders {
  std::uint32_t stop;      ///< non-zero: leave
  std::uint32_t park;      ///< odd: put everything down, and wait until it changes
  std::uint32_t queues;    ///< in resident_job::served; changed while all are parked
  std::uint32_t extents;   ///< in resident_job::reach; the same
  std::uint32_t told;      ///< entries of resident_job::trouble that the host has read
  std::uint32_t troubles;  ///< entries that were begun; the residents' own
};

/// Memory that DMA reaches, and where lanes find it. Sorted, disjoint.
struct reach_extent {
  std::uint64_t begin = 0, end = 0;  ///< on the bus
  std::byte* lanes = nullptr;        ///< `begin`, for lanes

  SLUICE_HD bool holds(std::uint64_t at, std::uint64_t bytes) const {
    return at >= begin && at <= end && bytes <= end - at;
  }
  SLUICE_HD std::byte* of(std::uint64_t at) const { return lanes + (at - begin); }
};

/// An answer that is not due yet.
struct alignas(16) late_answer {
  std::uint64_t due;   ///< ns
  std::uint32_t tail;  ///< dword 3 of the completion, but for the phase
  std::uint32_t unused;
};

/// A copy that waits for its region's turn.
struct alignas(32) held_copy {
  std::byte* memory;
  std::uint64_t block;
  std::uint32_t bytes;
  std::uint32_t command;
  nvme::opcode op;
  std::uint8_t unused[7];
};

/// Whose turn it is; in lanes' memory.
struct region_turns {
  alignas(line_bytes) std::uint32_t turn;   ///< the region is this modulo their number
  alignas(line_bytes) std::uint32_t votes;  ///< queues that have nothing left for it
};

/// A queue pair as its resident keeps it; the host reads and writes it while the resident is parked.
struct alignas(line_bytes) resident_queue {
  const nvme::submission_entry* submissions;
  nvme::completion_entry* completions;
  late_answer* late;   ///< a ring of completion_size entries
  std::byte* shelf;    ///< see region_shelf
  std::uint64_t seen;  ///< commands of this identifier so far
  std::uint32_t id;
  std::uint32_t size, completion_size;
  std::uint32_t page;        ///< of PRPs
  std::uint32_t head, tail;  ///< of submissions: fetched up to, rung up to
  std::uint32_t tail_read;   ///< the doorbell's last value
  std::uint32_t posted, freed, freed_read;
  std::uint32_t phase;
  std::uint32_t late_head;
  std::uint32_t late_count;  ///< answers that are owed: late ones, or copies on the shelf
  std::uint32_t shelf_mask;  ///< places - 1
  std::uint32_t voted;       ///< 1 + the turn for which this queue has nothing left
  std::uint32_t extent;      ///< of resident_job::reach: where the last command's memory lay
};

/// Of one queue identifier; a line each, and added to without waiting.
struct alignas(line_bytes) resident_counts {
  enum which : std::uint8_t {
    served,
    dropped,
    failed,
    bytes_read,
    bytes_written,
    reads,
    writes,
    media_errors,
    kinds
  };
  std::uint64_t of[kinds];
};

/// What went wrong, for the host to read: in memory that it polls.
struct alignas(32) resident_trouble {
  std::uint32_t number;  ///< from 1, written last; 0 where nothing was written yet
  std::uint16_t queue, command;
  std::uint32_t code;  ///< status bits; 0: a doorbell was written with a value that it cannot have
  std::uint32_t nsid;
  std::uint64_t block;
};
inline constexpr std::uint32_t trouble_entries = 64;

/// Everything that residents are told when they start.
struct resident_job {
  resident_orders* orders;
  std::uint32_t* present;  ///< one a block, in memory that the host polls: becomes `ordinal`
  std::uint32_t* parked;   ///< one a warp, likewise: becomes the park order obeyed, or `left`
  std::uint32_t ordinal;
  std::uint32_t bell_stride;    ///< words from one doorbell to the next
  std::uint32_t* bells;         ///< doorbell 0
  std::uint32_t* sleeper;       ///< CPU backend: rung to wake the residents' thread
  resident_queue* queues;       ///< by identifier
  resident_counts* counts;      ///< by identifier
  const std::uint16_t* served;  ///< identifiers of the queues there are
  const reach_extent* reach;
  resident_trouble* trouble;  ///< trouble_entries of them
  std::byte* media;
  controller::limits bounds;
  controller::fault_dice dice{drive::fault_plan{}};
  service_times times;
  region_turns* turns;
  std::uint32_t regions, region_shift;  ///< by_region: how many, and log2 of their bytes
  std::uint64_t* clock;                 ///< [0] when the drive is free again, in ticks since [1], ns
};

/// A resident's word in `parked` once it has left.
inline constexpr std::uint32_t left = ~0U;

}  // namespace sluice::emulator
