// `--csv FILE`: the rows of a benchmark for spreadsheets and plots.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "tools/sluice/command.h"
#include "tools/sluice/whole_file.h"

namespace sluice::tool {

/// A whole_file of rows.
class csv_file {
 public:
  /// An empty path: no file. Throws error{bad_input} where it cannot be written, before anything is measured.
  explicit csv_file(const std::string& path);

  /// Writes a line of names and one for each of `rows`, objects with the same keys: a nested object's values
  /// as "outer.inner", lists left out. Throws error{io_failure}.
  void write(const json& rows);

 private:
  std::optional<whole_file> file_;
};

/// Adds the option.
void add_csv(CLI::App& command, std::string& path);

}  // namespace sluice::tool
