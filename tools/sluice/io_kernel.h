// The raw I/O benchmark's kernel: every lane keeps one command in flight, checks what it got, and asks for
// the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sluice/base/bits.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/launch.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"
#include "sluice/queue/queue_pair_ref.h"
#include "tools/sluice/io_pattern.h"
#include "tools/sluice/latency_counts.h"
#include "tools/sluice/sector_truth.h"

namespace sluice::tool {

/// Where a lane's command reports, and what it needs to remember of it.
struct alignas(32) io_cell {
  std::uint64_t word;
  std::uint64_t detail;
  std::uint64_t block;
  queue::io_ticket ticket;  ///< of a lane with several commands in flight
};

/// Commands that one lane may have in flight: a power of two.
inline constexpr std::uint32_t most_a_lane = 8;
/// In io_cell::block: the command writes.
inline constexpr std::uint64_t write_bit = std::uint64_t{1} << 63;

/// What one team counts and remembers, in a line of its own: what it needs once a round need not take
/// registers while it waits.
struct alignas(128) io_team {
  std::uint64_t commands;
  std::uint64_t failed;         ///< answered with an error status
  std::uint64_t wrong;          ///< answered ok, with other bytes than the truth
  std::uint64_t first_failure;  ///< status bits in the low half, drive in the high half; 0 where none
  std::uint64_t first_block;    ///< logical block of it
  std::uint64_t began;          ///< ns, the first round
  std::uint64_t turn_began[most_a_lane];  ///< ns, of each command that its lanes have in flight
};

/// The rate over time: commands answered in each slice of it. What is later counts in the last one.
inline constexpr std::uint32_t most_slices = 128;

/// A drive as the kernel uses it.
struct io_drive {
  const queue::queue_fields* queues;
  std::uint32_t queue_count;
  std::uint32_t block_shift;     ///< log2 of the job's bytes a command ÷ the drive's logical block
  queue::prp_table_ref buffers;  ///< the lanes' pieces as this drive sees them; peer path only
};

/// Everything the lanes are told. Part of the kernel: on a GPU it lies in the constant bank and takes no
/// registers.
struct io_job {
  const io_drive* drives;
  io_cell* cells;             ///< one a lane and command in flight
  std::byte* buffers;         ///< one piece each, likewise
  const sector_truth* truth;  ///< of each sector, drive after drive; null where all hold filled_word()
  io_team* teams;             ///< one each
  std::uint32_t* stop;        ///< the host ends the run with it
  std::uint64_t blocks;       ///< of command_bytes on each drive; a power of two
  std::uint32_t block_bits;   ///< log2 of blocks
  std::uint64_t commands;     ///< in all
  std::uint64_t nanoseconds;  ///< or for so long, whichever ends first
  std::uint64_t seed;
  std::uint32_t first_drive;
  std::uint32_t drive_count;  ///< from there
  std::uint32_t command_bytes;
  std::uint32_t a_round;  ///< commands that a team submits together, at most its lanes
  std::uint32_t a_lane;   ///< commands that a lane has in flight, a power of two
  std::uint32_t stride;   ///< of buffers
  std::uint32_t writes_in_1024;
  io_pattern pattern;
  std::uint32_t slice_shift = 0;       ///< log2 of the ns of a slice
  std::uint64_t* latencies = nullptr;  ///< latency_buckets counts
  std::uint64_t* slices = nullptr;     ///< most_slices counts
};

/// Which lanes go together: a warp on a GPU, each for itself on a CPU, where a warp that meets costs a switch
/// a lane, and a lane that waits for slower ones leaves the drive idle.
template <class Team>
inline constexpr std::uint32_t team_lanes = 32;
template <>
inline constexpr std::uint32_t team_lanes<lane::solo> = 1;

/// What is compared with the truth of a sector that came.
enum class io_check : std::uint8_t { stamp, every_byte };

/// How many commands a lane has in flight.
enum class io_flight : std::uint8_t { one, several };

template <queue::path Path, class Team, io_check Check, io_flight Flight = io_flight::one>
struct io_kernel {
  /// 40 registers a lane on the peer path and 64 on the staged one, without a spill, as tests/ptx checks;
  /// whoever compares every byte is not timed and takes what it likes.
  static constexpr lane::residency resident{256, Check == io_check::every_byte ? 1U
                                                 : Flight == io_flight::several
                                                     ? 4U
                                                     : (Path == queue::path::peer ? 6U : 4U)};

  io_job job;

