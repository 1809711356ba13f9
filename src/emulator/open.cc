// From an emu: URI to a drive.
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "controller/uri_options.h"
#include "drive/nvme_client.h"
#include "emulator/emulated_media.h"
#include "emulator/emulated_port.h"
#include "emulator/residents.h"
#include "emulator/stamp_media.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/open.h"
#include "sluice/emulator/drive_model.h"

namespace sluice::drive {

namespace {

using controller::refuse;
using emulator::drive_model;

constexpr std::uint32_t most_queues_unasked = 2048;
constexpr std::uint32_t processors_unasked = 4, most_processors = 1024;

/// One figure of a model, changed where the URI says so.
void take_figure(uri& name, const char* key, double& figure) {
  figure = name.take_real(key, figure);
  if (!std::isfinite(figure) || figure <= 0)
    refuse(name, std::string("option '") + key + "' is not above 0",
           "leave it out, or give a positive number");
}

/// The drive's model; none where it is as fast as it goes.
std::optional<drive_model> take_model(uri& name) {
  if (name.subject() == "ideal") return std::nullopt;
  drive_model model = emulator::find_drive_model(name.subject());
  take_figure(name, "latency_us", model.latency_us);
  take_figure(name, "read_iops_512", model.read.commands_512);
  take_figure(name, "read_iops_4k", model.read.commands_4k);
  take_figure(name, "read_bytes_s", model.read.bytes_per_s);
  take_figure(name, "write_iops_512", model.write.commands_512);
  take_figure(name, "write_iops_4k", model.write.commands_4k);
  take_figure(name, "write_bytes_s", model.write.bytes_per_s);
  return model;
}

std::uint64_t take_ns(uri& name, const char* key, double otherwise_us) {
  const double us = name.take_real(key, otherwise_us);
  constexpr double most = 1e7;
  if (!(us >= 0 && us <= most))
    refuse(name, std::string("option '") + key + "' is out of range", "use 0 to 10000000 microseconds");
  return static_cast<std::uint64_t>(us * 1e3);
}

emulator::service_times take_times(uri& name, backend on) {
  const std::optional<drive_model> model = take_model(name);
  if (!model) return {};
  // What a command alone takes on ideal drives, from before its submission to after its answer: one H200,
  // docs/results; a CPU's threads take what they take.
  constexpr double overhead_us = 4.5;
  const std::uint64_t overhead = take_ns(name, "overhead_us", on == backend::cuda ? overhead_us : 0);
  return emulator::service_times_of(*model, overhead, take_ns(name, "jitter_us", 0));
}

memory::place take_place(uri& name) {
  const std::string media = name.take("media", "gpu");
  if (media == "gpu") return memory::place::device;
  if (media == "host") return memory::place::pinned;
  refuse(name, "option 'media' is '" + media + "'", "use media=gpu or media=host");
}

std::uint32_t take_processors(uri& name) {
  const std::uint64_t value = name.take_count("sms", processors_unasked);
  if (value < 1 || value > most_processors)
    refuse(name, "option 'sms' is " + std::to_string(value),
           "use 1 or more, but leave some of the GPU's for lanes");
  return static_cast<std::uint32_t>(value);
}

/// Bytes that a drive without a model serves at a time. GPU memory, and host memory that address translation
/// reaches, are served at once.
std::uint64_t take_region(uri& name, memory::place place, std::uint64_t size,
                          const emulator::resident_options& how) {
  constexpr std::uint64_t reached = 2 * GiB, unasked = 512 * MiB, least = 64 * KiB;
  const bool asked = name.has("region");
  const bool far = place == memory::place::pinned && size > reached;
  const std::uint64_t region = name.take_bytes("region", far ? unasked : 0);
  if (asked && how.times.any) refuse(name, "region= goes with emu:ideal only", "leave it out");
  if (how.times.any || how.faults.any()) return 0;
  if (region != 0 && (!is_power_of_two(region) || region < least))
    refuse(name, "option 'region' is " + std::to_string(region),
           "use a power of two from 64 KiB, or 0 for none");
  return region;
}

/// Copies a file's bytes to the front of the media.
void load(const uri& name, const std::string& path, const memory::region& to) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(name, "cannot read '" + path + "'", "name a file that holds the drive's first bytes");
  std::vector<std::byte> chunk(4 * MiB);
  for (std::uint64_t at = 0; at < to.bytes;) {
    const std::uint64_t wanted = std::min<std::uint64_t>(chunk.size(), to.bytes - at);
    file.read(reinterpret_cast<char*>(chunk.data()), static_cast<std::streamsize>(wanted));
    const auto came = static_cast<std::size_t>(file.gcount());
    memory::copy_in(to, at, std::span(chunk).first(came));
    at += came;
    if (came < wanted) return;
  }
}

}  // namespace

std::unique_ptr<drive> open_emulated_drive(uri name, const open_options& options) {
  if (name.has("count")) refuse(name, "count= makes several drives", "leave it out where one drive is named");
  const backend on = options.machine == nullptr ? backend::cpu : options.machine->kind();
  const controller::uri_options taken = controller::take_options(name, options, most_queues_unasked);
  emulator::resident_options wanted{.processors = take_processors(name),
                                    .max_queues = taken.controller.max_queues,
                                    .bell_count = 2 * (taken.controller.max_queues + 1),
                                    .media = nullptr,
                                    .faults = taken.controller.faults,
                                    .times = take_times(name, on)};
  const memory::place place = take_place(name);
  const std::uint64_t bytes = name.take_bytes("size", GiB);
  const std::string from = name.take("from", "");
  wanted.media_bytes = bytes;
  wanted.region_bytes = take_region(name, place, bytes, wanted);
  name.finish();
  if (bytes < taken.controller.block_size)
    refuse(name,
           "the drive is smaller than one block of " + std::to_string(taken.controller.block_size) + " bytes",
           "make it larger: size=");

  auto media = std::make_unique<emulator::emulated_media>(
      memory::buffer(on, place, bytes), "Sluice emulated " + name.subject(), options.mode == access::write);
  if (from == "stamps")
    emulator::stamp_media(options.machine, media->bytes());
  else if (!from.empty())
    load(name, from, media->bytes());
  wanted.media = media->bytes().lanes;
  auto residents = std::make_unique<emulator::residents>(options.machine, wanted);
  auto admin = std::make_unique<controller::controller>(std::move(media), taken.controller, residents.get());
  auto port = std::make_unique<emulator::emulated_port>(std::move(residents), std::move(admin));
  return std::make_unique<nvme_client>(std::move(port),
                                       nvme_client_options{.uri = name.text(),
                                                           .max_queues = wanted.max_queues,
                                                           .forgets = true,
                                                           .media = place,
                                                           .deadline_ms = taken.deadline_ms});
}

}  // namespace sluice::drive
