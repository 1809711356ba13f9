// `sluice seal`: takes checksums of datasets, by which their pages are known again.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sluice/array/storage.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/command.h"

namespace sluice::tool {

namespace {

struct seal_choice {
  std::vector<std::string> uris;
  std::string dataset;
  std::uint32_t unit = drive::usual_seal_unit;
};

std::vector<drive::dataset> datasets_of(const drive::volume& volume, const seal_choice& choice) {
  if (!choice.dataset.empty()) return {volume.find(choice.dataset)};
  std::vector<drive::dataset> all = volume.datasets();
  std::erase_if(all, [](const drive::dataset& each) {
    return each.state != drive::dataset_state::complete || each.bytes == 0;
  });
  if (all.empty())
    throw error(error_kind::bad_input, "volume '" + volume.name() + "' holds no dataset to seal",
                "import one first");
  return all;
}

json row(const drive::sealing& done, std::uint32_t block_size) {
  const drive::dataset& of = done.of;
  const drive::seal_shape shape(of.bytes, of.sealed->unit, block_size);
  json object{{"name", of.name},      {"bytes", of.bytes},           {"unit", of.sealed->unit},
              {"pages", shape.units}, {"seal_bytes", shape.bytes()}, {"as_imported", nullptr}};
  if (done.as_imported) object["as_imported"] = *done.as_imported;
  return object;
}

void seal(context& with, const seal_choice& choice) {
  storage held = storage::open(choice.uris, {.mode = drive::access::write});
  drive::volume& volume = held.volume();
  const std::vector<drive::dataset> wanted = datasets_of(volume, choice);
  std::uint64_t total = 0;
  for (const drive::dataset& each : wanted) total += each.bytes;

  const auto began = std::chrono::steady_clock::now();
  json rows = json::array();
  std::string text;
  {
    progress bar("sealing", total);
    for (const drive::dataset& each : wanted) {
      const drive::sealing done = volume.seal_dataset(each.name, choice.unit, [&bar](std::uint64_t bytes) {
        context::stop_if_asked();
        bar.add(bytes);
      });
      rows.push_back(row(done, volume.block_size()));
      text += fmt::format("{}: {} pages of {}, their sums take {}\n", each.name,
                          rows.back()["pages"].get<std::uint64_t>(), format_bytes(choice.unit),
                          format_bytes(rows.back()["seal_bytes"].get<double>()));
      if (done.as_imported == false)
        with.note("dataset '" + each.name +
                  "' is not as it was imported: it was written since, or it is damaged");
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double rate = static_cast<double>(total) / seconds;
  text += fmt::format("sealed {} in {:.2f} s ({}/s)\n", format_bytes(static_cast<double>(total)), seconds,
                      format_bytes(rate));
  with.print({{"datasets", rows},
              {"bytes", total},
              {"seconds", seconds},
              {"bytes_per_s", rate},
              {"drives", choice.uris},
              {"version", version()}},
             text);
}

}  // namespace

void add_seal(CLI::App& program, context& with) {
  auto choice = std::make_shared<seal_choice>();
  CLI::App& command =
      with.add_command(program,
                       {"seal", "take checksums of a volume's datasets, to know their pages again",
                        "sluice seal file:/data/a.img file:/data/b.img"},
                       runs_on::host);
  command.add_option("uri", choice->uris, "all drives of the volume")->type_name("URI")->required();
  command.add_option("--dataset", choice->dataset, "the one to seal; else all");
  add_bytes(command, "--unit", "bytes that a sum covers: no more than the smallest page to be checked",
            choice->unit);
  with.runs(command, [&with, choice] { seal(with, *choice); });
}

}  // namespace sluice::tool
