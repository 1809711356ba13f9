// From a text file to a graph on a volume.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/graph/csr.h"
#include "apps/graph/dataset_bytes.h"
#include "apps/graph/stored_graph.h"
#include "apps/graph/text_graph.h"
#include "sluice/drive/volume.h"

namespace sluice::graph {

/// A graph that has been read and can be stored.
struct loaded_graph {
  csr lists;
  vertex_names names;
  graph_facts facts;
  vertex_id first_vertex = 0;  ///< the number that the file gives the first vertex
};

struct load_options {
  std::string file;
  std::string names_file{};  ///< empty where vertices have no names
  text_options text{};
  csr_options lists{};
};

/// Reads graph and names. Throws error{bad_input} naming file and line of the first fault.
loaded_graph load_graph(load_options options);

/// Where an import goes: the drives of one volume, and how a new one lies over them.
struct import_target {
  std::vector<std::string> uris;
  drive::layout how = drive::layout::stripe;
  std::uint64_t unit = drive::largest_page;
};

/// What a person should know of an import that is done.
struct import_report {
  std::uint64_t bytes = 0;         ///< of the datasets
  std::vector<std::string> notes;  ///< the volume's
};

/// Stores the graph on the volume that lies on those drives, or on a new one; `file:` drives are created or
/// grown as it needs. A graph that was there is replaced, other datasets stay. Where it fails, nothing of it
/// is left. Throws error{bad_input} for drives that forget, hold something else, or are too small.
import_report import_graph(const loaded_graph& graph, const import_target& to,
                           const byte_progress& progress = {});

}  // namespace sluice::graph
