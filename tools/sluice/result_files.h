// `--csv FILE` and `--plot FILE`: what a benchmark found, for spreadsheets and for people.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tools/sluice/command.h"
#include "tools/sluice/whole_file.h"

namespace sluice::tool {

/// Paths, each empty where there is to be no such file.
struct result_files_choice {
  std::string csv;
  std::string plot;
};

/// Files that appear whole or not at all.
class result_files {
 public:
  /// Throws error{bad_input} where one cannot be written, before anything is measured.
  explicit result_files(const result_files_choice& choice);

  /// Of `rows`, objects with the same keys, the CSV gets a line of names and one for each: a nested object's
  /// values as "outer.inner", lists left out. Of `result`, what the command prints, the page gets what
  /// `sluice report` makes of it. Throws error{io_failure}.
  void write(const json& rows, const json& result);

 private:
  std::optional<whole_file> csv_, plot_;
};

/// Adds the options.
void add_result_files(CLI::App& command, result_files_choice& choice);

}  // namespace sluice::tool
