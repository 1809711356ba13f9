// The results of a report as HTML tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/sluice/report_input.h"

namespace sluice::tool {

/// A table in a box of its own, which scrolls where the page is narrow. Columns in which nothing is said are
/// left out.
class report_table {
 public:
  /// Numbers stand at the right of their column.
  enum class column_kind : std::uint8_t { words, numbers };

  report_table& add_column(const std::string& heading, column_kind kind = column_kind::numbers);
  /// One text a column; more rows than a page shows are counted.
  void add_row(std::vector<std::string> cells);
  /// Empty where there are no rows.
  std::string html() const;

 private:
  struct column {
    std::string heading;
    column_kind kind;
    bool used = false;
  };
  std::string row_html(const std::vector<std::string>& cells) const;

  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_out_ = 0;
};

/// Everything that one result says in numbers: its rows, plans, bars, comparators.
std::string tables_of(const report_result& result);
/// Machine, version, configuration, verification, commands issued and served: a list of names and words.
std::string facts_of(const report_result& result);
/// "1.63 M commands/s": what a result comes to.
std::string headline_of(const report_result& result);
/// "verified", "not verified", or empty where nothing is said.
std::string verified_text(const report_result& result);

}  // namespace sluice::tool
