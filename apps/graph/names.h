// What vertices are called: one name each, found by number and by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/graph/csr.h"
#include "apps/graph/text_lines.h"

namespace sluice::graph {

class vertex_names {
 public:
  /// One name a line, that of vertex 0 first. Throws error{bad_input} for an empty line.
  static vertex_names read(text_lines& lines);
  /// From the bytes that bytes() made. Throws error{corrupt}.
  static vertex_names from_bytes(const std::vector<std::byte>& bytes);

  std::uint64_t size() const { return starts_.size() - 1; }
  bool empty() const { return size() == 0; }
  std::string_view operator[](std::uint64_t vertex) const {
    return std::string_view(text_).substr(starts_[vertex], starts_[vertex + 1] - starts_[vertex]);
  }
  /// The first vertex of that name.
  std::optional<vertex_id> find(std::string_view name) const;
  /// As they are stored: how many, where each starts (and the last ends), all names in one run.
  std::vector<std::byte> bytes() const;

 private:
  std::vector<std::uint64_t> starts_{0};
  std::string text_;
};

}  // namespace sluice::graph
