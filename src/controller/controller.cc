#include "controller/controller.h"

#include <utility>

#include "controller/nap.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::controller {

namespace reg = nvme::reg;

namespace {

constexpr std::uint32_t timeout_units = 20;         // CAP.TO: 10 s
constexpr std::uint32_t max_page_field = 4;         // CAP.MPSMAX: 64 KiB
constexpr std::uint64_t admin_nap_ns = 50'000'000;  // how late a stray doorbell may be noticed

identity identity_of(const media& on, const controller_options& o) {
  return {.serial = o.serial,
          .block_shift = log2_exact(o.block_size),
          .blocks = divide_up(on.traits().bytes, o.block_size),
          .max_transfer = o.max_transfer,
          .writable = on.traits().writable};
}

std::vector<std::unique_ptr<service_thread>> make_threads(media& on, const controller_options& o,
                                                          const fault_dice& dice, event_log& log) {
  std::vector<std::unique_ptr<service_thread>> threads;
  for (unsigned i = 0; i < o.threads; ++i)
    threads.push_back(std::make_unique<service_thread>(on, o.media_depth, dice, log, i));
  return threads;
}

}  // namespace

/// The admin queue pair while the controller is enabled.
struct controller::admin_ring {
  completion_queue completions;
  submission_queue submissions;

  admin_ring(nvme::submission_entry* sq, std::uint32_t sq_entries, nvme::completion_entry* cq,
             std::uint32_t cq_entries, const doorbells& bells)
      : completions(0, cq, cq_entries, bells.host(backend::cpu, nvme::completion_doorbell(0))),
        submissions(0, sq, sq_entries, bells.host(backend::cpu, nvme::submission_doorbell(0)), completions,
                    backend::cpu) {}
};

controller::controller(std::unique_ptr<media> on, const controller_options& options, queue_server* others)
    : media_(std::move(on)),
      options_(options),
      others_(others),
      dice_(options.faults),
      log_([this] { mailbox_.kick(); }),
      bells_(2 * (options.max_queues + 1)),
      threads_(make_threads(*media_, options_, dice_, log_)),
      queues_(threads_, bells_, others, options.max_queues, options.max_depth),
      admin_(
          *media_, identity_of(*media_, options_), queues_, log_,
          [this](nvme::health_log& health) { fill_health(health); },
          [this](bool cached) {
            limits_.write_through = !cached;
            set_limits(limits_);
          }),
      cap_(nvme::capabilities::make(options.max_depth, timeout_units, doorbells::stride_field, 0,
                                    max_page_field)) {
  const identity self = identity_of(*media_, options_);
  limits_ = {.block_shift = self.block_shift,
             .blocks = self.blocks,
             .max_transfer = self.max_transfer,
             .writable = self.writable};
  set_limits(limits_);
  thread_ = std::thread([this] { run(); });
}

controller::~controller() {
  mailbox_.call([this] {
    disable();
    stop_ = true;
  });
  thread_.join();
}

std::uint64_t controller::read_register(std::uint32_t offset, unsigned bytes) const {
  const auto half_of = [&](std::uint64_t whole, std::uint32_t base) {
    const std::uint64_t shifted = whole >> (8 * (offset - base));
    return bytes == 8 ? shifted : shifted & 0xffffffffU;
  };
  switch (offset) {
    case reg::cap:
    case reg::cap + 4:
      return half_of(cap_.bits, reg::cap);
    case reg::vs:
      return nvme::version_2_0;
    case reg::cc:
      return cc_.load();
    case reg::csts:
      return csts_.load();
    case reg::aqa:
      return aqa_.load();
    case reg::asq:
    case reg::asq + 4:
      return half_of(asq_.load(), reg::asq);
    case reg::acq:
    case reg::acq + 4:
      return half_of(acq_.load(), reg::acq);
    default:
      return 0;  // reserved, or not offered; doorbells read as nothing in particular
  }
}

