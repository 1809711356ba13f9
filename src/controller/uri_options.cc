#include "controller/uri_options.h"

#include <algorithm>

#include "sluice/base/bits.h"
#include "sluice/base/error.h"

namespace sluice::controller {

namespace {

std::uint32_t take_power(drive::uri& name, const char* key, std::uint32_t otherwise, std::uint32_t least,
                         std::uint32_t most) {
  const std::uint64_t value = name.take_bytes(key, otherwise);
  if (!is_power_of_two(value) || value < least || value > most)
    refuse(name, std::string("option '") + key + "' is " + std::to_string(value),
           "use a power of two from " + std::to_string(least) + " to " + std::to_string(most));
  return static_cast<std::uint32_t>(value);
}

std::uint32_t take_queues(drive::uri& name, std::uint32_t otherwise) {
  const std::uint64_t value = name.take_count("queues", otherwise);
  constexpr std::uint64_t most = 4096;
  if (value < 1 || value > most)
    refuse(name, "option 'queues' is " + std::to_string(value), "use 1 to " + std::to_string(most));
  return static_cast<std::uint32_t>(value);
}

}  // namespace

void refuse(const drive::uri& name, const std::string& message, const std::string& mend) {
  throw error(error_kind::bad_input, message, mend, {.drive = name.text()});
}

uri_options take_options(drive::uri& name, const drive::open_options& options, std::uint32_t queues) {
  uri_options taken;
  controller_options& wanted = taken.controller;
  wanted.threads = std::max(1U, options.controller_threads);
  wanted.faults = name.take_faults();
  wanted.max_queues = take_queues(name, queues);
  wanted.max_depth = take_power(name, "depth", wanted.max_depth, 2, 32768);
  // From two of the smallest pages on: identify has no word for one, where 0 says "no limit" (NVMe Base 2.0,
  // figure 275).
  wanted.max_transfer = take_power(name, "mdts", wanted.max_transfer, 8192, 2U << 20);
  taken.block_chosen = name.has("block");
  wanted.block_size = take_power(name, "block", 512, 512, 64U << 10);
  taken.deadline_ms = name.take_deadline_ms();
  return taken;
}

}  // namespace sluice::controller
