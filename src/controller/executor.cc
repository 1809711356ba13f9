#include "controller/executor.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "controller/copy.h"
#include "sluice/nvme/prp.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::controller {

namespace {

using nvme::opcode;
namespace code = nvme::code;
using nvme::do_not_retry;

constexpr std::uint32_t force_unit_access = 1U << 30;  // CDW12 FUA, NVM Command Set 1.0, 3.2.4
constexpr std::uint64_t zero_chunk = 1 << 20;
constexpr std::size_t zero_piece = 64 << 10;

opcode op_of(const nvme::submission_entry& e) { return static_cast<opcode>(e.op()); }
std::uint64_t first_block(const nvme::submission_entry& e) { return e.cdw10 | std::uint64_t{e.cdw11} << 32; }
std::uint64_t block_count(const nvme::submission_entry& e) { return (e.cdw12 & 0xffffU) + std::uint64_t{1}; }

bool has_blocks(opcode op) {
  return op == opcode::read || op == opcode::write || op == opcode::compare || op == opcode::write_zeroes;
}
bool moves_data(opcode op) { return op == opcode::read || op == opcode::write || op == opcode::compare; }
bool changes_media(opcode op) {
  return op == opcode::write || op == opcode::write_zeroes || op == opcode::dataset_management;
}
bool is_known(opcode op) { return has_blocks(op) || op == opcode::flush || op == opcode::dataset_management; }

status media_failure(media_op op, int error) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) return code::capacity_exceeded;
  if (error == EFAULT) return code::data_transfer_error;
  return op == media_op::read ? code::unrecovered_read_error : code::write_fault;
}

}  // namespace

executor::executor(media& on, unsigned depth, const fault_dice& dice, event_log& log, std::uint64_t salt)
    : media_(on),
      channel_(on.open_channel(depth)),
      in_memory_(on.in_memory()),
      direct_(dice.any() ? nullptr : in_memory_),
      dice_(dice),
      log_(log),
      answers_(dice, salt) {}

executor::command* executor::take() {
  if (free_.empty()) {
    pool_.push_back(std::make_unique<command>());
    free_.push_back(pool_.back().get());
  }
  command* c = free_.back();
  free_.pop_back();
  return c;
}

void executor::give(command* c) {
  c->scratch.reset();
  free_.push_back(c);
}

std::uint64_t executor::bytes_of(const command& c) const {
  return block_count(c.entry) << bounds.block_shift;
}

void executor::prefetch(const nvme::submission_entry& entry) const {
  constexpr std::uint64_t line = 64, lines = 4;
  if (in_memory_ == nullptr || first_block(entry) >= bounds.blocks) return;
  const std::byte* at = in_memory_ + (first_block(entry) << bounds.block_shift);
  for (std::uint64_t i = 0; i < lines; ++i) __builtin_prefetch(at + i * line);
}

void executor::begin(submission_queue& queue, const nvme::submission_entry& entry) {
  command& c = *take();
  c.queue = &queue;
  c.entry = entry;
  c.step = 0;
  c.torn = false;
  c.code = status::ok;
  ++queue.in_flight;
  if (prepare(c)) run(c);
}

bool executor::serve_directly(const nvme::submission_entry& entry, direct_batch& done) {
  const std::uint64_t bytes = direct_.serve(entry, bounds, regions_);
  if (bytes == 0) return false;
  const bool reads = op_of(entry) == opcode::read;
  done.ids[done.commands++] = entry.id();
  done.reads += reads ? 1 : 0;
  (reads ? done.bytes_read : done.bytes_written) += bytes;
  return true;
}

void executor::finish_directly(submission_queue& queue, const direct_batch& done) {
  if (done.commands == 0) return;
  queue.seen += done.commands;
  counts_.reads.add(done.reads);
  counts_.writes.add(done.commands - done.reads);
  counts_.bytes_read.add(done.bytes_read);
  counts_.bytes_written.add(done.bytes_written);
  counts_.served.add(done.commands);
  for (std::uint32_t i = 0; i < done.commands; ++i)
    queue.completions->post({&queue, done.ids[i], status::ok, 0});
}

void executor::exchange_regions(const region_table& with) {
  regions_ = with;
  direct_.forget_regions();
  channel_->know(regions_.mappings());
}

bool executor::prepare(command& c) {
  const std::uint64_t nth = c.queue->seen++;
  c.code = check(c);
  if (c.code && dice_.any()) {
    const bool blocks = has_blocks(op_of(c.entry));
    if (dice_.drops(c.queue->id, nth)) {
      counts_.dropped.add(1);
      --c.queue->in_flight;
      give(&c);
      return false;
    }
    if (dice_.fails(c.queue->id, nth) ||
        (blocks && dice_.fails_at(first_block(c.entry), block_count(c.entry))))
      c.code = dice_.plan().code;
    else
      c.torn = op_of(c.entry) == opcode::write && dice_.tears(c.queue->id, nth);
  }
  if (c.code) return true;
  finish(c);
  return false;
}

