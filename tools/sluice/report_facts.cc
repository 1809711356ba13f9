// What surrounds a result's numbers: machine, version, configuration, and how far it was checked.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tools/sluice/html_text.h"
#include "tools/sluice/plot_scale.h"
#include "tools/sluice/report_bars.h"
#include "tools/sluice/report_tables.h"

namespace sluice::tool {

namespace {

std::string fact(const std::string& name, const std::string& words) {
  return words.empty() ? "" : "<dt>" + html_text(name) + "</dt><dd>" + html_text(words) + "</dd>\n";
}

/// Names may hold what a JSON pointer gives a meaning.
std::string pointer_to(const std::string& parent, const std::string& key) {
  std::string safe;
  for (const char c : key) safe += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return parent + "/" + safe;
}

/// "block 512; queues 4"
std::string pairs_of(const json& object, const std::string& key) {
  const auto held = object.find(key);
  if (held == object.end() || !held->is_object()) return "";
  std::string text;
  for (const auto& [name, value] : held->items()) {
    const std::string words = words_at(object, pointer_to("/" + key, name));
    if (!words.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", name, words);
  }
  return text;
}

std::string checked_facts(const report_result& result) {
  std::string html = fact("checked", verified_text(result));
  if (const auto truth = io_truth_of(result)) html += fact("I/O truth", io_truth_text(*truth));
  if (const auto check = plan_check_of(result.object))
    html += fact("the model's error",
                 fmt::format("{}: {} accesses/s promised, {} measured", plan_error_text(*check),
                             unit_text(check->promised, plot_unit::number),
                             unit_text(check->measured, plot_unit::number)));
  return html;
}

std::string met_text(const report_result& result) {
  const json& bars = result.object["bars"];
  const auto met =
      std::count_if(bars.begin(), bars.end(), [](const json& bar) { return words_at(bar, "/met") == "yes"; });
  return fmt::format("{} of {} bars met", met, bars.size());
}

}  // namespace

std::string facts_of(const report_result& result) {
  const json& object = result.object;
  std::string html = fact("result", headline_of(result)) + checked_facts(result);
  html += fact("machine", object.contains("machine") && object["machine"].is_object()
                              ? pairs_of(object, "machine")
                              : words_at(object, "/machine"));
  html += fact("version", words_at(object, "/version"));
  html += fact("commit", words_at(object, "/commit"));
  html += fact("date", words_at(object, "/date"));
  html += fact(result.kind == result_kind::bench_io && result.is_swept() ? "configuration of the fastest row"
                                                                         : "configuration",
               pairs_of(object, "config"));
  html += fact("file", result.file);
  return "<dl>\n" + html + "</dl>\n";
}

std::string headline_of(const report_result& result) {
  const json& object = result.object;
  const auto rate = [&object](const char* pointer) {
    const auto number = number_at(object, pointer);
    return number ? unit_text(*number, plot_unit::number) : std::string("?");
  };
  const std::string fastest = result.is_swept() ? ", the fastest row" : "";
  switch (result.kind) {
    case result_kind::bench_io:
    case result_kind::bench:
      return rate("/iops") + " commands/s" + fastest;
    case result_kind::bench_cache:
      return rate("/iops") + " accesses/s" + fastest;
    case result_kind::graph:
      return rate("/edges_per_s") + " edges/s";
    case result_kind::plan:
      return fmt::format("{} accesses/s from {} drives ({})", rate("/accesses_per_s"),
                         count_at(object, "/drives"), words_at(object, "/drive_model"));
    case result_kind::bars:
      return met_text(result);
  }
  return {};
}

std::string verified_text(const report_result& result) {
  if (result.kind == result_kind::plan)
    return plan_check_of(result.object) ? "compared with a measurement" : "planned, not measured";
  const auto verified = verified_of(result);
  if (!verified) return "";
  if (!*verified) return "not verified";
  return result.kind == result_kind::graph ? "verified against a plain reference"
                                           : "verified: every value was compared with the truth";
}

}  // namespace sluice::tool
