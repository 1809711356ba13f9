#include "tests/support/queue_scenario.h"

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
  if (s.writes) mine.data[0] = mine.data[1] = stamp_of(block);
  bool done = false;
  while (!team.all(done)) {
    if (team.broadcast(!on.pair.ref().is_open())) {
      lane::executor::relax();
      continue;
    }
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
      continue;
    }
    if (code != s.drive.answer) lane::explore::fail("another status than the drive's");
    if (code.is_ok() && !s.writes && (mine.data[0] != stamp_of(block) || mine.data[1] != stamp_of(block)))
      lane::explore::fail("success without the bytes");
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

void check_end(stage& on, lane::explore::result& got) {
  if (!got.ok) return;
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

std::optional<std::string> explore_scenario(const scenario& what, std::uint64_t count) {
  using lane::explore::policy;
  for (const policy how : {policy::random, policy::one_in_eight, policy::pct}) {
    for (std::uint64_t seed = 1; seed <= count; ++seed) {
      const lane::explore::result got = run_scenario(what, {.how = how, .seed = seed});
      if (!got.ok)
        return got.why + " (policy " + lane::explore::to_string(how) + ", seed " + std::to_string(seed) + ")";
    }
  }
  return std::nullopt;
}

}  // namespace sluice::tests