status executor::check(command& c) {
  const nvme::submission_entry& e = c.entry;
  const opcode op = op_of(e);
  if (!is_known(op)) return do_not_retry(code::invalid_opcode);
  // Fused commands (FUSE, 9:8) and SGLs (PSDT, 15:14) are not offered in Identify.
  if ((e.cdw0 & 0xc300U) != 0) return do_not_retry(code::invalid_field);
  const bool every_namespace = op == opcode::flush && e.nsid == 0xffffffff;
  if (e.nsid != 1 && !every_namespace) return do_not_retry(code::invalid_namespace);
  if (changes_media(op) && !bounds.writable) return do_not_retry(code::write_protected);
  if (op == opcode::dataset_management) return check_ranges(c);
  if (!has_blocks(op)) return status::ok;
  if (const status s = check_blocks(c); !s) return s;
  return moves_data(op) ? resolve(e, bytes_of(c), c.pieces) : status::ok;
}

status executor::check_blocks(const command& c) const {
  const std::uint64_t first = first_block(c.entry), count = block_count(c.entry);
  if (moves_data(op_of(c.entry)) && bytes_of(c) > bounds.max_transfer)
    return do_not_retry(code::invalid_field);
  if (first >= bounds.blocks || count > bounds.blocks - first) return do_not_retry(code::lba_out_of_range);
  return status::ok;
}

status executor::check_ranges(command& c) {
  c.ranges.clear();
  if ((c.entry.cdw11 & nvme::dataset_deallocate) == 0)
    return status::ok;  // hints about access patterns: not used
  c.ranges.resize((c.entry.cdw10 & 0xffU) + 1);
  const std::size_t bytes = c.ranges.size() * sizeof(nvme::dataset_range);
  if (const status s = resolve(c.entry, bytes, c.pieces); !s) return s;
  auto* to = reinterpret_cast<std::byte*>(c.ranges.data());
  for (const iovec& piece : c.pieces) {
    copy_bytes(to, static_cast<const std::byte*>(piece.iov_base), piece.iov_len);
    to += piece.iov_len;
  }
  for (const nvme::dataset_range& r : c.ranges)
    if (r.first > bounds.blocks || r.blocks > bounds.blocks - r.first)
      return do_not_retry(code::lba_out_of_range);
  return status::ok;
}

status executor::resolve(const nvme::submission_entry& entry, std::uint64_t bytes,
                         std::vector<iovec>& pieces) const {
  pieces.clear();
  const auto read = [&](bus_address at, std::uint64_t& value) {
    const std::byte* from = regions_.reach(at, sizeof value);
    if (from != nullptr) std::memcpy(&value, from, sizeof value);
    return from != nullptr;
  };
  const auto visit = [&](bus_address at, std::uint64_t length) {
    std::byte* memory = regions_.reach(at, length);
    if (memory == nullptr) return code::data_transfer_error;
    if (!pieces.empty() && static_cast<std::byte*>(pieces.back().iov_base) + pieces.back().iov_len == memory)
      pieces.back().iov_len += length;
    else
      pieces.push_back({memory, length});
    return status::ok;
  };
  return nvme::walk_prps({{entry.prp1}, {entry.prp2}}, bytes, bounds.page, read, visit);
}

bool executor::reap(std::uint64_t wait_ns) {
  done_.clear();
  channel_->reap(done_, wait_ns);
  const bool some = !done_.empty();
  for (media_request* request : done_) run(*static_cast<command*>(request->owner));
  return some;
}

void executor::run(command& c) {
  while (next(c))
    if (!channel_->start(c.request)) return;
  finish(c);
}

bool executor::next(command& c) {
  ++c.step;
  switch (op_of(c.entry)) {
    case opcode::write:
      return next_write(c);
    case opcode::compare:
      return next_compare(c);
    case opcode::write_zeroes:
      return next_zeroes(c);
    case opcode::dataset_management:
      return next_deallocate(c);
    case opcode::flush:
    case opcode::read:
    default:
      break;
  }
  if (c.step == 1) {
    // Of a flush everything but the namespace is reserved, and may hold anything.
    if (op_of(c.entry) == opcode::flush) return transfer(c, media_op::flush, 0, 0);
    c.request.pieces.swap(c.pieces);
    return transfer(c, media_op::read, first_block(c.entry) << bounds.block_shift, bytes_of(c));
  }
  if (c.request.error != 0) c.code = media_failure(c.request.op, c.request.error);
  return false;
}

bool executor::transfer(command& c, media_op op, std::uint64_t offset, std::uint64_t bytes) {
  c.request.op = op;
  c.request.offset = offset;
  c.request.bytes = bytes;
  c.request.through =
      op == media_op::write && (bounds.write_through || (c.entry.cdw12 & force_unit_access) != 0);
  c.request.error = 0;
  c.request.owner = &c;
  return true;
}

