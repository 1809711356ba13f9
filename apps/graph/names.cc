#include "apps/graph/names.h"

#include <algorithm>
#include <cstring>

#include "sluice/base/error.h"

namespace sluice::graph {

vertex_names vertex_names::read(text_lines& lines) {
  vertex_names names;
  for (std::string_view line; lines.next(line);) {
    if (line.empty()) lines.refuse("the name of a vertex", line, "one name a line, that of vertex 0 first");
    names.text_ += line;
    names.starts_.push_back(names.text_.size());
  }
  return names;
}

std::optional<vertex_id> vertex_names::find(std::string_view name) const {
  for (std::uint64_t v = 0; v < size(); ++v)
    if ((*this)[v] == name) return static_cast<vertex_id>(v);
  return std::nullopt;
}

std::vector<std::byte> vertex_names::bytes() const {
  const std::uint64_t count = size();
  const std::size_t starts_bytes = starts_.size() * sizeof(std::uint64_t);
  std::vector<std::byte> all(sizeof count + starts_bytes + text_.size());
  std::memcpy(all.data(), &count, sizeof count);
  std::memcpy(all.data() + sizeof count, starts_.data(), starts_bytes);
  std::memcpy(all.data() + sizeof count + starts_bytes, text_.data(), text_.size());
  return all;
}

vertex_names vertex_names::from_bytes(const std::vector<std::byte>& bytes) {
  const auto refuse_unless = [](bool fits) {
    if (!fits) throw error(error_kind::corrupt, "the vertex names are damaged", "import the graph again");
  };
  std::uint64_t count = 0;
  refuse_unless(bytes.size() >= 2 * sizeof count);
  std::memcpy(&count, bytes.data(), sizeof count);
  const std::uint64_t words = (bytes.size() - sizeof count) / sizeof(std::uint64_t);
  refuse_unless(count < words);
  vertex_names names;
  names.starts_.resize(count + 1);
  const std::size_t starts_bytes = names.starts_.size() * sizeof(std::uint64_t);
  std::memcpy(names.starts_.data(), bytes.data() + sizeof count, starts_bytes);
  names.text_.resize(bytes.size() - sizeof count - starts_bytes);
  std::memcpy(names.text_.data(), bytes.data() + sizeof count + starts_bytes, names.text_.size());
  refuse_unless(names.starts_.front() == 0 && names.starts_.back() == names.text_.size() &&
                std::is_sorted(names.starts_.begin(), names.starts_.end()));
  return names;
}

}  // namespace sluice::graph
