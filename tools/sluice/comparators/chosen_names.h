// `--comparators[=NAMES]`: which of the ways that a benchmark knows it is to be compared with.
#pragma once

#include <string>
#include <vector>

#include "tools/sluice/command.h"

namespace sluice::tool {

/// A flag that takes a value after "=", names of `known` between commas; alone it means all of them. `what`
/// for `--help`.
void add_comparator_names(CLI::App& command, const std::string& what, const std::vector<std::string>& known,
                          std::string& names);
/// Those of "a,b" in their order; "all" stands for every one of `known`.
std::vector<std::string> names_chosen(const std::string& names, const std::vector<std::string>& known);

}  // namespace sluice::tool
