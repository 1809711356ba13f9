#include "tools/sluice/report_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"
#include "tools/sluice/json_file.h"

namespace sluice::tool {

namespace {

constexpr const char* report_mend =
    "give it what sluice bench io, bench cache, graph bfs or plan printed with --json, or a file of "
    "scripts/bench-gpu.sh";

bool has_numbers(const json& object, const std::vector<const char*>& pointers) {
  return std::all_of(pointers.begin(), pointers.end(),
                     [&](const char* pointer) { return number_at(object, pointer).has_value(); });
}

bool is_bench_point(const json& object) {
  return has_numbers(object, {"/iops", "/commands_issued", "/commands_served"});
}

bool is_plan_point(const json& object) {
  return has_numbers(object, {"/queue_depth", "/drives", "/accesses_per_s"}) && object.contains("limit");
}

bool is_bars(const json& object) {
  const auto bars = object.find("bars");
  if (bars == object.end() || !bars->is_array() || !object.contains("commit")) return false;
  return std::all_of(bars->begin(), bars->end(), [](const json& bar) {
    return bar.is_object() && bar.contains("id") && has_numbers(bar, {"/value"});
  });
}

std::optional<result_kind> kind_of(const json& object) {
  if (is_bars(object)) return result_kind::bars;
  if (is_plan_point(object)) return result_kind::plan;
  if (has_numbers(object, {"/vertices", "/edges", "/edges_per_s"})) return result_kind::graph;
  if (!is_bench_point(object)) return std::nullopt;
  if (object.contains("hit_rate") && object.contains("page")) return result_kind::bench_cache;
  return number_at(object, "/config/block") ? result_kind::bench_io : result_kind::bench;
}

/// Rows are points of the same kind as the object.
bool has_sound_rows(const report_result& result) {
  const auto rows = result.object.find("rows");
  if (rows == result.object.end()) return true;
  if (!rows->is_array() || rows->empty()) return false;
  return std::all_of(rows->begin(), rows->end(), [&](const json& row) {
    return row.is_object() && (result.is_bench() ? is_bench_point(row) : is_plan_point(row));
  });
}

bool has_rows(result_kind kind) { return kind != result_kind::bars && kind != result_kind::graph; }

bool is_word(const json& value) { return value.is_primitive() && !value.is_null(); }

/// 51000000 as it is, and not as 5.1e+07.
std::string real_text(double value) {
  constexpr double most_in_full = 1e15;
  const bool whole = value == std::floor(value) && std::abs(value) < most_in_full;
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string word_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return real_text(value.get<double>());
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  return value.dump();
}

/// What `pointer` leads to, or null.
const json* at_pointer(const json& object, const std::string& pointer) {
  const json::json_pointer at(pointer);
  return object.contains(at) ? &object.at(at) : nullptr;
}

std::uint64_t whole_at(const json& object, const std::string& pointer) {
  const json* value = at_pointer(object, pointer);
  return value != nullptr && value->is_number_unsigned() ? value->get<std::uint64_t>() : 0;
}

}  // namespace

std::vector<const json*> report_result::points() const {
  if (!is_swept()) return {&object};
  std::vector<const json*> all;
  for (const json& row : object["rows"]) all.push_back(&row);
  return all;
}

bool report_result::is_bench() const {
  return kind == result_kind::bench_io || kind == result_kind::bench_cache || kind == result_kind::bench;
}

report_result read_result(const std::string& file) { return result_in(file, read_object(file, report_mend)); }

report_result result_in(const std::string& file, json object) {
  report_result result{.file = file, .object = std::move(object)};
  if (result.object.contains("error"))
    throw error(error_kind::bad_input, "'" + file + "' holds an error and no result", report_mend);
  const auto kind = kind_of(result.object);
  if (!kind)
    throw error(error_kind::bad_input, "'" + file + "' holds no result that a report shows", report_mend);
  result.kind = *kind;
  if (!has_rows(*kind)) result.object.erase("rows");
  if (!has_sound_rows(result))
    throw error(error_kind::bad_input, "the rows in '" + file + "' are no results", report_mend);
  return result;
}

std::string kind_text(const report_result& result) {
  switch (result.kind) {
    case result_kind::bench_io:
      return "bench io";
    case result_kind::bench_cache:
      return "bench cache";
    case result_kind::bench:
      return "bench";
    case result_kind::graph:
      return result.object.contains("depth_histogram") ? "graph bfs" : "graph";
    case result_kind::plan:
      return "plan";
    case result_kind::bars:
      return "bars";
  }
  return {};
}

std::optional<double> number_at(const json& object, const std::string& pointer) {
  constexpr double most = 1e18;
  constexpr double least = 1e-18;
  const json* value = at_pointer(object, pointer);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const double number = value->get<double>();
  const double size = std::abs(number);
  if (size > most || (size != 0 && size < least)) return std::nullopt;
  return number;
}

std::string words_at(const json& object, const std::string& pointer) {
  const json* value = at_pointer(object, pointer);
  if (value == nullptr) return "";
  if (is_word(*value)) return word_of(*value);
  std::string words;
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_word)) return "";
  for (const json& each : *value) words += (words.empty() ? "" : ", ") + word_of(each);
  return words;
}

std::string count_at(const json& object, const std::string& pointer) {
  const json* value = at_pointer(object, pointer);
  if (value != nullptr && value->is_number_unsigned()) return format_grouped(value->get<std::uint64_t>());
  return words_at(object, pointer);
}

std::optional<bool> verified_of(const report_result& result) {
  if (result.kind == result_kind::bars || result.kind == result_kind::plan) return std::nullopt;
  const auto points = result.points();
  return std::all_of(points.begin(), points.end(), [](const json* point) {
    const json* said = at_pointer(*point, "/verified");
    return said != nullptr && said->is_boolean() && said->get<bool>();
  });
}

std::optional<io_truth> io_truth_of(const report_result& result) {
  const bool is_graph = result.kind == result_kind::graph;
  if (!is_graph && !result.is_bench()) return std::nullopt;
  io_truth sum;
  for (const json* point : result.points()) {
    sum.issued += whole_at(*point, is_graph ? "/io/commands_issued" : "/commands_issued");
    sum.served += whole_at(*point, is_graph ? "/io/commands_served" : "/commands_served");
    sum.dropped += whole_at(*point, is_graph ? "/io/commands_dropped" : "/dropped");
  }
  return sum;
}

std::string io_truth_text(const io_truth& truth) {
  return fmt::format("{} commands issued {} {} served{}", format_grouped(truth.issued),
                     truth.holds() ? "=" : "≠", format_grouped(truth.served),
                     truth.dropped == 0 ? "" : fmt::format(" + {} dropped", format_grouped(truth.dropped)));
}

}  // namespace sluice::tool
