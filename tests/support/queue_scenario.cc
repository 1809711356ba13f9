#include "tests/support/queue_scenario.h"

#include <algorithm>

#include "sluice/lane/atomic.h"
#include "sluice/lane/identity.h"
#include "sluice/lane/team.h"

namespace sluice::tests {

namespace {

/// What one lane owns: the words that its commands report to, and the bytes they move.
struct lane_memory {
  std::uint64_t word = 0;
  std::uint64_t detail = 0;
  alignas(16) std::uint64_t data[64] = {};  // one block
};

constexpr std::uint64_t ok_delta = 1;
constexpr std::uint64_t error_delta = std::uint64_t{1} << 32;

/// Everything that one run shares. Lives outside the fibers, since a failed run drops them where they stand.
struct stage {
  explicit stage(const scenario& s)
      : what(s),
        drive(s.drive),
        pair(drive, backend::cpu,
             {.depth = s.depth,
              .transfer_bytes = 512,
              .deadline = std::chrono::microseconds(300),
              .first_turn = s.first_turn}),
        lanes(std::size_t{s.warps} * s.lanes * s.rounds) {
    if (s.may_lose) drive.allowed_repeats = 100;
  }

  const scenario& what;
  model_drive drive;
  queue::queue_pair pair;
  std::vector<lane_memory> lanes;
  std::uint32_t running = 0;
};

/// Block of a lane's round, with its low byte again in the high half, as the strict drive wants it.
std::uint64_t block_of(std::uint32_t lane, std::uint32_t round) {
  const std::uint64_t low = std::uint64_t{lane} * 16 + round;
  return low | ((low & 0xffU) << 32);
}

template <class Team>
void wait_for(const stage& on, const Team& team, lane_memory& mine, std::uint64_t before,
              queue::io_ticket ticket) {
  lane::budget pace(~std::uint64_t{0} >> 2);
  while (true) {
    const bool answered = lane::on_device(mine.word).load(lane::acquire) != before;
    if (team.all(answered)) return;
    on.pair.ref().help(team, !answered, ticket);
    pace.spent();
  }
}

/// One command, submitted again until it got through an open queue; false where it is left for others to
/// finish.
template <class Team>
void one_round(stage& on, const Team& team, std::uint32_t lane, std::uint32_t round, bool wait) {
  const scenario& s = on.what;
  lane_memory& mine = on.lanes[std::size_t{lane} * s.rounds + round];
  const std::uint64_t block = block_of(lane, round);
  constexpr std::uint64_t scribble = 0x5c71bb1e;
  bool done = false;
  bool given_up = false;
  while (!team.all(done)) {
    if (team.broadcast(!on.pair.ref().is_open())) {
      lane::executor::relax();
      continue;
    }
    if (given_up && mine.data[0] != scribble)
      lane::explore::fail("bytes came after the command was given up");
    if (s.writes && !done) mine.data[0] = mine.data[1] = stamp_of(block);
    const std::uint64_t before = mine.word;
    mine.detail = 0;
    queue::io_request request;
    request.op = s.writes ? nvme::opcode::write : nvme::opcode::read;
    request.first = {block};
    request.blocks = 1;
    request.data = reinterpret_cast<std::byte*>(mine.data);
    request.bytes = 512;
    request.prps = {{reinterpret_cast<std::uint64_t>(mine.data)}, {}};
    request.to = {&mine.word, &mine.detail, ok_delta, error_delta};
    const queue::submission sent = on.pair.ref().submit(team, !done, request);
    if (!done && !sent.code.is_ok() && !s.may_lose)
      lane::explore::fail("a queue that lost nothing turned a lane away");
    if (!wait) return;
    const bool waits = !done && sent.ticket.valid();
    wait_for(on, team, mine, waits ? before : ~before, sent.ticket);
    if (!waits) {
      lane::executor::relax();
      continue;
    }
    const std::uint64_t got = mine.word - before;
    if (got != ok_delta && got != error_delta) lane::explore::fail("a command reported more than once");
    const status code = status::from_bits(static_cast<std::uint32_t>(mine.detail));
    if ((got == ok_delta) != code.is_ok()) lane::explore::fail("status and report disagree");
    if (code == status::aborted || code == status::timed_out) {
      if (!s.may_lose) lane::explore::fail("an answered command was given up");
      given_up = true;
      mine.data[0] = mine.data[1] = scribble;  // the memory is the lane's again
      continue;
    }
    if (code != s.drive.answer) lane::explore::fail("another status than the drive's");
    if (code.is_ok() && !s.writes && (mine.data[0] != stamp_of(block) || mine.data[1] != stamp_of(block)))
      lane::explore::fail("success without the bytes");
    given_up = false;
    mine.data[1] = ~block;  // late DMA into it would show in the end
    done = true;
  }
}

template <class Team>
void all_rounds(stage& on, const Team& team) {
  const auto lane = lane::thread_index() / 32 * on.what.lanes + lane::lane_index();
  for (std::uint32_t round = 0; round < on.what.rounds; ++round)
    one_round(on, team, lane, round, !on.what.leaves_early || round + 1 == on.what.rounds);
}

/// An answer that was taken in, and whose command nobody finished.
bool is_left_unfinished(const queue::queue_pair& pair) {
  const queue::queue_fields& fields = pair.fields();
  return std::any_of(fields.slots, fields.slots + fields.mask + 1, [](const queue::slot_record& slot) {
    return queue::slot_word(slot.word).state() == queue::slot_state::done;
  });
}

void check_end(stage& on, lane::explore::result& got) {
  if (!got.ok) return;
  if (!on.what.may_lose && is_left_unfinished(on.pair)) {
    got = {false, "a command was answered, and nobody finished it", 0, 0};
    return;
  }
  const drive::drive_counters counted = on.drive.counters();
  const std::uint64_t issued = on.pair.issued();
  if (!on.what.leaves_early && !on.what.may_lose && issued != counted.served) {
    got = {false, "commands issued " + std::to_string(issued) + ", served " + std::to_string(counted.served),
           0, 0};
    return;
  }
  for (std::size_t i = 0; !on.what.leaves_early && on.what.drive.answer.is_ok() && i < on.lanes.size(); ++i) {
    const auto lane = static_cast<std::uint32_t>(i / on.what.rounds);
    if (on.lanes[i].data[1] != ~block_of(lane, static_cast<std::uint32_t>(i % on.what.rounds)))
      got = {false, "bytes came after the command had been given up", 0, 0};
  }
}

}  // namespace

const std::vector<scenario>& all_scenarios() {
  static const std::vector<scenario> list = {
      {.name = "lanes_alone_on_the_smallest_ring", .depth = 2, .warps = 3, .lanes = 1, .team = false},
      {.name = "lanes_of_one_warp_act_alone", .depth = 4, .warps = 1, .lanes = 4, .team = false},
      {.name = "teams_share_a_ring", .depth = 4, .warps = 3, .lanes = 2},
      {.name = "a_team_larger_than_the_ring_goes_in_batches",
       .depth = 4,
       .warps = 2,
       .lanes = 7,
       .rounds = 1},
      {.name = "staged_bytes_reach_their_lane",
       .depth = 4,
       .warps = 2,
       .lanes = 3,
       .drive = {.frames_reachable = false}},
      {.name = "writes_send_what_was_written", .depth = 4, .warps = 2, .lanes = 3, .writes = true},
      {.name = "staged_writes_send_what_was_written",
       .depth = 4,
       .warps = 2,
       .lanes = 3,
       .writes = true,
       .drive = {.frames_reachable = false}},
      {.name = "turns_wrap",
       .depth = 2,
       .warps = 2,
       .lanes = 1,
       .rounds = 6,
       .team = false,
       .first_turn = 0xfffffffeU},
      {.name = "turns_of_teams_wrap",
       .depth = 4,
       .warps = 2,
       .lanes = 2,
       .rounds = 6,
       .first_turn = 0xffffffffU},
      {.name = "commands_nobody_waits_for_hold_up_nobody",
       .depth = 2,
       .warps = 2,
       .lanes = 1,
       .rounds = 4,
       .team = false,
       .leaves_early = true},
      {.name = "commands_nobody_waits_for_are_finished",
       .depth = 8,
       .warps = 2,
       .lanes = 1,
       .rounds = 3,
       .team = false,
       .leaves_early = true},
      {.name = "so_are_those_of_teams",
       .depth = 16,
       .warps = 1,
       .lanes = 3,
       .rounds = 3,
       .leaves_early = true},
      {.name = "the_drives_status_arrives_as_it_is",
       .depth = 4,
       .warps = 2,
       .lanes = 2,
       .drive = {.answer = status::from_nvme(0x281)}},
      {.name = "the_first_command_is_lost",
       .depth = 2,
       .warps = 2,
       .lanes = 1,
       .team = false,
       .may_lose = true,
       .drive = {.lose = 0}},
      {.name = "the_second_command_is_lost",
       .depth = 2,
       .warps = 2,
       .lanes = 1,
       .team = false,
       .may_lose = true,
       .drive = {.lose = 1}},
      {.name = "the_third_command_is_lost",
       .depth = 2,
       .warps = 2,
       .lanes = 1,
       .team = false,
       .may_lose = true,
       .drive = {.lose = 2}},
      {.name = "the_last_command_is_lost",
       .depth = 2,
       .warps = 2,
       .lanes = 1,
       .team = false,
       .may_lose = true,
       .drive = {.lose = 3}},
      {.name = "a_team_loses_a_command",
       .depth = 4,
       .warps = 2,
       .lanes = 2,
       .may_lose = true,
       .drive = {.lose = 1}},
      {.name = "queues_lost_over_and_over_come_back",
       .depth = 4,
       .warps = 2,
       .lanes = 2,
       .rounds = 3,
       .may_lose = true,
       .drive = {.lose_every = 3}},
      {.name = "no_staged_memory_of_an_unanswered_command_is_reused",
       .depth = 4,
       .warps = 2,
       .lanes = 2,
       .may_lose = true,
       .drive = {.frames_reachable = false, .lose_every = 4}},
      {.name = "many_lanes_wait_for_turns_of_a_queue_that_is_lost",
       .depth = 2,
       .warps = 4,
       .lanes = 1,
       .team = false,
       .may_lose = true,
       .drive = {.lose_every = 3}},
      {.name = "a_drive_that_answers_twice_loses_its_queue_not_our_data",
       .depth = 4,
       .warps = 2,
       .lanes = 2,
       .may_lose = true,
       .drive = {.duplicate_id_at = 2}},
      {.name = "a_drive_that_always_answers_twice",
       .depth = 8,
       .warps = 2,
       .lanes = 3,
       .rounds = 1,
       .may_lose = true,
       .drive = {.duplicate_every = 1}},
      {.name = "a_drive_that_often_answers_twice",
       .depth = 4,
       .warps = 3,
       .lanes = 1,
       .team = false,
       .may_lose = true,
       .drive = {.duplicate_every = 2}},
  };
  return list;
}

lane::explore::result run_scenario(const scenario& what, lane::explore::options how) {
  scenario s = what;
  s.drive.seed = how.seed;
  stage on(s);
  how.warps = s.warps;
  how.lanes = s.lanes;
  on.running = s.warps * s.lanes;
  const auto finished = [&on] { return lane::on_device(on.running).load(lane::acquire) == 0; };
  lane::explore::result got = lane::explore::run(how,
                                                 [&on] {
                                                   if (on.what.team)
                                                     all_rounds(on, lane::warp_team::whole());
                                                   else
                                                     all_rounds(on, lane::solo{});
                                                   lane::on_device(on.running).fetch_sub(1, lane::acq_rel);
                                                 },
                                                 {[&] { on.drive.serve(finished); },
                                                  [&] {
                                                    while (!finished()) {
                                                      if (on.pair.needs_recovery()) on.pair.recover();
                                                      lane::executor::relax();
                                                    }
                                                  }});
  check_end(on, got);
  return got;
}

std::optional<std::string> explore_scenario(const scenario& what, std::uint64_t first, std::uint64_t count) {
  using lane::explore::policy;
  for (const policy how : {policy::random, policy::one_in_eight, policy::pct}) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
      const std::uint64_t steps = std::uint64_t{200} << (seed % 4);  // runs take some 500 to some 3,000
      const lane::explore::result got =
          run_scenario(what, {.how = how, .seed = seed, .expected_steps = steps});
      if (!got.ok)
        return got.why + " (policy " + lane::explore::to_string(how) + ", seed " + std::to_string(seed) + ")";
    }
  }
  return std::nullopt;
}

}  // namespace sluice::tests
