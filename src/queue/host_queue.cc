#include "sluice/queue/host_queue.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sluice/base/error.h"
#include "sluice/lane/atomic.h"
#include "sluice/lane/team.h"
#include "sluice/lane/wait.h"

namespace sluice::queue {

namespace {

constexpr std::uint32_t commands_at_once = 32;
constexpr std::uint32_t largest_command = 128 * KiB;
constexpr std::uint32_t tries = 3;  // a command aborted with its queue says nothing of the drive: try again

constexpr std::uint64_t forever = ~std::uint64_t{0} >> 2;

}  // namespace

host_queue::host_queue(drive::drive& on)
    : drive_(on),
      command_bytes_(std::min(largest_command, on.info().max_transfer)),
      bounce_(backend::cpu, memory::place::host, std::size_t{commands_at_once} * command_bytes_),
      prps_(on, backend::cpu, on.map(bounce_.view()), command_bytes_, commands_at_once),
      queues_(on, backend::cpu, 1,
              {.depth = std::min(2 * commands_at_once, on.info().max_depth),
               .transfer_bytes = command_bytes_,
               .deadline = std::chrono::milliseconds(on.info().deadline_ms)}) {}

host_queue::~host_queue() {
  try {
    drive_.unmap(bounce_.view());
  } catch (const error&) {
    // The drive's mappings end with the drive.
  }
}

void host_queue::check(std::uint64_t offset, std::size_t bytes) const {
  const std::uint32_t block = drive_.info().block_size;
  if (offset % block == 0 && bytes % block == 0 && offset + bytes <= drive_.info().bytes()) return;
  throw error(error_kind::bad_input,
              "bytes " + std::to_string(offset) + " to " + std::to_string(offset + bytes) +
                  " are not whole blocks within the drive's " + std::to_string(drive_.info().bytes()),
              {}, {.drive = drive_.info().uri});
}

void host_queue::read(std::uint64_t offset, std::span<std::byte> bytes) {
  check(offset, bytes.size());
  const std::lock_guard guard(mutex_);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t now = std::min(bytes.size() - done, bounce_.size());
    transfer(nvme::opcode::read, offset + done, now);
    std::memcpy(bytes.data() + done, bounce_.host(), now);
    done += now;
  }
}

void host_queue::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  check(offset, bytes.size());
  const std::lock_guard guard(mutex_);
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t now = std::min(bytes.size() - done, bounce_.size());
    std::memcpy(bounce_.host(), bytes.data() + done, now);
    transfer(nvme::opcode::write, offset + done, now);
    done += now;
  }
}

void host_queue::flush() {
  const std::lock_guard guard(mutex_);
  const io_request request{.op = nvme::opcode::flush};
  run({&request, 1});
}

/// Moves the first `bytes` of the bounce buffer, at most all of it, as commands side by side.
void host_queue::transfer(nvme::opcode op, std::uint64_t offset, std::size_t bytes) {
  const std::uint32_t block = drive_.info().block_size;
  std::vector<io_request> requests;
  for (std::size_t at = 0; at < bytes; at += command_bytes_) {
    const auto now = static_cast<std::uint32_t>(std::min<std::size_t>(command_bytes_, bytes - at));
    requests.push_back({.op = op,
                        .first = {(offset + at) / block},
                        .blocks = now / block,
                        .data = bounce_.host() + at,
                        .bytes = now,
                        .prps = prps_.ref().of(at / command_bytes_, now),
                        .to = {}});
  }
  run(requests);
}

void host_queue::run(std::span<const io_request> requests) {
  std::size_t failed = 0;
  status code;
  for (std::uint32_t i = 0; i < tries; ++i) {
    code = run_once(requests, failed);
    if (code.is_ok()) return;
    if (code != status::aborted) break;
  }
  throw error(error_kind::io_failure, "a command of the host failed", {},
              {.drive = drive_.info().uri,
               .queue = queues_.host_ref().id(),
               .command = {},
               .block = requests[failed].first,
               .code = code});
}

/// Submits all and waits for all; the first failure and which request it was.
status host_queue::run_once(std::span<const io_request> requests, std::size_t& failed) {
  const queue_pair_ref queue = queues_.host_ref();
  const lane::solo self;
  std::vector<cell> cells(requests.size());
  std::vector<io_ticket> tickets(requests.size());
  status first;
  std::size_t started = 0;
  for (; started < requests.size() && first.is_ok(); ++started) {
    io_request request = requests[started];
    request.to = {.word = &cells[started].word, .detail = &cells[started].detail, .on_ok = 1, .on_error = 2};
    const submission done = queue.submit(self, true, request);
    tickets[started] = done.ticket;
    if (!done.code.is_ok()) first = done.code, failed = started, cells[started].word = 1;
  }
  for (std::size_t i = 0; i < started; ++i) {
    await(cells[i], tickets[i]);
    if (cells[i].word == 2 && first.is_ok())
      first = status::from_bits(static_cast<std::uint32_t>(cells[i].detail)), failed = i;
  }
  if (first == status::aborted) wait_until_open();
  return first;
}

/// Every command reports, if only by being aborted: the watcher ends what the drive never answers. Only a
/// drive that does not even delete its queue never lets go; then nobody ever claims the command, so the cell
/// may be given up.
void host_queue::await(cell& result, io_ticket ticket) const {
  const queue_pair_ref queue = queues_.host_ref();
  lane::budget pace(forever);
  bool last_look = false;
  while (lane::on_device(result.word).load(lane::acquire) == 0) {  // pairs with the report
    if (last_look) {
      result = {.word = 2, .detail = status::queue_lost.bits()};
      return;
    }
    last_look = queue.is_dead();
    queue.help(lane::solo{}, true, ticket);
    pace.spent();
  }
}

void host_queue::wait_until_open() const {
  const queue_pair_ref queue = queues_.host_ref();
  lane::budget patience(std::uint64_t{1'000'000} * drive_.info().deadline_ms);
  while (!queue.is_open() && !queue.is_dead() && !patience.spent()) {
  }
}

}  // namespace sluice::queue