  SLUICE_HD static Team own_team() {
    if constexpr (std::is_same_v<Team, lane::solo>)
      return {};
    else
      return Team::whole();
  }
  SLUICE_HD static std::uint32_t index() { return static_cast<std::uint32_t>(lane::grid_index()); }
  SLUICE_HD static std::uint32_t team_index() { return index() / team_lanes<Team>; }
  SLUICE_HD io_team& record() const { return job.teams[team_index()]; }
  /// Of the calling lane's `turn`-th command in flight. A team's are side by side.
  SLUICE_HD std::uint64_t place(std::uint32_t turn) const {
    if constexpr (Flight == io_flight::one) return index();
    return (std::uint64_t{team_index()} * job.a_lane + turn) * team_lanes<Team> + index() % team_lanes<Team>;
  }
  SLUICE_HD io_cell& cell(std::uint32_t turn) const { return job.cells[place(turn)]; }
  SLUICE_HD std::byte* data(std::uint32_t turn) const { return job.buffers + place(turn) * job.stride; }
  SLUICE_HD std::uint64_t block_of(std::uint64_t n) const {
    return drawn_block(job.pattern, n, job.block_bits, job.seed);
  }
  SLUICE_HD std::uint32_t drive_index() const { return job.first_drive + team_index() % job.drive_count; }

  SLUICE_HD void operator()() const {
    const Team team = own_team();
    const io_drive& drive = job.drives[drive_index()];
    const queue::basic_queue_pair_ref<Path> queue(drive.queues +
                                                  team_index() / job.drive_count % drive.queue_count);
    if (team.leads()) record().began = lane::clock_ns();
    std::uint32_t round = 0;
    for (std::uint64_t first = std::uint64_t{team_index()} * team_lanes<Team>;; first += lane::grid_lanes()) {
      bool over = false;
      if (team.leads()) over = first >= job.commands || time_is_over(first, turn_of(round));
      if (team.broadcast(over)) break;
      const queue::io_ticket given = begin(team, queue, first + team.rank(), turn_of(round));
      if constexpr (Flight == io_flight::one) {
        finish(team, queue, 0, given);
      } else {
        cell(turn_of(round)).ticket = given;
        if (++round < job.a_lane) continue;
        const std::uint32_t oldest = turn_of(round);
        finish(team, queue, oldest, cell(oldest).ticket);
      }
    }
    if constexpr (Flight == io_flight::several)
      for (std::uint32_t left = round < job.a_lane ? 0 : round + 1 - job.a_lane; left < round; ++left)
        finish(team, queue, turn_of(left), cell(turn_of(left)).ticket);
  }

  /// The rounds in flight take turns.
  SLUICE_HD std::uint32_t turn_of(std::uint32_t round) const {
    if constexpr (Flight == io_flight::one) return 0;
    return round & (job.a_lane - 1);
  }

  SLUICE_HD bool time_is_over(std::uint64_t first, std::uint32_t turn) const {
    io_team& mine = record();
    const std::uint64_t now = lane::clock_ns();
    mine.turn_began[turn] = now;
    if (now - mine.began > job.nanoseconds) return true;
    // The host's word lies across the link: a look in one round of 64, each team in its own, is enough.
    return (mix(first) & 63U) == 0 && lane::on_system(*job.stop).load(lane::relaxed) != 0;
  }

  /// Submits the n-th command of all. The ticket is valid where there is one.
  SLUICE_HD queue::io_ticket begin(const Team& team, const queue::basic_queue_pair_ref<Path>& queue,
                                   std::uint64_t n, std::uint32_t turn) const {
    const bool active = n < job.commands && team.rank() < job.a_round;
    if (job.writes_in_1024 != 0) {
      if (active && writes(n)) fill(block_of(n), turn);
      team.sync();
    }
    const queue::submission sent = queue.submit_made(team, active, [&] { return request_for(n, turn); });
    return active && sent.code.is_ok() ? sent.ticket : queue::io_ticket{};
  }

  SLUICE_HD bool writes(std::uint64_t n) const { return draws_write(mix(n + job.seed), job.writes_in_1024); }

  /// Draws the block once the turn has come, so that it takes no registers before. Nothing of ours is in
  /// flight with the cell.
  SLUICE_HD queue::io_request request_for(std::uint64_t n, std::uint32_t turn) const {
    const io_drive& drive = job.drives[drive_index()];
    io_cell& mine = cell(turn);
    const std::uint64_t block = block_of(n);
    mine = {.word = 0, .detail = 0, .block = block | (writes(n) ? write_bit : 0), .ticket = {}};
    queue::io_request request;
    request.op = writes(n) ? nvme::opcode::write : nvme::opcode::read;
    request.first = {block << drive.block_shift};
    request.blocks = std::uint32_t{1} << drive.block_shift;
    request.data = data(turn);
    request.bytes = job.command_bytes;
    if constexpr (Path != queue::path::staged)
      request.prps = drive.buffers.of(place(turn), job.command_bytes);
    request.to = {&mine.word, &mine.detail, 1, 1};
    return request;
  }