void controller::write_register(std::uint32_t offset, std::uint64_t value, unsigned bytes) {
  const auto low = static_cast<std::uint32_t>(value);
  const auto merge = [&](std::atomic<std::uint64_t>& whole, bool high_half) {
    if (bytes == 8) return whole.store(value);
    const std::uint64_t old = whole.load();
    whole.store(high_half ? (old & 0xffffffffU) | std::uint64_t{low} << 32 : (old & ~0xffffffffULL) | low);
  };
  if (offset >= reg::doorbells) {
    const std::uint32_t index = (offset - reg::doorbells) / doorbells::stride;
    if ((offset - reg::doorbells) % doorbells::stride != 0 || index >= bells_.count()) return;
    return lane::ring(doorbell(index), low);
  }
  switch (offset) {
    case reg::cc:
      cc_.store(low);
      mailbox_.kick();
      break;
    case reg::aqa:
      aqa_.store(low);
      break;
    case reg::asq:
    case reg::asq + 4:
      merge(asq_, offset != reg::asq);
      break;
    case reg::acq:
    case reg::acq + 4:
      merge(acq_, offset != reg::acq);
      break;
    default:
      break;  // read only or reserved
  }
}

void controller::choose_lanes(std::uint16_t id, backend on) {
  if (others_ == nullptr || !others_->serves(on)) bells_.provide(on);
  queues_.choose_lanes(id, on);
}

lane::doorbell controller::doorbell(std::uint32_t index) {
  if (index < 2) return {bells_.lanes(backend::cpu, index), mailbox_.sleeper()};
  const auto queue = static_cast<std::uint16_t>(index / 2);
  const backend on = queues_.lanes_of(queue);
  if (others_ != nullptr && others_->serves(on)) return others_->doorbell(index);
  return {bells_.lanes(on, index), on == backend::cpu ? queues_.sleeper_of(queue) : nullptr};
}

void controller::map(bus_address at, std::uint64_t bytes) {
  mailbox_.call([&] {
    regions_.add(at, bytes);
    publish_regions();
  });
}

void controller::unmap(bus_address at, std::uint64_t bytes) {
  bool used = false;
  mailbox_.call([&] {
    used = queues_.uses(at, bytes);
    if (used) return;
    regions_.remove(at, bytes);
    publish_regions();
  });
  if (used)
    throw error(error_kind::in_use, "memory of an open queue's ring cannot be unmapped",
                "delete the queue first");
}

void controller::publish_regions() {
  admin_.regions = regions_;
  for (auto& thread : threads_) thread->call([&] { thread->exchange_regions(regions_); });
}

void controller::set_limits(const limits& bounds) {
  for (auto& thread : threads_) thread->call([&] { thread->work().bounds = bounds; });
  if (others_ != nullptr) others_->set_limits(bounds);
}

served_counts controller::sum() const {
  served_counts sum = others_ != nullptr ? others_->counts() : served_counts{};
  for (const auto& thread : threads_) {
    const tallies& t = thread->counts();
    sum.io.served += t.served.get();
    sum.io.dropped += t.dropped.get();
    sum.io.failed += t.failed.get();
    sum.io.bytes_read += t.bytes_read.get();
    sum.io.bytes_written += t.bytes_written.get();
    sum.reads += t.reads.get();
    sum.writes += t.writes.get();
    sum.media_errors += t.media_errors.get();
  }
  return sum;
}

void controller::fill_health(nvme::health_log& health) const {
  constexpr std::uint64_t unit = 512'000;  // thousands of 512 bytes
  const served_counts done = sum();
  health.available_spare = 100;
  health.spare_threshold = 10;
  constexpr std::uint16_t kelvin = 303;
  health.temperature[0] = kelvin & 0xff;
  health.temperature[1] = kelvin >> 8;
  health.data_units_read.low = divide_up(done.io.bytes_read, unit);
  health.data_units_written.low = divide_up(done.io.bytes_written, unit);
  health.host_reads.low = done.reads;
  health.host_writes.low = done.writes;
  health.media_errors.low = done.media_errors;
  health.power_cycles.low = 1;
  health.error_log_entries.low = log_.count();
}

