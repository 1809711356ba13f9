// `sluice import`: files become datasets of a volume.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sluice/base/bits.h"
#include "sluice/base/crc32c.h"
#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/command.h"
#include "tools/sluice/import_target.h"

namespace sluice::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t chunk_bytes = 4 * MiB;

struct import_choice {
  std::vector<std::string> files;
  std::string format = "raw";
  std::string name;
  drive_choice to;
};

/// A file that was looked at and can be read.
struct source {
  std::string path;
  std::string dataset;
  std::uint64_t bytes = 0;
};

source look_at(const std::string& path, const std::string& name) {
  std::error_code fault;
  const fs::file_status what = fs::status(path, fault);
  if (!fs::exists(what)) refuse("there is no file '" + path + "'", "name one that exists");
  if (!fs::is_regular_file(what)) refuse("'" + path + "' is not a regular file", "name a file");
  if (!std::ifstream(path, std::ios::binary))
    refuse("'" + path + "' cannot be read", "look at its permissions");
  const std::uint64_t bytes = fs::file_size(path);
  if (bytes == 0) refuse("'" + path + "' is empty", "name a file that holds something");
  return {path, name.empty() ? fs::path(path).stem().string() : name, bytes};
}

std::vector<source> look_at_all(const import_choice& choice) {
  if (choice.format != "raw")
    refuse("--format " + choice.format + " is not supported yet", "import the file with --format raw");
  if (!choice.name.empty() && choice.files.size() > 1)
    refuse("--name names one dataset, and there are " + std::to_string(choice.files.size()) + " files",
           "import them one by one, or leave --name out: datasets are then called as their files");
  std::vector<source> sources;
  std::set<std::string> names;
  for (const std::string& path : choice.files) {
    sources.push_back(look_at(path, choice.name));
    if (!names.insert(sources.back().dataset).second)
      refuse("two files would both become the dataset '" + sources.back().dataset + "'",
             "import them one by one, with --name");
  }
  return sources;
}

/// The next bytes of the file, and zeroes up to a whole block.
void read_chunk(std::ifstream& file, const source& from, std::span<std::byte> bytes, std::uint64_t count) {
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end(), std::byte{0});
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count)))
    throw error(error_kind::io_failure, "'" + from.path + "' ended early, or could not be read",
                "import it while nobody changes it");
}

std::uint32_t copy(drive::volume& to, const drive::dataset& as, const source& from, progress& bar) {
  std::ifstream file(from.path, std::ios::binary);
  std::vector<std::byte> buffer(chunk_bytes);
  std::uint32_t checksum = 0;
  for (std::uint64_t at = 0; at < from.bytes; at += chunk_bytes) {
    context::stop_if_asked();
    const std::uint64_t count = std::min(chunk_bytes, from.bytes - at);
    const std::span<std::byte> whole = std::span(buffer).first(align_up(count, to.block_size()));
    read_chunk(file, from, whole, count);
    checksum = crc32c(whole.first(count), checksum);
    to.write(as.first_byte + at, whole);
    bar.add(count);
  }
  return checksum;
}

drive::dataset store(drive::volume& to, const source& from, progress& bar) {
  drive::dataset made = to.begin_dataset(from.dataset, "raw", from.bytes);
  made.checksum = copy(to, made, from, bar);
  return to.commit(made);
}

json row(const drive::dataset& made) {
  return {{"name", made.name}, {"kind", made.kind}, {"bytes", made.bytes}, {"checksum", *made.checksum}};
}

void import(context& with, const import_choice& choice) {
  const std::vector<source> sources = look_at_all(choice);
  need_drives_that_last(choice.to);
  std::vector<std::uint64_t> sizes;
  std::uint64_t total = 0;
  for (const source& each : sources) total += sizes.emplace_back(each.bytes);

  const auto began = std::chrono::steady_clock::now();
  new_files made(choice.to.uris);
  storage target = open_import_target(choice.to, sizes);
  for (const std::string& line : target.volume().notes()) with.note(line);
  json rows = json::array();
  std::string text;
  {
    progress bar("importing", total);
    for (const source& each : sources) {
      const drive::dataset stored = store(target.volume(), each, bar);
      made.keep();
      rows.push_back(row(stored));
      text += fmt::format("{} ({}) from {}\n", stored.name, format_bytes(static_cast<double>(stored.bytes)),
                          each.path);
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  const double rate = static_cast<double>(total) / seconds;
  text += fmt::format("imported {} in {:.2f} s ({}/s)\n", format_bytes(static_cast<double>(total)), seconds,
                      format_bytes(rate));
  with.print({{"datasets", rows},
              {"bytes", total},
              {"seconds", seconds},
              {"bytes_per_s", rate},
              {"drives", choice.to.uris},
              {"version", version()}},
             text);
}

}  // namespace

void add_import(CLI::App& program, context& with) {
  auto choice = std::make_shared<import_choice>();
  CLI::App& command =
      with.add_command(program,
                       {"import", "put files onto a volume, each as a dataset",
                        "sluice import taxi.bin --format raw --to file:/data/a.img --to file:/data/b.img"},
                       runs_on::host);
  command.add_option("file", choice->files, "what to import")->type_name("FILE")->required();
  command.add_option("--format", choice->format, "how the files are read")
      ->check(CLI::IsMember({"raw", "csv", "parquet", "arrow"}))
      ->capture_default_str();
  command.add_option("--name", choice->name, "the dataset's name; else the file's, without its extension");
  add_uris(command, "--to", "where it goes: a file: drive is made, or grows, as large as it needs",
           choice->to);
  add_layout(command, choice->to);
  with.runs(command, [&with, choice] { import(with, *choice); });
}

}  // namespace sluice::tool
