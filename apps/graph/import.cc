#include "apps/graph/import.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sluice/array/storage.h"
#include "sluice/base/bits.h"
#include "sluice/base/error.h"
#include "sluice/drive/manifest.h"
#include "sluice/drive/uri.h"

namespace sluice::graph {

namespace {

namespace fs = std::filesystem;

bool forgets(const std::string& uri) { return drive::uri::parse(uri).forgets(); }

void need_memory_that_lasts(const import_target& to) {
  const auto forgetful = std::count_if(to.uris.begin(), to.uris.end(), forgets);
  const bool lasts = to.how == drive::layout::mirror ? forgetful < std::ssize(to.uris) : forgetful == 0;
  if (lasts) return;
  const std::string& named = *std::find_if(to.uris.begin(), to.uris.end(), forgets);
  throw error(error_kind::bad_input,
              named + " forgets at the end of the program: a graph imported there would be lost",
              "import to a file: or block: drive; --onto copies it into forgetful drives before a run",
              {.drive = named});
}

/// The files of `file:` drives that were not there before; they go again unless the import succeeds.
class new_files {
 public:
  explicit new_files(const std::vector<std::string>& uris) {
    for (const std::string& text : uris) {
      const drive::uri name = drive::uri::parse(text);
      if (name.scheme() != "file") continue;
      const bool there = fs::exists(name.subject());
      if (!there) paths_.push_back(name.subject());
      blank_ =
          blank_ || !there || (fs::is_regular_file(name.subject()) && fs::file_size(name.subject()) == 0);
    }
  }
  new_files(const new_files&) = delete;
  new_files& operator=(const new_files&) = delete;
  ~new_files() {
    std::error_code ignored;
    for (const std::string& path : paths_) fs::remove(path, ignored);
  }
  /// True where any file is not there, or empty.
  bool any_blank() const { return blank_; }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
  bool blank_ = false;
};

/// Bytes that datasets other than a graph's take.
std::uint64_t other_bytes(const drive::volume& of) {
  std::uint64_t sum = 0;
  for (const drive::dataset& each : of.datasets())
    if (each.kind != graph_kind) sum += align_up(each.bytes, drive::largest_page);
  return sum;
}

/// The volume that is there, where the graph can go into it.
std::optional<storage> existing_volume(const import_target& to, std::uint64_t bytes) {
  storage there = storage::open(to.uris, {.mode = drive::access::write});
  const drive::volume& volume = there.volume();
  const std::uint64_t others = other_bytes(volume);
  const bool as_asked = volume.how() == to.how && volume.unit() == to.unit;
  if (others != 0 || (as_asked && bytes <= volume.bytes())) return there;
  return std::nullopt;
}

/// Before a file grows for it.
void refuse_foreign(const std::vector<std::string>& uris) {
  for (const std::string& uri : uris) {
    const storage looked_at = storage::raw({{uri}}, {});
    if (drive::look_at_manifest_area(looked_at.volume().drive_at(0)) != drive::manifest_area::foreign)
      continue;
    throw error(error_kind::bad_input, uri + " holds something that is not a volume of this program",
                "name another drive, or clear it first", {.drive = uri});
  }
}

storage open_target(const import_target& to, std::uint64_t bytes, const new_files& made) {
  bool replaces = false;
  if (!made.any_blank()) {
    if (storage::holds_volume(to.uris)) {
      if (auto there = existing_volume(to, bytes)) return std::move(*there);
      replaces = true;
    } else {
      refuse_foreign(to.uris);
    }
  }
  const auto drives = static_cast<std::uint32_t>(to.uris.size());
  const drive::open_options options{
      .mode = drive::access::write,
      .create_bytes = drive::volume::drive_bytes_for(bytes, drives, to.how, to.unit)};
  return storage::create(to.uris, options, to.how, to.unit, "graph",
                         replaces ? drive::on_existing::replace : drive::on_existing::refuse);
}

}  // namespace

loaded_graph load_graph(load_options options) {
  loaded_graph loaded;
  if (!options.names_file.empty()) {
    text_lines lines = text_lines::open(options.names_file);
    loaded.names = vertex_names::read(lines);
    options.text.named_vertices = loaded.names.size();
  }
  text_lines lines = text_lines::open(options.file);
  const text_graph text = read_text_graph(lines, options.text);
  if (!loaded.names.empty() && loaded.names.size() != text.vertices)
    throw error(error_kind::bad_input,
                options.names_file + " has " + std::to_string(loaded.names.size()) + " names, and " +
                    options.file + " " + std::to_string(text.vertices) + " vertices",
                "give one name a line for each vertex, that of vertex 0 first");
  loaded.lists = build_csr(text.vertices, text.edges, options.lists);
  loaded.first_vertex = text.first_vertex;
  loaded.facts = {.vertices = text.vertices,
                  .edges = loaded.lists.targets.size(),
                  .symmetric = text.symmetric || options.lists.symmetrize,
                  .named = !loaded.names.empty(),
                  .from = fs::path(options.file).filename().string()};
  return loaded;
}

import_report import_graph(const loaded_graph& graph, const import_target& to,
                           const byte_progress& progress) {
  need_memory_that_lasts(to);
  new_files made(to.uris);
  const std::uint64_t bytes = volume_bytes(graph.lists, graph.names);
  storage target = open_target(to, bytes, made);
  store_graph(target.volume(), graph.lists, graph.names, graph.facts, progress);
  made.keep();
  return {bytes, target.volume().notes()};
}

}  // namespace sluice::graph
