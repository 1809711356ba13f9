#include "tools/sluice/report_page.h"

#include <fmt/format.h>

#include "tools/sluice/html_text.h"
#include "tools/sluice/report_plots.h"
#include "tools/sluice/report_style.h"
#include "tools/sluice/report_tables.h"

namespace sluice::tool {

namespace {

std::string figure_of(const report_plot& plot) {
  return "<figure>\n" + html_element("figcaption", plot.title) + "\n" + plot.svg + plot.legend +
         (plot.note.empty() ? "" : html_element("p", plot.note)) + "</figure>\n";
}

/// The plots as a grid, counted into `page`.
std::string figures_of(const std::vector<report_plot>& plots, report_page& page) {
  if (plots.empty()) return "";
  std::string html = "<div class=\"figures\">\n";
  for (const report_plot& plot : plots) html += figure_of(plot);
  page.plots += plots.size();
  return html + "</div>\n";
}

std::string overview_row(std::size_t index, const report_result& result) {
  const auto truth = io_truth_of(result);
  return fmt::format("<tr><td><a href=\"#r{}\">{}</a></td>{}{}{}{}</tr>\n", index + 1,
                     html_text(numbered_file(index, result)), html_element("td", kind_text(result)),
                     html_element("td", headline_of(result)), html_element("td", verified_text(result)),
                     html_element("td", truth ? io_truth_text(*truth) : ""));
}

/// All results with links to their sections.
std::string overview_of(const std::vector<report_result>& results, bool has_joint) {
  std::string rows;
  for (std::size_t index = 0; index < results.size(); ++index) rows += overview_row(index, results[index]);
  return "<nav aria-label=\"contents\">\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th "
         "scope=\"col\">file</th><th scope=\"col\">what</th><th scope=\"col\">result</th><th "
         "scope=\"col\">checked</th><th scope=\"col\">I/O truth</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n" +
         (has_joint ? "<p><a href=\"#together\">Several files side by side</a></p>\n" : "") + "</nav>\n";
}

std::string section_of(std::size_t index, const report_result& result, report_page& page) {
  return fmt::format("<section id=\"r{}\">\n", index + 1) +
         html_element("h2", numbered_file(index, result) + ": " + kind_text(result)) + "\n" +
         facts_of(result) + figures_of(plots_of(result), page) + tables_of(result) + "</section>\n";
}

}  // namespace

report_page make_report_page(const std::vector<report_result>& results) {
  report_page page;
  const std::vector<report_plot> joint = joint_plots(results);
  std::string body = "<h1>Sluice report</h1>\n" + overview_of(results, !joint.empty());
  if (!joint.empty())
    body += "<section id=\"together\">\n<h2>Several files side by side</h2>\n" + figures_of(joint, page) +
            "</section>\n";
  for (std::size_t index = 0; index < results.size(); ++index)
    body += section_of(index, results[index], page);
  page.html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>Sluice report</title>\n<style>" +
      std::string(report_style) + "</style>\n</head>\n<body>\n<main>\n" + body + "</main>\n<footer>" +
      html_element("p", "Made by sluice " + version() + ".") + "</footer>\n</body>\n</html>\n";
  return page;
}

}  // namespace sluice::tool
