// Files that hold results: read, and recognised by their keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/sluice/command.h"

namespace sluice::tool {

enum class result_kind : std::uint8_t {
  bench_io,
  bench_cache,
  bench,  ///< another benchmark with the same keys
  graph,
  plan,
  bars,  ///< what scripts/bench-gpu.sh and scripts/bench-host.sh write
};

/// What one file holds.
struct report_result {
  std::string file;  ///< as it was named
  result_kind kind = result_kind::bench;
  json object;

  /// Its measured or planned points: those of `rows`, else the object itself.
  std::vector<const json*> points() const;
  bool is_bench() const;
  bool is_swept() const { return object.contains("rows"); }
};

/// Throws error{bad_input} where the file holds no result that a report shows.
report_result read_result(const std::string& file);
/// The same of what `file` is said to hold.
report_result result_in(const std::string& file, json object);

/// "bench io", "graph bfs": what printed it.
std::string kind_text(const report_result& result);

/// The number at a JSON pointer such as "/latency_us/p50"; none where there is none, or one of no plausible
/// size.
std::optional<double> number_at(const json& object, const std::string& pointer);
/// A text, number, true or false, or a list of them, in words; else empty.
std::string words_at(const json& object, const std::string& pointer);
/// A whole number as "1,234,567"; else as words_at().
std::string count_at(const json& object, const std::string& pointer);

/// Whether answers were compared with the truth: of all rows, where there are rows. None where nothing is
/// said.
std::optional<bool> verified_of(const report_result& result);

/// Commands that lanes put on queues, and what became of them.
struct io_truth {
  std::uint64_t issued = 0, served = 0, dropped = 0;
  bool holds() const { return issued == served + dropped; }
};
/// Of all rows together; none where a result has none.
std::optional<io_truth> io_truth_of(const report_result& result);
std::string io_truth_text(const io_truth& truth);

}  // namespace sluice::tool
