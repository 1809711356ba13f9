// `--comparators` of the addition: which other ways are measured, and what comes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/sluice/command.h"
#include "tools/sluice/comparators/sum_comparator.h"

namespace sluice::tool {

/// `--comparators[=NAMES]`.
void add_sum_comparators(CLI::App& command, std::string& names);

class sum_comparisons {
 public:
  /// `names`: between commas, or "all"; empty: none is wanted.
  sum_comparisons(const std::string& names, lane::machine& on, const vector_add::vectors& of,
                  std::uint64_t seed, std::uint32_t trials);

  /// The same lanes over plain memory of that place, bytes a second; 0 where there is none left.
  double bare_rate(memory::place media);
  /// Measures them; `ours` in bytes a second. Puts `comparators` and `comparators_missing` into `object`;
  /// returns lines for people. Throws error{wrong_answer} for a wrong sum.
  std::string measure(double ours, json& object);

 private:
  std::vector<std::string> names_;
  std::unique_ptr<lane::machine> aside_;  ///< of a GPU: without the emulated drives' company
  lane::machine& on_;
  vector_add::vectors of_;
  std::uint64_t seed_;
  std::uint32_t trials_;
};

}  // namespace sluice::tool
