// How pages become commands: the bodies of volume_store_ref.
#pragma once

#include "sluice/array/volume_store_ref.h"

namespace sluice {

/// A failure of the active lanes only. (Not `active ? code : status::ok`, which would name the constants as
/// objects: they have none in device code.)
SLUICE_HD inline status only_if(bool active, status code) { return active ? code : status(); }

template <class Team>
SLUICE_HD inline status volume_store_ref::submit(const Team& team, bool active,
                                                 const cache::page_transfer& transfer,
                                                 lane::budget& patience) const {
  status result;
  if (transfer.page.value >= pages_) result = status::out_of_range;
  const bool here = active && result.is_ok();
  const std::uint64_t byte = first_byte_ + (transfer.page.value << page_shift_);
  const std::uint32_t copies = team.any(here && transfer.write) ? mirror_.copies() : 1;
  std::uint32_t report = 0;
  const bool notes = seals_.any() && here && transfer.write;
  if (notes && !lane::planted("seal.note_late")) seals_.note_write(byte, page_bytes());
  for (std::uint32_t copy = 0; copy < copies; ++copy) {
    const bool wanted = here && (transfer.write || copy == 0);
    replica_choice to;
    if (mirror_.is_mirror() && wanted) to = mirror_.choose(transfer, byte, copy);
    const drive::volume_place place = mirror_.volume().locate(byte, to.replica);
    for (std::uint32_t part = 0; part < mirror_.commands(); ++part, ++report) {
      queue::io_request request;
      if (wanted) {  // others have no frame, and report nowhere
        request = command_for(transfer, place, part);
        request.to.detail += report;
      }
      status code = to.missing;
      const status submitted = submit_command(team, wanted && code.is_ok(), place.drive, request, patience);
      if (code.is_ok()) code = submitted;
      if (!wanted || code.is_ok()) continue;
      if (copies * mirror_.commands() == 1)
        result = code;
      else
        mirror_ref::report(transfer.write, request.to, code);
    }
  }
  if (notes && lane::planted("seal.note_late")) seals_.note_write(byte, page_bytes());
  return result;
}

SLUICE_HD inline queue::io_request volume_store_ref::command_for(const cache::page_transfer& transfer,
                                                                 drive::volume_place place,
                                                                 std::uint32_t part) const {
  const std::uint64_t offset = std::uint64_t{part} << command_shift_;
  const std::uint32_t bytes = std::uint32_t{1} << command_shift_;
  queue::io_request request;
  request.op = transfer.write ? nvme::opcode::write : nvme::opcode::read;
  request.first = {place.first.value + (offset >> block_shift_)};
  request.blocks = bytes >> block_shift_;
  request.data = transfer.frame + offset;
  request.bytes = bytes;
  request.to = transfer.to;
  return request;
}

/// Puts each active lane's command on a queue of its drive: one drive after another, the whole team at each.
template <class Team>
SLUICE_HD inline status volume_store_ref::submit_command(const Team& team, bool active, std::uint32_t drive,
                                                         const queue::io_request& request,
                                                         lane::budget& patience) const {
  status result;
  std::uint32_t rest = team.ballot(active);
  while (rest != 0) {
    const std::uint32_t now = team.of(drive, rest & (~rest + 1));
    const bool here = active && drive == now;
    const status code = submit_on_drive(team, here, now, request, patience);
    if (here) result = code;
    rest &= ~team.ballot(here);
  }
  return result;
}

template <class Team>
SLUICE_HD inline status volume_store_ref::submit_on_drive(const Team& team, bool active, std::uint32_t drive,
                                                          const queue::io_request& request,
                                                          lane::budget& patience) const {
  const drive_port& port = drives_[drive];
  // By SM and warp: neighbours use different queues, without a shared counter.
  std::uint32_t chosen = team.broadcast(static_cast<std::uint32_t>(
      mix(lane::warp_index() + (std::uint64_t{lane::processor()} << 32)) % port.queue_count));
  queue::io_request mine = request;
  mine.prps =
      port.frames.of(static_cast<std::uint64_t>(request.data - frames_) >> command_shift_, request.bytes);
  std::uint32_t tried = 0;
  while (true) {
    const queue::queue_pair_ref queue(port.queues + chosen);
    if (team.broadcast(queue.is_open())) {
      const queue::submission done = queue.submit(team, active, mine, [&](queue::io_ticket ticket) {
        lane::on_device(*mine.to.detail)
            .store(poll_hint(drive, chosen, queue.slot(ticket)).bits(), lane::relaxed);
      });
      // A team is admitted or turned away in batches of depth - 1; lanes that are in are through.
      if (done.ticket.valid()) active = false;
    }
    if (!team.any(active)) return status::ok;
    chosen = chosen + 1 == port.queue_count ? 0 : chosen + 1;
    if (++tried % port.queue_count != 0) continue;
    // All queues of the drive are closed: they come back, or they are dead.
    if (team.broadcast(all_dead(drive))) return only_if(active, status::queue_lost);
    if (team.broadcast(patience.spent())) return only_if(active, status::timed_out);
  }
}

SLUICE_HD inline bool volume_store_ref::all_dead(std::uint32_t drive) const {
  const drive_port& port = drives_[drive];
  for (std::uint32_t i = 0; i < port.queue_count; ++i)
    if (!queue::queue_pair_ref(port.queues + i).is_dead()) return false;
  return true;
}

template <class Team>
SLUICE_HD inline void volume_store_ref::poll(const Team& team, std::uint64_t hint) const {
  const poll_hint where(hint);
  std::uint32_t rest = team.ballot(where.valid());
  while (rest != 0) {  // each queue that lanes of the team wait at, once
    const poll_hint now(team.of(hint, rest & (~rest + 1)));
    const bool here = where.valid() && where.where() == now.where();
    queue::queue_pair_ref(drives_[now.drive()].queues + now.queue()).help_slot(team, here, where.slot());
    rest &= ~team.ballot(here);
  }
}

template <class Team>
SLUICE_HD inline status volume_store_ref::flush(const Team& team, lane::budget& patience) const {
  std::uint32_t bits = 0;
  if (team.leads()) {
    status first;
    while (lane::on_device(words_->flushing).exchange(1, lane::acquire) !=
           0) {  // pairs with the release below
      if (patience.spent()) first = status::timed_out;
      if (!first.is_ok()) break;
    }
    if (first.is_ok()) {
      const flush_answer all = flush_drives(patience);
      first = all.code;
      // An answer that may still come needs its words: then they stay taken.
      if (all.came) lane::on_device(words_->flushing).store(0, lane::release);
    }
    bits = first.bits();
  }
  return status::from_bits(team.broadcast(bits));
}

/// Flushes drive after drive; the first failure. A replica that cannot be flushed is tried once more, and
/// then left out, where another one is left.
SLUICE_HD inline volume_store_ref::flush_answer volume_store_ref::flush_drives(lane::budget& patience) const {
  flush_answer first;
  for (std::uint32_t drive = 0; drive < drive_count_; ++drive) {
    const std::uint64_t replica = std::uint64_t{1} << (drive & 63U);
    if (mirror_.is_mirror() && (mirror_.volume().live(mirror_.left_out()) & replica) == 0) continue;
    flush_answer answer = flush_drive(drive, patience);
    if (mirror_.is_mirror() && answer.came && !answer.code.is_ok()) answer = flush_drive(drive, patience);
    if (!answer.came) return answer;
    if (mirror_.is_mirror() && !answer.code.is_ok() && mirror_.leave_out(replica)) continue;
    if (first.code.is_ok()) first.code = answer.code;
  }
  return first;
}

SLUICE_HD inline volume_store_ref::flush_answer volume_store_ref::flush_drive(std::uint32_t drive,
                                                                              lane::budget& patience) const {
  const lane::solo self;
  flush_answer got;
  do {
    lane::on_device(words_->word).store(0, lane::relaxed);
    queue::io_request request;
    request.op = nvme::opcode::flush;
    request.to = {&words_->word, &words_->detail, 1, 2};
    got.code = submit_on_drive(self, true, drive, request, patience);
    if (!got.code.is_ok()) return got;
    std::uint64_t answer = 0;
    while ((answer = lane::on_device(words_->word).load(lane::acquire)) == 0) {  // pairs with the report
      poll(self, lane::on_device(words_->detail).load(lane::relaxed));
      if (!patience.spent()) continue;
      got.code = status::timed_out;
      got.came = false;
      return got;
    }
    got.code = {};
    if (answer != 1)
      got.code =
          status::from_bits(static_cast<std::uint32_t>(lane::on_device(words_->detail).load(lane::relaxed)));
  } while (got.code == status::aborted);  // its queue was lost: ask another
  return got;
}

}  // namespace sluice