  /// Waits for the command and accounts for it.
  SLUICE_HD void finish(const Team& team, const queue::basic_queue_pair_ref<Path>& queue, std::uint32_t turn,
                        queue::io_ticket ticket) const {
    io_cell& mine = cell(turn);
    const bool waits = ticket.valid();
    // The queue's own deadline ends what is never answered.
    for (std::uint32_t looks = 1;; ++looks) {
      const bool answered = !waits || lane::on_device(mine.word).load(lane::relaxed) != 0;
      if (team.all(answered)) break;
      if (queue.help(team, !answered, ticket))
        looks = 0;
      else if (team.leads())
        lane::pause(looks);
    }
    lane::on_device(mine.word).load(lane::acquire);  // pairs with the report: status and bytes are there
    account(team, turn, waits);
  }

  SLUICE_HD void account(const Team& team, std::uint32_t turn, bool waited) const {
    const auto code = static_cast<std::uint32_t>(cell(turn).detail);
    const std::uint64_t block = cell(turn).block & ~write_bit;
    const bool wrote = (cell(turn).block & write_bit) != 0;
    const bool failed = waited && code != 0;
    const bool wrong = waited && !failed && !wrote && !is_true(data(turn), drive_index(), block);
    const std::uint32_t failures = team.ballot(failed);
    const std::uint32_t lies = team.ballot(wrong);
    const std::uint32_t done = team.ballot(waited);
    io_team& mine = record();
    if (failures != 0 && team.bit() == (failures & (~failures + 1)) && mine.first_failure == 0) {
      mine.first_failure = code | (std::uint64_t{drive_index()} << 32);
      mine.first_block = block << job.drives[drive_index()].block_shift;
    }
    if (!team.leads()) return;
    // Nobody waits for these sums: added where they lie.
    lane::on_device(mine.commands).fetch_add(lane::bit_count(done), lane::relaxed);
    if (failures != 0) lane::on_device(mine.failed).fetch_add(lane::bit_count(failures), lane::relaxed);
    if (lies != 0) lane::on_device(mine.wrong).fetch_add(lane::bit_count(lies), lane::relaxed);
    // One command in each round of a team is timed: the leader's, from before its submission to after its
    // answer.
    const std::uint64_t now = lane::clock_ns();
    lane::on_device(job.latencies[latency_bucket(now - mine.turn_began[turn])]).fetch_add(1, lane::relaxed);
    const std::uint64_t slice = (now - mine.began) >> job.slice_shift;
    lane::on_device(job.slices[slice < most_slices ? slice : most_slices - 1])
        .fetch_add(lane::bit_count(done), lane::relaxed);
  }

  SLUICE_HD std::uint64_t first_sector(std::uint32_t drive, std::uint64_t block) const {
    return (std::uint64_t{drive} * job.blocks + block) * (job.command_bytes / sector_bytes);
  }

  SLUICE_HD bool is_true(const std::byte* data, std::uint32_t drive, std::uint64_t block) const {
    const std::uint32_t sectors = job.command_bytes / sector_bytes;
    const std::uint64_t first = first_sector(drive, block);
    bool good = true;
    for (std::uint32_t s = 0; s < sectors; ++s) {
      const auto* words = reinterpret_cast<const std::uint64_t*>(data + std::uint64_t{s} * sector_bytes);
      good =
          good && (job.truth != nullptr ? holds(words, job.truth[first + s]) : is_filled(words, first + s));
    }
    return good;
  }
  SLUICE_HD static bool holds(const std::uint64_t* words, const sector_truth& truth) {
    if constexpr (Check == io_check::stamp) return stamp_of(words[0], words[sector_words - 1]) == truth.stamp;
    std::uint64_t sum = 0;
    for (std::uint32_t k = 0; k < sector_words; ++k) sum = fold(sum, words[k]);
    return sum == truth.whole;
  }
  SLUICE_HD static bool is_filled(const std::uint64_t* words, std::uint64_t sector) {
    constexpr std::uint32_t step = Check == io_check::stamp ? sector_words - 1 : 1;
    bool good = true;
    for (std::uint32_t k = 0; k < sector_words; k += step) good = good && words[k] == filled_word(sector, k);
    return good;
  }

  SLUICE_HD void fill(std::uint64_t block, std::uint32_t turn) const {
    const std::uint32_t sectors = job.command_bytes / sector_bytes;
    const std::uint64_t first = first_sector(drive_index(), block);
    auto* words = reinterpret_cast<std::uint64_t*>(data(turn));
    for (std::uint32_t i = 0; i < sectors * sector_words; ++i)
      words[i] = filled_word(first + i / sector_words, i % sector_words);
  }
};

}  // namespace sluice::tool