/// A torn write puts half of its bytes on the medium, in one transfer or, where the medium moves whole
/// granules only, by reading the old bytes of the last granule first.
bool executor::next_write(command& c) {
  const std::uint64_t offset = first_block(c.entry) << bounds.block_shift;
  if (c.step > 1 && c.request.error != 0) c.code = media_failure(c.request.op, c.request.error);
  if (!c.code) return false;
  if (!c.torn) {
    if (c.step > 1) return false;
    c.request.pieces.swap(c.pieces);
    return transfer(c, media_op::write, offset, bytes_of(c));
  }
  const std::uint64_t half = bytes_of(c) / 2;
  const std::uint64_t granule = media_.traits().granule;
  const std::uint64_t whole = (half + granule - 1) / granule * granule;
  if (c.step == 1) {
    c.scratch = allocate_aligned(whole);
    c.request.pieces = {{c.scratch.get(), whole}};
    return transfer(c, media_op::read, offset, whole);
  }
  if (c.step > 2) return false;
  std::byte* to = c.scratch.get();
  std::uint64_t left = half;
  for (const iovec& piece : c.pieces) {
    const std::uint64_t n = std::min<std::uint64_t>(piece.iov_len, left);
    copy_bytes(to, static_cast<const std::byte*>(piece.iov_base), n);
    to += n;
    left -= n;
  }
  c.request.pieces = {{c.scratch.get(), whole}};
  return transfer(c, media_op::write, offset, whole);
}

bool executor::next_compare(command& c) {
  const std::uint64_t bytes = bytes_of(c);
  if (c.step == 1) {
    c.scratch = allocate_aligned(bytes);
    c.request.pieces = {{c.scratch.get(), bytes}};
    return transfer(c, media_op::read, first_block(c.entry) << bounds.block_shift, bytes);
  }
  if (c.request.error != 0) {
    c.code = media_failure(media_op::read, c.request.error);
    return false;
  }
  const std::byte* at = c.scratch.get();
  for (const iovec& piece : c.pieces) {
    if (std::memcmp(at, piece.iov_base, piece.iov_len) != 0) c.code = do_not_retry(code::compare_failure);
    at += piece.iov_len;
  }
  return false;
}

bool executor::next_zeroes(command& c) {
  const std::uint64_t offset = first_block(c.entry) << bounds.block_shift, bytes = bytes_of(c);
  if (c.step > 1) {
    if (c.request.error == EOPNOTSUPP && c.request.op == media_op::zero) {
      zeroes_itself_ = false;
      c.step = 1;
    } else if (c.request.error != 0) {
      c.code = media_failure(media_op::write, c.request.error);
      return false;
    }
  }
  if (zeroes_itself_ && c.step == 1) return transfer(c, media_op::zero, offset, bytes);
  const std::uint64_t written = (c.step - 1) * zero_chunk;
  if (written >= bytes || (c.step > 1 && c.request.op == media_op::zero)) return false;
  if (!zeroes_) {
    zeroes_ = allocate_aligned(zero_piece);
    std::memset(zeroes_.get(), 0, zero_piece);
  }
  const std::uint64_t n = std::min(zero_chunk, bytes - written);
  c.request.pieces.clear();
  for (std::uint64_t at = 0; at < n; at += zero_piece)
    c.request.pieces.push_back({zeroes_.get(), std::min<std::uint64_t>(zero_piece, n - at)});
  return transfer(c, media_op::write, offset + written, n);
}

bool executor::next_deallocate(command& c) {
  // A hint: a medium that cannot discard has heard it all the same (NVM Command Set 1.0, 3.2.3).
  if (c.step > 1 && c.request.error != 0 && c.request.error != EOPNOTSUPP) {
    c.code = media_failure(media_op::discard, c.request.error);
    return false;
  }
  for (; c.step <= c.ranges.size(); ++c.step) {
    const nvme::dataset_range& r = c.ranges[c.step - 1];
    if (r.blocks > 0)
      return transfer(c, media_op::discard, r.first << bounds.block_shift,
                      std::uint64_t{r.blocks} << bounds.block_shift);
  }
  return false;
}

void executor::finish(command& c) {
  submission_queue& queue = *c.queue;
  const opcode op = op_of(c.entry);
  --queue.in_flight;
  if (c.torn) {
    counts_.dropped.add(1);
  } else {
    counts_.served.add(1);
    if (op == opcode::read) counts_.reads.add(1);
    if (op == opcode::write) counts_.writes.add(1);
    if (c.code && op == opcode::read) counts_.bytes_read.add(bytes_of(c));
    if (c.code && op == opcode::write) counts_.bytes_written.add(bytes_of(c));
    if (!c.code) {
      counts_.failed.add(1);
      if (c.code.nvme_code() >> 8 == 2) counts_.media_errors.add(1);
      log_.record(queue.id, c.entry.id(), c.code, has_blocks(op) ? first_block(c.entry) : 0, c.entry.nsid);
    }
    if (!queue.retired) answers_.add({&queue, c.entry.id(), c.code, 0});
  }
  give(&c);
}

}  // namespace sluice::controller
