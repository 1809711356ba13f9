#include "sluice/queue/queue_pair.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/drive/shared_word.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/mutant.h"

namespace sluice::queue {

namespace {

constexpr std::uint32_t largest_depth = 32768;  // a command's identifier has 15 bits for its slot
constexpr std::uint64_t page = 4096;

void refuse(const drive::drive& on, const std::string& what, const std::string& mend) {
  throw error(error_kind::bad_input, what, mend, {.drive = on.info().uri});
}

void check(const drive::drive& on, const queue_options& options) {
  const std::uint32_t most = std::min(on.info().max_depth, largest_depth);
  if (!is_power_of_two(options.depth) || options.depth < 2 || options.depth > most)
    refuse(on, "a queue depth of " + std::to_string(options.depth) + " is not to be had",
           "use a power of two from 2 to " + std::to_string(most));
  if (options.transfer_bytes == 0 || options.transfer_bytes % on.info().block_size != 0 ||
      options.transfer_bytes > on.info().max_transfer)
    refuse(on, "transfers of " + std::to_string(options.transfer_bytes) + " bytes are not to be had",
           "use a multiple of " + std::to_string(on.info().block_size) + " up to " +
               std::to_string(on.info().max_transfer));
}

}  // namespace

queue_pair::queue_pair(drive::drive& on, backend lanes, const queue_options& options)
    : drive_(on), lanes_(lanes), options_(options) {
  check(on, options);
  make_memory(options);
  write_first_life(options.first_turn);
  create_on_drive();
}

queue_pair::~queue_pair() {
  try {
    drive_.delete_queue(static_cast<std::uint16_t>(fields_.id));
    if (staging_.size() > 0) drive_.unmap(staging_.view());
    drive_.unmap(rings_.view());
  } catch (const error&) {
    // The drive is gone or refuses; there is nobody left to tell, and its DMA ended with the queue or with
    // it.
  }
}

void queue_pair::make_memory(const queue_options& options) {
  const std::uint64_t depth = options.depth;
  const memory::place reach = drive_.reachable_place(lanes_);
  words_ = memory::buffer(lanes_, memory::place::device, sizeof(queue_words));
  slots_ = memory::buffer(lanes_, memory::place::device, depth * sizeof(slot_record));
  attention_ = memory::buffer(lanes_, memory::place::pinned, page);
  const std::uint64_t submission_bytes = align_up(depth * sizeof(nvme::submission_entry), page);
  rings_ = memory::buffer(lanes_, reach,
                          submission_bytes + align_up(depth * sizeof(nvme::completion_entry), page));
  rings_bus_ = drive_.map(rings_.view());

  fields_.words = words_.lanes_as<queue_words>();
  fields_.slots = slots_.lanes_as<slot_record>();
  fields_.submission_ring = rings_.lanes_as<nvme::submission_entry>();
  fields_.completion_ring = reinterpret_cast<nvme::completion_entry*>(rings_.lanes() + submission_bytes);
  fields_.attention = attention_.lanes_as<std::uint32_t>();
  fields_.deadline_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(options.deadline).count());
  fields_.mask = options.depth - 1;
  fields_.shift = log2_exact(depth);
  fields_.nsid = drive_.info().nsid;
  if (drive_.reaches_frames(lanes_) && !options.staged) return;

  const std::uint32_t stride = piece_stride(options.transfer_bytes, drive_.info().dma_page);
  staging_ = memory::buffer(lanes_, reach, depth * stride);
  staging_prps_ = prp_table(drive_, lanes_, drive_.map(staging_.view()), options.transfer_bytes, depth);
  fields_.staging = staging_.lanes();
  fields_.staging_prps = staging_prps_.ref();
}

void queue_pair::create_on_drive() {
  const std::uint64_t submission_bytes = align_up(options_.depth * sizeof(nvme::submission_entry), page);
  const std::vector<std::byte> zeros(rings_.size() - submission_bytes);
  if (!lane::planted("queue.old_completions"))
    memory::copy_in(rings_.view(), submission_bytes, zeros);  // phase 0 everywhere: nothing has been posted
  const drive::queue_rings rings{
      .submission = rings_bus_, .completion = rings_bus_ + submission_bytes, .depth = options_.depth};
  const drive::queue_grant grant = drive_.create_queue(rings, lanes_, static_cast<std::uint16_t>(fields_.id));
  if (fields_.id != 0) return;  // again: lanes hold the doorbells already
  fields_.id = grant.id;
  fields_.submission_bell = grant.submission_tail;
  fields_.completion_bell = grant.completion_head;
}

