#include <utility>

#include <fmt/format.h>

#include "sluice/base/sizes.h"
#include "tools/sluice/html_text.h"
#include "tools/sluice/report_tables.h"

namespace sluice::tool {

report_table& report_table::add_column(const std::string& heading, column_kind kind) {
  columns_.push_back({heading, kind});
  return *this;
}

void report_table::add_row(std::vector<std::string> cells) {
  constexpr std::size_t most_rows = 2000;
  if (rows_.size() == most_rows) {
    ++left_out_;
    return;
  }
  cells.resize(columns_.size());
  for (std::size_t at = 0; at < cells.size(); ++at) columns_[at].used |= !cells[at].empty();
  rows_.push_back(std::move(cells));
}

std::string report_table::row_html(const std::vector<std::string>& cells) const {
  constexpr std::size_t long_text = 40;
  std::string html = "<tr>";
  for (std::size_t at = 0; at < cells.size(); ++at) {
    if (!columns_[at].used) continue;
    const bool is_number = columns_[at].kind == column_kind::numbers;
    const char* as = is_number ? " class=\"n\"" : cells[at].size() > long_text ? " class=\"long\"" : "";
    html += fmt::format("<td{}>{}</td>", as, html_text(cells[at]));
  }
  return html + "</tr>\n";
}

std::string report_table::html() const {
  if (rows_.empty()) return "";
  std::string html = "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>";
  for (const column& each : columns_)
    if (each.used)
      html += fmt::format("<th scope=\"col\"{}>{}</th>",
                          each.kind == column_kind::numbers ? " class=\"n\"" : "", html_text(each.heading));
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<std::string>& cells : rows_) html += row_html(cells);
  html += "</tbody></table></div>\n";
  if (left_out_ > 0) html += "<p>" + format_grouped(left_out_) + " more rows are left out.</p>\n";
  return html;
}

}  // namespace sluice::tool
