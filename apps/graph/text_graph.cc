#include "apps/graph/text_graph.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

#include "sluice/base/error.h"

namespace sluice::graph {

namespace {

constexpr std::string_view matrix_market_banner = "%%MatrixMarket";

bool is_separator(char c) { return c == ' ' || c == '\t' || c == ',' || c == ';' || c == ':' || c == '|'; }

/// Takes fields off the front of a line.
class fields {
 public:
  explicit fields(std::string_view line) : rest_(line) { skip_separators(); }

  bool at_end() const { return rest_.empty(); }
  bool at_comment() const { return rest_.front() == '#' || rest_.front() == '%'; }

  /// A whole number that ends at a separator or the end; false where there is none, or it is too large.
  bool take_number(std::uint64_t& number) {
    const auto [stop, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const auto length = static_cast<std::size_t>(stop - rest_.data());
    if (fault != std::errc{} || (length < rest_.size() && !is_separator(rest_[length]))) return false;
    rest_.remove_prefix(length);
    skip_separators();
    return true;
  }
  bool take_real() {
    double number = 0;
    const auto [stop, fault] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const auto length = static_cast<std::size_t>(stop - rest_.data());
    if ((fault != std::errc{} && fault != std::errc::result_out_of_range) ||
        (length < rest_.size() && !is_separator(rest_[length])))
      return false;
    rest_.remove_prefix(length);
    skip_separators();
    return true;
  }
  /// A word in small letters; empty at the end.
  std::string take_word() {
    std::size_t length = 0;
    while (length < rest_.size() && !is_separator(rest_[length])) ++length;
    std::string word(rest_.substr(0, length));
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    rest_.remove_prefix(length);
    skip_separators();
    return word;
  }

 private:
  void skip_separators() {
    std::size_t n = 0;
    while (n < rest_.size() && is_separator(rest_[n])) ++n;
    rest_.remove_prefix(n);
  }
  std::string_view rest_;
};

/// Tells of progress, but not for every line.
class teller {
 public:
  teller(const text_lines& lines, const text_options& options) : lines_(lines), options_(options) {}
  void tell() {
    if (options_.progress && (++calls_ & 0xffffU) == 0) options_.progress(lines_.bytes_read());
  }