void queue_pair::write_first_life(std::uint32_t first_turn) {
  std::vector<slot_record> slots(options_.depth);
  for (slot_record& slot : slots) slot.word = slot_word(first_turn, slot_state::free).bits();
  memory::copy_in(slots_.view(), 0, std::as_bytes(std::span(slots)));
  begin_life(std::uint64_t{first_turn} << fields_.shift);
}

/// Opens the queue at `ticket`, the first of a turn: ring index 0 on both rings, phase 1.
void queue_pair::begin_life(std::uint64_t ticket) {
  life_began_ = ticket;
  if (lane::planted("queue.open_first")) drive::poke(words_.view(), offsetof(queue_words, ticket), ticket);
  drive::poke(words_.view(), offsetof(queue_words, pending),
              ticket << 32);  // all earlier tickets have arrived
  drive::poke(words_.view(), offsetof(queue_words, tail), ticket);
  drive::poke(words_.view(), offsetof(queue_words, first_turn),
              static_cast<std::uint32_t>(ticket >> fields_.shift));
  if (!lane::planted("queue.stay_deleted"))
    drive::poke(words_.view(), offsetof(queue_words, deleted), std::uint32_t{0});
  drive::poke(words_.view(), offsetof(queue_words, gate),
              completion_gate(ticket, completion_gate::state::open).bits());
  drive::poke(words_.view(), offsetof(queue_words, ticket),
              ticket);  // last: pairs with submit's acquire of its tickets
}

std::uint64_t queue_pair::issued() const {
  std::uint64_t ticket = drive::peek<std::uint64_t>(words_.view(), offsetof(queue_words, ticket));
  if ((ticket & closed_bit) != 0)
    ticket = drive::peek<std::uint64_t>(words_.view(), offsetof(queue_words, closed_at));
  return issued_before_ + (ticket - life_began_) -
         (drive::peek<std::uint64_t>(words_.view(), offsetof(queue_words, left)) - left_before_);
}

bool queue_pair::needs_recovery() const {
  auto* word = reinterpret_cast<std::uint32_t*>(attention_.host());
  return lane::on_system(*word).load(lane::acquire) != 0;  // pairs with close()
}

bool queue_pair::recover() {
  // Acquire in both looks pairs with the lanes' arrivals: whoever has a ticket is through with the ring, or
  // has left it.
  const std::uint64_t ticket = drive::peek<std::uint64_t>(words_.view(), offsetof(queue_words, closed_at));
  const std::uint64_t pending = drive::peek<std::uint64_t>(words_.view(), offsetof(queue_words, pending));
  const bool all_arrived = static_cast<std::uint32_t>(pending >> 32) == static_cast<std::uint32_t>(ticket);
  const bool all_rung = static_cast<std::uint32_t>(pending) == 0;
  if (!all_arrived && !lane::planted("queue.recover_before_arrivals")) return false;
  if (!all_rung && !lane::planted("queue.recover_before_ringing")) return false;

  ++losses_;
  issued_before_ = issued();
  left_before_ = drive::peek<std::uint64_t>(words_.view(), offsetof(queue_words, left));
  auto* attention = reinterpret_cast<std::uint32_t*>(attention_.host());
  lane::on_system(*attention).store(0, lane::relaxed);
  try {
    if (lane::planted("queue.forget_first"))
      drive::poke(words_.view(), offsetof(queue_words, deleted), std::uint32_t{1});
    drive_.delete_queue(static_cast<std::uint16_t>(fields_.id), true);
    // Pairs with is_lost(): whoever sees it may abort what was in flight and reuse its memory; no DMA comes
    // any more. A drive that does not even delete may still write: then what was in flight stays in
    // quarantine for good.
    drive::poke(words_.view(), offsetof(queue_words, deleted), std::uint32_t{1});
    create_on_drive();
  } catch (const error&) {
    drive::poke(words_.view(), offsetof(queue_words, dead), std::uint32_t{1});
    return true;
  }
  const std::uint64_t unused = lane::planted("queue.same_turn_again") ? 0 : options_.depth;
  begin_life((ticket >> fields_.shift << fields_.shift) + unused);
  if (lane::planted("queue.attention_late")) lane::on_system(*attention).store(0, lane::relaxed);
  return true;
}

}  // namespace sluice::queue
