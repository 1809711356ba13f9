#include "controller/feature_set.h"

#include "sluice/nvme/status_codes.h"

namespace sluice::controller {

namespace code = nvme::code;
using nvme::do_not_retry;
using nvme::feature;

void feature_set::reset() {
  initial_ = {};
  initial_[static_cast<std::size_t>(feature::arbitration)] = 7;  // no limit to the burst
  initial_[static_cast<std::size_t>(feature::temperature_threshold)] = 0xffff;
  initial_[static_cast<std::size_t>(feature::volatile_write_cache)] = write_cache_ ? 1 : 0;
  now_ = initial_;
}

bool feature_set::knows(std::uint32_t identifier, bool write_cache) {
  switch (static_cast<feature>(identifier)) {
    case feature::volatile_write_cache:
      return write_cache;
    case feature::arbitration:
    case feature::power_management:
    case feature::temperature_threshold:
    case feature::error_recovery:
    case feature::number_of_queues:
    case feature::interrupt_coalescing:
    case feature::interrupt_vector:
    case feature::write_atomicity:
    case feature::async_event_configuration:
      return identifier <= 0xff;
  }
  return false;
}

status feature_set::set(std::uint32_t identifier, std::uint32_t value) {
  if (!knows(identifier, write_cache_)) return do_not_retry(code::invalid_field);
  const auto which = static_cast<feature>(identifier);
  constexpr std::uint32_t power_state = 0x1f;  // only state 0 exists
  if (which == feature::power_management && (value & power_state) != 0)
    return do_not_retry(code::invalid_field);
  if (which == feature::volatile_write_cache) value &= 1U;
  store(which, value);
  return status::ok;
}

status feature_set::get(std::uint32_t identifier, std::uint32_t select, std::uint32_t& value) const {
  if (!knows(identifier, write_cache_)) return do_not_retry(code::invalid_field);
  constexpr std::uint32_t changeable = 1U << 2;
  switch (static_cast<nvme::feature_select>(select)) {
    case nvme::feature_select::current:
      value = now_[identifier];
      return status::ok;
    case nvme::feature_select::initial:
    case nvme::feature_select::saved:
      value = initial_[identifier];
      return status::ok;
    case nvme::feature_select::supported:
      value = changeable;
      return status::ok;
  }
  return do_not_retry(code::invalid_field);
}

}  // namespace sluice::controller
