#include "drive/nvme_client.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/nvme/admin.h"

namespace sluice::drive {

namespace reg = nvme::reg;

namespace {

using clock = std::chrono::steady_clock;

/// Looks until `done()`, or the limit: busily for a moment, then with naps.
template <class Done>
bool wait_for(std::chrono::milliseconds limit, Done&& done) {
  const auto end = clock::now() + limit;
  for (unsigned looks = 0; !done(); ++looks) {
    if (clock::now() > end) return done();
    constexpr unsigned busy_looks = 100;
    if (looks < busy_looks)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  return true;
}

}  // namespace

nvme_client::nvme_client(std::unique_ptr<controller_port> port, const nvme_client_options& options)
    : port_(std::move(port)), options_(options), cap_{port_->read64(reg::cap)} {
  info_.uri = options.uri;
  info_.forgets = options.forgets;
  info_.media = options.media;
  info_.deadline_ms = options.deadline_ms;
  info_.dma_page = 1U << options.page_shift;
  const memory::place where = port_->reachable_place(backend::cpu);
  const std::size_t ring_page =
      std::max<std::size_t>(info_.dma_page, admin_entries * sizeof(nvme::submission_entry));
  // Two pages more than the rings take, so that they can start at a page of the controller's size.
  rings_ = memory::buffer(backend::cpu, where, 3 * ring_page);
  scratch_ = memory::buffer(backend::cpu, where, 2 * nvme::identify_bytes);
  scratch_at_ = port_->map(scratch_.view());
  reset();
  enable();
  identify();
  ask_for_queues(options.max_queues);
  request_event();
}

nvme_client::~nvme_client() {
  try {
    for (std::uint32_t id = 1; id < used_.size() && !lost_; ++id)
      if (used_[id]) delete_queue(static_cast<std::uint16_t>(id), false);
    shut_down();
    port_->write32(reg::cc, 0);
    await_ready(false);
  } catch (const error&) {
    // A controller that does not answer while we leave: there is nobody left to tell.
  }
}

void nvme_client::fail(const std::string& what, std::optional<status> code) const {
  throw error(error_kind::io_failure, what, {},
              {.drive = options_.uri, .queue = 0, .code = code.value_or(status::timed_out)});
}

void nvme_client::reset() {
  if ((port_->read32(reg::cc) & 1U) == 0) return;
  port_->write32(reg::cc, 0);
  await_ready(false);
}

void nvme_client::enable() {
  if (options_.page_shift < cap_.min_page_shift() || options_.page_shift > cap_.max_page_shift())
    fail("the controller does not take memory pages of " + std::to_string(info_.dma_page) + " bytes",
         status::from_nvme(0x006));
  const bus_address base = port_->map(rings_.view());
  const std::uint64_t aligned = align_up(base.value, info_.dma_page);
  const std::size_t ring_page = rings_.size() / 3;
  std::byte* host = rings_.host() + (aligned - base.value);
  submissions_ = reinterpret_cast<nvme::submission_entry*>(host);
  completions_ = reinterpret_cast<nvme::completion_entry*>(host + ring_page);
  port_->write32(reg::aqa, nvme::admin_queue_attributes::make(admin_entries, admin_entries).bits);
  port_->write64(reg::asq, aligned);
  port_->write64(reg::acq, aligned + ring_page);
  port_->write32(reg::cc, nvme::configuration::make(options_.page_shift).bits);
  await_ready(true);
}

void nvme_client::await_ready(bool ready) {
  nvme::controller_status csts;
  const bool came = wait_for(std::chrono::milliseconds(cap_.timeout_ms()), [&] {
    csts = {port_->read32(reg::csts)};
    return csts.ready() == ready || csts.fatal();
  });
  if (csts.fatal()) fail("the controller reports a fatal status (CSTS.CFS)", status::from_nvme(0x006));
  if (!came)
    fail(std::string("the controller did not become ") + (ready ? "ready" : "idle") + " within CAP.TO");
}

void nvme_client::put(const nvme::submission_entry& entry) {
  submissions_[tail_] = entry;
  tail_ = (tail_ + 1) % admin_entries;
  lane::ring(port_->doorbell(nvme::submission_doorbell(0)), tail_);
}

nvme_client::admin_answer nvme_client::submit_admin(const nvme::submission_entry& entry) {
  const std::lock_guard lock(mutex_);
  if (lost_) fail("the admin queue was lost before");
  const auto free =
      std::find_if(slots_.begin(), slots_.end() - 1, [](const slot& s) { return !s.in_flight; });
  slot& mine = *free;
  mine = {.in_flight = true};
  put(nvme::with_id(entry, static_cast<std::uint16_t>(free - slots_.begin())));
  const bool answered = wait_for(std::chrono::milliseconds(cap_.timeout_ms()), [&] {
    reap();
    return mine.answered;
  });
  if (!answered) {
    lost_ = true;
    fail(std::string(nvme::name_of(static_cast<nvme::admin_opcode>(entry.op()))) +
         " was not answered within CAP.TO");
  }
  return std::exchange(mine, {}).answer;
}

void nvme_client::reap() {
  bool some = false;
  for (;; some = true) {
    nvme::completion_entry& entry = completions_[head_];
    // Acquire: pairs with the controller's release of the phase; the entry and the command's data are
    // visible.
    const std::uint32_t tail = std::atomic_ref(entry.tail).load(std::memory_order_acquire);
    if (((tail >> 16) & 1U) != phase_) break;
    const auto id = static_cast<std::uint16_t>(tail & 0xffffU);
    if (id < admin_entries && slots_[id].in_flight) {
      slot& answered = slots_[id];
      answered.answered = true;
      answered.answer = {status::from_nvme(tail >> 17), entry.result};
      if (answered.event) {
        if (answered.answer.code) events_.push_back({entry.result});
        answered = {};
      }
    }
    head_ = (head_ + 1) % admin_entries;
    if (head_ == 0) phase_ ^= 1U;
  }
  if (some) lane::ring(port_->doorbell(nvme::completion_doorbell(0)), head_);
}

std::uint32_t nvme_client::admin(const nvme::submission_entry& entry) {
  const admin_answer answer = submit_admin(entry);
  if (!answer.code)
    fail(std::string(nvme::name_of(static_cast<nvme::admin_opcode>(entry.op()))) + " was refused",
         answer.code);
  return answer.result;
}

void nvme_client::identify() {
  const auto read_page = [&](nvme::identify_what what, std::uint32_t nsid, void* to) {
    admin(nvme::identify(what, nsid, scratch_at_));
    std::memcpy(to, scratch_.host(), nvme::identify_bytes);
  };
  controller_ = std::make_unique<nvme::identify_controller>();
  namespace_ = std::make_unique<nvme::identify_namespace>();
  read_page(nvme::identify_what::controller, 0, controller_.get());
  std::array<std::uint32_t, nvme::identify_bytes / 4> active{};
  read_page(nvme::identify_what::active_namespaces, 0, active.data());
  if (active[0] == 0) fail("the drive has no active namespace", status::from_nvme(0x00b));
  info_.nsid = active[0];
  read_page(nvme::identify_what::name_space, info_.nsid, namespace_.get());

  info_.model = nvme::text_of(controller_->mn);
  info_.serial = nvme::text_of(controller_->sn);
  info_.firmware = nvme::text_of(controller_->fr);
  info_.block_size = 1U << namespace_->format().data_shift();
  info_.blocks = namespace_->nsze;
  info_.max_depth = std::min<std::uint32_t>(cap_.max_queue_entries(), 32768);
  // MDTS counts the smallest pages; 0 says no limit, and then a command's own 65,536 blocks are one.
  const unsigned mdts = controller_->mdts;
  info_.max_transfer =
      mdts == 0 || mdts + cap_.min_page_shift() > 30 ? 1U << 30 : 1U << (mdts + cap_.min_page_shift());
  info_.volatile_write_cache = (controller_->vwc & 1U) != 0;
  info_.writable = (namespace_->nsattr & nvme::nsattr_write_protected) == 0;
}

void nvme_client::ask_for_queues(std::uint32_t wanted) {
  const std::uint32_t granted =
      admin(nvme::set_features(nvme::feature::number_of_queues, nvme::queue_counts(wanted, wanted)));
  info_.max_queues = std::min({wanted, nvme::submission_queues(granted), nvme::completion_queues(granted)});
  used_.assign(info_.max_queues + 1, false);
  kept_.assign(info_.max_queues + 1, false);
  used_[0] = true;
}

bus_address nvme_client::map(const memory::region& bytes) {
  const std::lock_guard lock(mutex_);
  return port_->map(bytes);
}

void nvme_client::unmap(const memory::region& bytes) {
  const std::lock_guard lock(mutex_);
  port_->unmap(bytes);
}

queue_grant nvme_client::create_queue(const queue_rings& rings, backend on, std::uint16_t again) {
  const std::lock_guard lock(mutex_);
  const std::uint16_t id = again != 0 && kept_[again] ? again : free_queue_id();
  port_->choose_lanes(id, on);
  admin(nvme::create_completion_queue(id, rings.depth, rings.completion));
  const admin_answer made =
      submit_admin(nvme::create_submission_queue(id, rings.depth, rings.submission, id));
  if (!made.code) {
    submit_admin(nvme::delete_completion_queue(id));
    fail("Create I/O Submission Queue was refused", made.code);
  }
  used_[id] = true;
  kept_[id] = false;
  return {id, port_->doorbell(nvme::submission_doorbell(id)), port_->doorbell(nvme::completion_doorbell(id))};
}

std::uint16_t nvme_client::free_queue_id() const {
  const auto free = std::find(used_.begin(), used_.end(), false);
  if (free == used_.end())
    throw error(error_kind::unavailable, "the drive has no queue left of " + std::to_string(info_.max_queues),
                "ask for fewer queues", {.drive = options_.uri});
  return static_cast<std::uint16_t>(free - used_.begin());
}

void nvme_client::delete_queue(std::uint16_t id, bool keep_id) {
  const std::lock_guard lock(mutex_);
  if (!kept_[id]) {
    admin(nvme::delete_submission_queue(id));
    admin(nvme::delete_completion_queue(id));
  }
  kept_[id] = keep_id;
  used_[id] = keep_id;
}

std::uint32_t nvme_client::get_feature(nvme::feature which) { return admin(nvme::get_features(which)); }

void nvme_client::set_feature(nvme::feature which, std::uint32_t value) {
  admin(nvme::set_features(which, value));
}

std::vector<nvme::error_information_entry> nvme_client::error_log() {
  const std::lock_guard lock(mutex_);
  admin(nvme::get_log_page(nvme::log_page::error_information, nvme::identify_bytes, scratch_at_));
  std::vector<nvme::error_information_entry> entries;
  for (const auto& entry : scratch_.host_as<nvme::error_information_entry>().first(controller_->elpe + 1U))
    if (entry.error_count != 0) entries.push_back(entry);
  return entries;
}

nvme::health_log nvme_client::health() {
  const std::lock_guard lock(mutex_);
  admin(nvme::get_log_page(nvme::log_page::health, sizeof(nvme::health_log), scratch_at_));
  return scratch_.host_as<nvme::health_log>()[0];
}

void nvme_client::request_event() {
  // The last slot is the event's own; commands never take it.
  slots_.back() = {.in_flight = true, .event = true};
  put(nvme::with_id(nvme::async_event_request(), admin_entries - 1));
}

std::vector<nvme::async_event> nvme_client::take_events() {
  const std::lock_guard lock(mutex_);
  reap();
  std::vector<nvme::async_event> events(events_.begin(), events_.end());
  events_.clear();
  if (events.empty()) return events;
  for (const nvme::async_event& event : events) {
    if (event.page() == nvme::log_page::health) health();
    if (event.page() == nvme::log_page::error_information) error_log();
  }
  request_event();
  return events;
}

void nvme_client::shut_down() {
  const std::lock_guard lock(mutex_);
  const std::uint32_t cc = port_->read32(reg::cc);
  if ((cc & 1U) == 0) return;
  port_->write32(reg::cc, cc | nvme::configuration::normal_shutdown);
  const bool done = wait_for(std::chrono::milliseconds(cap_.timeout_ms()),
                             [&] { return nvme::controller_status{port_->read32(reg::csts)}.shut_down(); });
  if (!done) fail("the controller did not finish its shutdown");
}

}  // namespace sluice::drive
