// `sluice drives`: what drives are and say of themselves.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "sluice/drive/open.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

namespace {

json row(const drive::drive_info& info) {
  return {{"uri", info.uri},         {"model", info.model},
          {"serial", info.serial},   {"block_size", info.block_size},
          {"blocks", info.blocks},   {"queues", info.max_queues},
          {"depth", info.max_depth}, {"mdts", info.max_transfer}};
}

std::string lines(const drive::drive_info& info) {
  return fmt::format(
      "{}\n  model       {}\n  serial      {}\n  size        {} ({} blocks of {} bytes)\n"
      "  queues      {}, up to {} entries deep\n  a command   up to {}\n",
      info.uri, info.model, info.serial, format_bytes(static_cast<double>(info.bytes())), info.blocks,
      info.block_size, info.max_queues, info.max_depth, format_bytes(info.max_transfer));
}

void list(context& with, const std::vector<std::string>& uris) {
  json rows = json::array();
  std::string text;
  for (const std::string& uri : uris) {
    context::stop_if_asked();
    const auto opened = drive::open(uri, {.mode = drive::access::read});
    rows.push_back(row(opened->info()));
    text += lines(opened->info());
  }
  with.print({{"drives", rows}}, text);
}

/// Gives a real SSD back to the kernel's driver. Only the user-space driver takes one away.
void release(const std::string& text) {
  const drive::uri name = drive::uri::parse(text);
  if (name.scheme() == "pci")
    throw error(error_kind::unavailable, "pci: drives are not supported by this build",
                "there is nothing to release: the kernel's own driver still has the device", {.drive = text});
  throw error(error_kind::bad_input, "a " + name.scheme() + ": drive is not taken from the kernel",
              "only pci: drives are released", {.drive = text});
}

}  // namespace

void add_drives(CLI::App& program, context& with) {
  CLI::App& drives = *program.add_subcommand("drives", "what drives are and say of themselves");
  drives.require_subcommand(1);

  auto uris = std::make_shared<std::vector<std::string>>();
  CLI::App& listing = with.add_command(
      drives,
      {"list", "identify drives: model, size, queues", "sluice drives list mem:1GiB file:/data/graph.slu"},
      runs_on::host);
  listing.add_option("uri", *uris, "drives to look at")->type_name("URI")->required();
  with.runs(listing, [&with, uris] { list(with, *uris); });

  auto uri = std::make_shared<std::string>();
  CLI::App& releasing = with.add_command(
      drives,
      {"release", "give a drive back to the kernel's driver", "sluice drives release pci:0000:41:00.0"},
      runs_on::host);
  releasing.add_option("uri", *uri, "the drive")->type_name("URI")->required();
  with.runs(releasing, [uri] { release(*uri); });
}

}  // namespace sluice::tool