void controller::run() {
  set_fine_timers();
  while (!stop_.load(std::memory_order_relaxed)) {
    bool moved = mailbox_.deliver();
    moved |= apply_configuration();
    moved |= serve_admin();
    if (others_ != nullptr) others_->report(log_);
    if (queues_.stray_ring()) log_.raise(nvme::error_event::invalid_doorbell_register);
    if (ring_) moved |= admin_.deliver_events(ring_->submissions);
    if (moved) continue;
    mailbox_.sleep(admin_nap_ns, [this] {
      return cc_.load() != applied_cc_ ||
             (ring_ && (ring_->submissions.stirred() || ring_->completions.stirred()));
    });
  }
}

bool controller::apply_configuration() {
  const std::uint32_t wanted = cc_.load();
  if (wanted == applied_cc_) return false;
  const nvme::configuration before{applied_cc_}, now{wanted};
  applied_cc_ = wanted;
  if (before.enabled() && !now.enabled()) disable();
  if (!before.enabled() && now.enabled())
    csts_.store(enable() ? nvme::controller_status::ready_bit
                         : nvme::controller_status::ready_bit | nvme::controller_status::fatal_bit);
  if (before.shutdown() == 0 && now.shutdown() != 0) shut_down();
  return true;
}

/// NVMe Base 2.0, 3.5.1: from CC.EN to CSTS.RDY. False where the host has configured what is not offered.
bool controller::enable() {
  const nvme::configuration cc{cc_.load()};
  const nvme::admin_queue_attributes aqa{aqa_.load()};
  if (cc.page_shift() < cap_.min_page_shift() || cc.page_shift() > cap_.max_page_shift()) return false;
  if (cc.command_set() != 0 || cc.arbitration() != 0) return false;
  if (cc.submission_entry_shift() != 6 || cc.completion_entry_shift() != 4) return false;
  if (aqa.submission_entries() < 2 || aqa.completion_entries() < 2) return false;
  const std::uint32_t page = 1U << cc.page_shift();
  const bus_address asq{asq_.load()}, acq{acq_.load()};
  if (asq.value % page != 0 || acq.value % page != 0) return false;
  std::byte* sq =
      regions_.reach(asq, std::uint64_t{aqa.submission_entries()} * sizeof(nvme::submission_entry));
  std::byte* cq =
      regions_.reach(acq, std::uint64_t{aqa.completion_entries()} * sizeof(nvme::completion_entry));
  if (sq == nullptr || cq == nullptr) return false;

  bells_.reset(backend::cpu, nvme::submission_doorbell(0));
  bells_.reset(backend::cpu, nvme::completion_doorbell(0));
  ring_ = std::make_unique<admin_ring>(
      reinterpret_cast<nvme::submission_entry*>(sq), aqa.submission_entries(),
      reinterpret_cast<nvme::completion_entry*>(cq), aqa.completion_entries(), bells_);
  admin_.page = limits_.page = page;
  set_limits(limits_);
  return true;
}

void controller::disable() {
  admin_.reset();
  ring_.reset();
  csts_.store(0);
}

/// NVMe Base 2.0, 3.6.1: what was written lasts before the shutdown is called complete.
void controller::shut_down() {
  csts_.store(csts_.load() | nvme::controller_status::shutdown_occurring);
  queues_.delete_all();
  const bool lasting = media_->sync();
  const std::uint32_t others = csts_.load() & ~nvme::controller_status::shutdown_mask;
  csts_.store(others | nvme::controller_status::shutdown_complete |
              (lasting ? 0 : nvme::controller_status::fatal_bit));
}

bool controller::serve_admin() {
  if (!ring_) return false;
  submission_queue& queue = ring_->submissions;
  const ring_news tail = queue.look(), head = ring_->completions.look();
  if (tail == ring_news::invalid || head == ring_news::invalid)
    log_.raise(nvme::error_event::invalid_doorbell_value);
  bool moved = ring_->completions.pump();
  while (queue.waiting() > 0 && !ring_->completions.has_backlog()) {
    const nvme::submission_entry entry = queue.peek(0);
    queue.advance(1);
    if (others_ != nullptr) others_->report(log_);
    admin_.execute(queue, entry);
    moved = true;
  }
  return moved;
}

}  // namespace sluice::controller
