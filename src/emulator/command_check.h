// What an emulated drive makes of a submission entry: the checks of src/controller/executor.cc, in the same
// order, for lanes.
#pragma once

#include <cstdint>

#include "controller/limits.h"
#include "emulator/resident_words.h"
#include "sluice/lane/frame_copy.h"
#include "sluice/lane/hd.h"
#include "sluice/nvme/command.h"
#include "sluice/nvme/prp.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::emulator {

namespace code = nvme::code;
using nvme::do_not_retry;
using nvme::opcode;

/// What is left to be done for a command.
enum class task : std::uint8_t {
  none,  ///< nothing, or it is refused
  copy,  ///< one aligned piece of memory: together with others
  walk,  ///< anything else: by the whole team, piece by piece
};

struct decoded {
  std::uint64_t block = 0;      ///< the first
  std::byte* memory = nullptr;  ///< of a copy
  std::uint32_t bytes = 0;      ///< on the media
  status code;
  task todo = task::none;
  opcode op = opcode::flush;
  bool torn = false;     ///< only half of it reaches the media, and no answer comes
  bool dropped = false;  ///< no answer comes

  SLUICE_HD bool has_blocks() const {
    return op == opcode::read || op == opcode::write || op == opcode::compare || op == opcode::write_zeroes;
  }
  SLUICE_HD bool writes() const { return op == opcode::write; }
};

SLUICE_HD inline std::uint64_t first_block(const nvme::submission_entry& e) {
  return e.cdw10 | std::uint64_t{e.cdw11} << 32;
}

namespace detail {

SLUICE_HD inline bool is_known(opcode op) {
  return op == opcode::read || op == opcode::write || op == opcode::flush || op == opcode::compare ||
         op == opcode::write_zeroes || op == opcode::dataset_management;
}
SLUICE_HD inline bool changes_media(opcode op) {
  return op == opcode::write || op == opcode::write_zeroes || op == opcode::dataset_management;
}

/// Opcode, fields that are not offered, namespace and protection.
SLUICE_HD inline status check_kind(const nvme::submission_entry& e, opcode op,
                                   const controller::limits& bounds) {
  if (!is_known(op)) return do_not_retry(code::invalid_opcode);
  // Fused commands (FUSE, 9:8) and SGLs (PSDT, 15:14) are not offered in Identify.
  if ((e.cdw0 & 0xc300U) != 0) return do_not_retry(code::invalid_field);
  const bool every_namespace = op == opcode::flush && e.nsid == 0xffffffffU;
  if (e.nsid != 1 && !every_namespace) return do_not_retry(code::invalid_namespace);
  if (changes_media(op) && !bounds.writable) return do_not_retry(code::write_protected);
  return status::ok;
}

SLUICE_HD inline status check_blocks(std::uint64_t first, std::uint64_t count, opcode op,
                                     const controller::limits& bounds) {
  const bool moves = op != opcode::write_zeroes;
  if (moves && (count << bounds.block_shift) > bounds.max_transfer) return do_not_retry(code::invalid_field);
  if (first >= bounds.blocks || count > bounds.blocks - first) return do_not_retry(code::lba_out_of_range);
  return status::ok;
}

}  // namespace detail

/// `page`: the unit of PRPs. `near`: where commands' memory usually lies.
SLUICE_HD inline decoded decode(const nvme::submission_entry& e, const controller::limits& bounds,
                                std::uint32_t page, const reach_extent& near) {
  decoded d;
  d.op = static_cast<opcode>(e.op());
  d.code = detail::check_kind(e, d.op, bounds);
  if (!d.code.is_ok()) return d;
  if (d.op == opcode::dataset_management) d.todo = task::walk;
  if (!d.has_blocks()) return d;
  d.block = first_block(e);
  const std::uint64_t count = (e.cdw12 & 0xffffU) + std::uint64_t{1};
  d.code = detail::check_blocks(d.block, count, d.op, bounds);
  if (!d.code.is_ok()) return d;
  d.bytes = static_cast<std::uint32_t>(count << bounds.block_shift);
  d.todo = task::walk;
  const bool moves = d.op == opcode::read || d.op == opcode::write;
  const std::uint32_t offset = static_cast<std::uint32_t>(e.prp1) & (page - 1);
  const bool one_piece = e.prp1 % lane::copy_piece == 0 && d.bytes <= page - offset;
  if (moves && one_piece && near.holds(e.prp1, d.bytes)) {
    d.memory = near.of(e.prp1);
    d.todo = task::copy;
  }
  return d;
}

}  // namespace sluice::emulator
