// `--comparators`: which other ways are measured beside the drives', and what comes of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/array/storage.h"
#include "tools/sluice/command.h"
#include "tools/sluice/comparators/comparator.h"
#include "tools/sluice/comparators/source.h"
#include "tools/sluice/io_bench.h"

namespace sluice::tool {

struct comparator_choice {
  std::string names;    ///< between commas, or "all"; empty: none is wanted
  std::string scratch;  ///< folder for a scratch file; empty: TMPDIR, else /tmp
};
/// `--comparators[=NAMES]` and `--scratch`.
void add_comparators(CLI::App& command, comparator_choice& choice);

/// The comparators of one run, which share its bytes from point to point.
class comparisons {
 public:
  /// Throws error{bad_input} or error{unavailable} for what can be seen not to go before anything is
  /// measured.
  comparisons(const comparator_choice& choice, lane::machine& on, storage& drives,
              const std::vector<std::string>& uris, const std::vector<io_bench_options>& points);

  /// Measures them at a point that has been measured, at `ours` blocks a second. Puts `comparators` and
  /// `comparators_missing` into its `row`; returns lines for people. Throws error{wrong_answer} for wrong
  /// bytes.
  std::string measure(const io_bench_options& point, double ours, json& row);

 private:
  std::uint32_t drives_of(const io_bench_options& point) const;
  /// The bytes of the point's drives, read once for all points that have the same.
  comparison_source& source_for(std::uint32_t drives, std::uint64_t each);
  bool needs_file() const;
  void need_room(const std::vector<io_bench_options>& points) const;

  std::vector<comparator> wanted_;
  std::string scratch_;
  std::vector<std::string> files_;  ///< of the drives, where all of them are files
  storage& storage_;
  lane::machine& on_;
  std::unique_ptr<lane::machine> aside_;  ///< of a GPU: without the emulated drives' company
  std::optional<comparison_source> source_;
};

}  // namespace sluice::tool
