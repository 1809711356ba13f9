// From a URI to a drive: mem:, file: and block: are a medium, a software controller over it, and the host's
// driver.
#include "sluice/drive/open.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "controller/controller.h"
#include "controller/file_media.h"
#include "controller/memory_media.h"
#include "controller/software_port.h"
#include "controller/uri_options.h"
#include "drive/nvme_client.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/lock.h"

namespace sluice::drive {

namespace {

using controller::refuse;

struct opened {
  std::unique_ptr<controller::media> on;
  drive_lock held;
};

opened open_memory(const uri& name, const open_options& options) {
  const std::uint64_t bytes = parse_bytes(name.subject(), "the size of " + name.text());
  if (bytes == 0) refuse(name, "a mem: drive of no bytes", "give a size, such as mem:1GiB");
  return {std::make_unique<controller::memory_media>(bytes, options.mode == access::write), {}};
}

controller::file_engine take_engine(uri& name) {
  const std::string engine = name.take("io", "uring");
  if (engine == "uring") return controller::file_engine::best;
  if (engine == "threads") return controller::file_engine::threads;
  refuse(name, "option 'io' is '" + engine + "'", "use io=uring or io=threads");
}

/// Makes the file, under its lock, at least `bytes` long. Blocks in between read as zeroes.
void grow(const uri& name, std::uint64_t bytes) {
  const std::string& path = name.subject();
  std::error_code fault;
  const std::uint64_t now = std::filesystem::file_size(path, fault);
  if (!fault && now < bytes) std::filesystem::resize_file(path, bytes, fault);
  if (fault)
    throw error(error_kind::unavailable,
                "cannot make '" + path + "' " + format_bytes(static_cast<double>(bytes)) +
                    " long: " + fault.message(),
                "look at the path, its permissions and the free space", {.drive = name.text()});
}

opened open_file(uri& name, const open_options& options, const controller::file_options& how) {
  const std::string& path = name.subject();
  const std::uint64_t bytes = std::max(name.take_bytes("size", 0), options.create_bytes);
  name.finish();
  const bool creates = options.mode == access::write && bytes > 0;
  if (!std::filesystem::exists(path)) {
    if (!creates)
      refuse(name, "there is no file '" + path + "'", "name another one, or open it for writing with size=");
    std::ofstream(path, std::ios::app);  // created empty; what is there already stays
  }
  drive_lock held(path, options.mode, name.text());
  if (creates) grow(name, bytes);
  return {std::make_unique<controller::file_media>(path, how), std::move(held)};
}

opened open_device(const uri& name, const open_options& options, controller::file_options how) {
  name.finish();
  how.device = true;
  drive_lock held(name.subject(), options.mode, name.text());
  return {std::make_unique<controller::file_media>(name.subject(), how), std::move(held)};
}

opened open_medium(uri& name, const open_options& options, std::uint32_t block_size) {
  if (name.scheme() == "mem") {
    name.finish();
    return open_memory(name, options);
  }
  const controller::file_options how{
      .writable = options.mode == access::write, .block_size = block_size, .engine = take_engine(name)};
  return name.scheme() == "file" ? open_file(name, options, how) : open_device(name, options, how);
}

}  // namespace

std::unique_ptr<drive> open_software_controller(uri name, const open_options& options) {
  controller::uri_options taken = controller::take_options(name, options, 256);
  controller::controller_options& wanted = taken.controller;
  opened medium = open_medium(name, options, taken.block_chosen ? wanted.block_size : 0);
  wanted.block_size = std::max(wanted.block_size, medium.on->traits().block_size);
  if (medium.on->traits().bytes < wanted.block_size)
    refuse(name, "the drive is smaller than one block of " + std::to_string(wanted.block_size) + " bytes",
           "make it larger");
  const bool forgets = medium.on->traits().forgets;
  auto served = std::make_unique<controller::controller>(std::move(medium.on), wanted);
  auto port = std::make_unique<controller::software_port>(std::move(served), std::move(medium.held));
  return std::make_unique<nvme_client>(std::move(port),
                                       nvme_client_options{.uri = name.text(),
                                                           .max_queues = wanted.max_queues,
                                                           .forgets = forgets,
                                                           .deadline_ms = taken.deadline_ms});
}

}  // namespace sluice::drive
