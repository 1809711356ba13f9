// `--csv FILE`: the rows of a benchmark for spreadsheets and plots.
#pragma once

#include <CLI/CLI.hpp>
#include <fstream>
#include <string>

#include "tools/sluice/command.h"

namespace sluice::tool {

/// A file that appears whole or not at all: rows go into one beside it, which takes its name at the end.
class csv_file {
 public:
  /// An empty path: no file. Throws error{bad_input} where it cannot be written, before anything is measured.
  explicit csv_file(std::string path);
  ~csv_file();
  csv_file(const csv_file&) = delete;
  csv_file& operator=(const csv_file&) = delete;

  /// Writes a line of names and one for each of `rows`, objects with the same keys: a nested object's values
  /// as "outer.inner", lists left out. Throws error{io_failure}.
  void write(const json& rows);

 private:
  std::string path_, part_;
  std::ofstream out_;
};

/// Adds the option.
void add_csv(CLI::App& command, std::string& path);

}  // namespace sluice::tool