 private:
  const text_lines& lines_;
  const text_options& options_;
  std::uint64_t calls_ = 0;
};

// --- edge lists

/// What the numbers of an edge list say about themselves.
struct numbers_seen {
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t largest = 0;
  void see(std::uint64_t number) {
    smallest = std::min(smallest, number);
    largest = std::max(largest, number);
  }
};

/// Names settle it where they can: then the largest number is as many as there are names, or one less.
vertex_id first_vertex(const numbers_seen& seen, const text_options& options) {
  if (options.first_vertex) return *options.first_vertex;
  if (seen.smallest == 0) return 0;
  return options.named_vertices == 0 || seen.largest >= options.named_vertices ? 1 : 0;
}

[[noreturn]] void refuse_vertex(const text_lines& lines, std::string_view line, const text_options& options) {
  const std::uint64_t least = options.first_vertex.value_or(0);
  lines.refuse(
      "two vertices numbered " + std::to_string(least) + " to " + std::to_string(options.most - 1 + least),
      line);
}

void read_edge_line(const text_lines& lines, std::string_view line, const text_options& options,
                    numbers_seen& seen, text_graph& graph) {
  fields rest(line);
  if (rest.at_end() || rest.at_comment()) return;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  if (!rest.take_number(from) || !rest.take_number(to) || !rest.at_end())
    lines.refuse("two vertex numbers", line,
                 "comments start with # or %; a Matrix Market file with %%MatrixMarket");
  const std::uint64_t least = options.first_vertex.value_or(0);
  // Numbers counted from 1 reach one further; which it is may only be known at the end.
  const std::uint64_t most = options.first_vertex == vertex_id{0} ? options.most - 1 : options.most;
  if (std::min(from, to) < least || std::max(from, to) > most) refuse_vertex(lines, line, options);
  seen.see(from);
  seen.see(to);
  graph.edges.push_back({static_cast<vertex_id>(from), static_cast<vertex_id>(to)});
}

void number_from_zero(const text_lines& lines, const numbers_seen& seen, const text_options& options,
                      text_graph& graph) {
  graph.first_vertex = first_vertex(seen, options);
  graph.vertices = std::max(seen.largest + 1 - graph.first_vertex, options.named_vertices);
  if (graph.vertices > options.most)
    throw error(error_kind::bad_input, lines.file() + ": vertex " + std::to_string(seen.largest) +
                                           " is too large: there may be " + std::to_string(options.most) +
                                           " vertices");
  if (graph.first_vertex == 0) return;
  for (edge& each : graph.edges) each = {each.from - graph.first_vertex, each.to - graph.first_vertex};
}

text_graph read_edge_list(text_lines& lines, std::string_view line, bool has_line,
                          const text_options& options) {
  text_graph graph{.format = text_format::edge_list};
  numbers_seen seen;
  teller progress(lines, options);
  for (; has_line; has_line = lines.next(line)) {
    read_edge_line(lines, line, options, seen, graph);
    progress.tell();
  }
  if (graph.edges.empty())
    throw error(error_kind::bad_input, lines.file() + ": holds no edge",
                "an edge list has two vertex numbers a line");
  number_from_zero(lines, seen, options, graph);
  return graph;
}

// --- Matrix Market (https://math.nist.gov/MatrixMarket/formats.html)

struct matrix_kind {
  bool has_values = false;
  bool symmetric = false;
};

matrix_kind read_banner(const text_lines& lines, std::string_view line) {
  fields rest(line);
  const std::array words{rest.take_word(), rest.take_word(), rest.take_word(), rest.take_word(),
                         rest.take_word()};
  const auto is_one_of = [](const std::string& word, std::initializer_list<std::string_view> choices) {
    return std::find(choices.begin(), choices.end(), word) != choices.end();
  };
  const bool fits = words[0] == "%%matrixmarket" && words[1] == "matrix" && words[2] == "coordinate" &&
                    is_one_of(words[3], {"pattern", "integer", "real"}) &&
                    is_one_of(words[4], {"general", "symmetric"}) && rest.at_end();
  if (!fits)
    lines.refuse("'%%MatrixMarket matrix coordinate pattern|integer|real general|symmetric'", line,
                 "complex, skew-symmetric and dense matrices are no graphs");
  return {words[3] != "pattern", words[4] == "symmetric"};
}

/// The next line that is neither a comment nor empty.
bool next_content(text_lines& lines, std::string_view& line) {
  while (lines.next(line)) {
    const fields rest(line);
    if (!rest.at_end() && !rest.at_comment()) return true;
  }
  return false;
}

struct matrix_size {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t entries = 0;
};

matrix_size read_size(text_lines& lines, const text_options& options) {
  std::string_view line;
  if (!next_content(lines, line)) lines.refuse("rows, columns and entries", "the end of the file");
  fields rest(line);
  matrix_size size;
  if (!rest.take_number(size.rows) || !rest.take_number(size.columns) || !rest.take_number(size.entries) ||
      !rest.at_end())
    lines.refuse("rows, columns and entries", line);
  if (size.rows != size.columns) lines.refuse("as many rows as columns, as a graph has", line);
  if (size.rows > options.most) lines.refuse("at most " + std::to_string(options.most) + " rows", line);
  return size;
}

void read_entry(const text_lines& lines, std::string_view line, matrix_kind kind, const matrix_size& size,
                text_graph& graph) {
  fields rest(line);
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  if (!rest.take_number(row) || !rest.take_number(column) || (kind.has_values && !rest.take_real()) ||
      !rest.at_end())
    lines.refuse(kind.has_values ? "row, column and value" : "row and column", line);
  if (row < 1 || column < 1 || row > size.rows || column > size.columns)
    lines.refuse("row and column from 1 to " + std::to_string(size.rows), line);
  const edge one{static_cast<vertex_id>(row - 1), static_cast<vertex_id>(column - 1)};
  graph.edges.push_back(one);
  if (kind.symmetric && one.from != one.to) graph.edges.push_back({one.to, one.from});
}

text_graph read_matrix(text_lines& lines, std::string_view banner, const text_options& options) {
  const matrix_kind kind = read_banner(lines, banner);
  const matrix_size size = read_size(lines, options);
  text_graph graph{.format = text_format::matrix_market,
                   .vertices = size.rows,
                   .first_vertex = 1,
                   .symmetric = kind.symmetric};
  std::uint64_t entries = 0;
  teller progress(lines, options);
  for (std::string_view line; next_content(lines, line); progress.tell()) {
    if (++entries > size.entries)
      lines.refuse("the end after " + std::to_string(size.entries) + " entries", line);
    read_entry(lines, line, kind, size, graph);
  }
  if (entries < size.entries)
    lines.refuse(std::to_string(size.entries) + " entries", "the end after " + std::to_string(entries));
  return graph;
}

}  // namespace

text_graph read_text_graph(text_lines& lines, const text_options& options) {
  std::string_view line;
  const bool has_line = lines.next(line);
  const bool has_banner = has_line && line.starts_with(matrix_market_banner);
  const text_format format =
      options.format.value_or(has_banner ? text_format::matrix_market : text_format::edge_list);
  return format == text_format::matrix_market ? read_matrix(lines, line, options)
                                              : read_edge_list(lines, line, has_line, options);
}

}  // namespace sluice::graph
