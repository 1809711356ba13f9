#include "controller/admin.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "controller/copy.h"
#include "sluice/nvme/admin.h"
#include "sluice/nvme/prp.h"
#include "sluice/nvme/status_codes.h"

namespace sluice::controller {

namespace code = nvme::code;
using nvme::admin_opcode;
using nvme::do_not_retry;

namespace {

constexpr std::size_t max_event_requests = 4;  // AERL + 1

bool is_known(admin_opcode op) {
  switch (op) {
    case admin_opcode::delete_submission_queue:
    case admin_opcode::create_submission_queue:
    case admin_opcode::get_log_page:
    case admin_opcode::delete_completion_queue:
    case admin_opcode::create_completion_queue:
    case admin_opcode::identify:
    case admin_opcode::abort:
    case admin_opcode::set_features:
    case admin_opcode::get_features:
    case admin_opcode::async_event_request:
      return true;
  }
  return false;
}

}  // namespace

admin::admin(const media& on, const identity& self, io_queues& queues, event_log& log,
             std::function<void(nvme::health_log&)> health, std::function<void(bool)> write_cache)
    : media_(on),
      self_(self),
      queues_(queues),
      log_(log),
      health_(std::move(health)),
      write_cache_(std::move(write_cache)),
      features_(on.traits().write_cache) {}

void admin::reset() {
  event_requests_.clear();
  features_.reset();
  queues_.delete_all();
  queues_.grant(queues_.max_queues());
  write_cache_(true);
  log_.reset();
}

void admin::execute(submission_queue& queue, const nvme::submission_entry& entry) {
  if (static_cast<admin_opcode>(entry.op()) == admin_opcode::async_event_request &&
      event_requests_.size() < max_event_requests) {
    event_requests_.push_back(entry.id());
    return;
  }
  std::uint32_t result = 0;
  const status answer = dispatch(entry, result);
  if (!answer) log_.record(0, entry.id(), answer, 0, entry.nsid);
  queue.completions->post({&queue, entry.id(), answer, result});
}

bool admin::deliver_events(submission_queue& queue) {
  bool some = false;
  for (; !event_requests_.empty(); some = true) {
    const auto event = log_.next_event();
    if (!event) break;
    queue.completions->post({&queue, event_requests_.front(), status::ok, event->bits});
    event_requests_.erase(event_requests_.begin());
  }
  return some;
}

status admin::dispatch(const nvme::submission_entry& entry, std::uint32_t& result) {
  const auto op = static_cast<admin_opcode>(entry.op());
  if (!is_known(op)) return do_not_retry(code::invalid_opcode);
  if ((entry.cdw0 & 0xc300U) != 0)
    return do_not_retry(code::invalid_field);  // no fused admin commands, no SGLs
  const auto queue = static_cast<std::uint16_t>(entry.cdw10 & 0xffffU);
  switch (op) {
    case admin_opcode::identify:
      return identify(entry);
    case admin_opcode::create_completion_queue:
      return create_queue(entry, true);
    case admin_opcode::create_submission_queue:
      return create_queue(entry, false);
    case admin_opcode::delete_completion_queue:
      return queues_.delete_completion(queue);
    case admin_opcode::delete_submission_queue:
      return queues_.delete_submission(queue);
    case admin_opcode::set_features:
      return set_features(entry, result);
    case admin_opcode::get_features:
      return get_features(entry, result);
    case admin_opcode::get_log_page:
      return get_log_page(entry);
    case admin_opcode::abort:
      return abort(entry, result);
    case admin_opcode::async_event_request:
      return do_not_retry(code::async_event_limit_exceeded);
  }
  return do_not_retry(code::invalid_opcode);
}

status admin::create_queue(const nvme::submission_entry& entry, bool completion) {
  const queue_request want{.id = static_cast<std::uint16_t>(entry.cdw10 & 0xffffU),
                           .entries = (entry.cdw10 >> 16) + 1,
                           .ring = {entry.prp1},
                           .contiguous = (entry.cdw11 & nvme::queue_contiguous) != 0,
                           .completion_queue = static_cast<std::uint16_t>(entry.cdw11 >> 16)};
  if (!completion) return queues_.create_submission(want, regions, page);
  constexpr std::uint32_t interrupts = 1U << 1;
  // One vector, and nothing that it could interrupt: hosts poll.
  if ((entry.cdw11 & interrupts) != 0 && entry.cdw11 >> 16 != 0)
    return do_not_retry(code::invalid_interrupt_vector);
  return queues_.create_completion(want, regions, page);
}

status admin::set_features(const nvme::submission_entry& entry, std::uint32_t& result) {
  constexpr std::uint32_t save = 1U << 31;
  const std::uint32_t identifier = entry.cdw10 & 0xffU;
  if (!feature_set::knows(identifier, media_.traits().write_cache)) return do_not_retry(code::invalid_field);
  if ((entry.cdw10 & save) != 0) return do_not_retry(code::feature_not_saveable);
  const auto which = static_cast<nvme::feature>(identifier);
  if (which == nvme::feature::number_of_queues) return grant_queues(entry.cdw11, result);
  if (const status s = features_.set(identifier, entry.cdw11); !s) return s;
  if (which == nvme::feature::volatile_write_cache) write_cache_(features_.value(which) != 0);
  return status::ok;
}

status admin::grant_queues(std::uint32_t wanted, std::uint32_t& result) {
  constexpr std::uint32_t not_allowed = 0xffff;
  if ((wanted & 0xffffU) == not_allowed || wanted >> 16 == not_allowed)
    return do_not_retry(code::invalid_field);
  if (queues_.any()) return do_not_retry(code::command_sequence_error);
  const std::uint32_t pairs = std::min(
      queues_.max_queues(), std::max(nvme::submission_queues(wanted), nvme::completion_queues(wanted)));
  queues_.grant(pairs);
  result = nvme::queue_counts(pairs, pairs);
  features_.store(nvme::feature::number_of_queues, result);
  return status::ok;
}

status admin::get_features(const nvme::submission_entry& entry, std::uint32_t& result) {
  const std::uint32_t identifier = entry.cdw10 & 0xffU, select = (entry.cdw10 >> 8) & 7U;
  if (static_cast<nvme::feature>(identifier) == nvme::feature::number_of_queues && select < 3) {
    result = nvme::queue_counts(queues_.granted(), queues_.granted());
    return status::ok;
  }
  return features_.get(identifier, select, result);
}

status admin::get_log_page(const nvme::submission_entry& entry) {
  const auto which = static_cast<nvme::log_page>(entry.cdw10 & 0xffU);
  const bool retain = (entry.cdw10 & (1U << 15)) != 0;
  const std::uint64_t wanted = ((entry.cdw10 >> 16 | std::uint64_t{entry.cdw11 & 0xffffU} << 16) + 1) * 4;
  const std::uint64_t offset = entry.cdw12 | std::uint64_t{entry.cdw13} << 32;
  std::vector<std::byte> page_bytes = log_bytes(which);
  if (page_bytes.empty()) return do_not_retry(code::invalid_log_page);
  if (offset % 4 != 0 || offset > page_bytes.size() || wanted > self_.max_transfer)
    return do_not_retry(code::invalid_field);
  page_bytes.erase(page_bytes.begin(), page_bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  page_bytes.resize(wanted);
  const status sent = send(entry, page_bytes);
  if (sent && which == nvme::log_page::error_information && !retain) log_.unmask_errors();
  return sent;
}

status admin::abort(const nvme::submission_entry& entry, std::uint32_t& result) {
  const auto queue = static_cast<std::uint16_t>(entry.cdw10 & 0xffffU);
  const auto command = static_cast<std::uint16_t>(entry.cdw10 >> 16);
  result = queues_.abort(queue, command) ? 0 : 1;
  return status::ok;
}

status admin::send(const nvme::submission_entry& entry, std::span<const std::byte> bytes) const {
  const auto read = [&](bus_address at, std::uint64_t& value) {
    const std::byte* from = regions.reach(at, sizeof value);
    if (from != nullptr) std::memcpy(&value, from, sizeof value);
    return from != nullptr;
  };
  const auto visit = [&](bus_address at, std::uint64_t length) {
    std::byte* to = regions.reach(at, length);
    if (to == nullptr) return code::data_transfer_error;
    copy_bytes(to, bytes.data(), length);
    bytes = bytes.subspan(length);
    return status::ok;
  };
  return nvme::walk_prps({{entry.prp1}, {entry.prp2}}, bytes.size(), page, read, visit);
}

status admin::identify(const nvme::submission_entry& entry) {
  const std::uint32_t cns = entry.cdw10 & 0xffU;
  std::array<std::byte, nvme::identify_bytes> answer{};
  switch (static_cast<nvme::identify_what>(cns)) {
    case nvme::identify_what::controller:
      fill_controller(answer);
      break;
    case nvme::identify_what::name_space:
    case nvme::identify_what::namespace_descriptors:
      if (entry.nsid != 1) return do_not_retry(code::invalid_namespace);
      if (cns == 0)
        fill_namespace(answer);
      else
        fill_descriptors(answer);
      break;
    case nvme::identify_what::active_namespaces:
      if (entry.nsid >= 0xfffffffe) return do_not_retry(code::invalid_namespace);
      if (entry.nsid == 0) answer[0] = std::byte{1};  // identifiers above the one given: 1 is the only one
      break;
    default:
      return do_not_retry(code::invalid_field);
  }
  return send(entry, answer);
}

}  // namespace sluice::controller
