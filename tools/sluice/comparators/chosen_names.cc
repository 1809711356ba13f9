#include "tools/sluice/comparators/chosen_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace sluice::tool {

std::vector<std::string> names_chosen(const std::string& names, const std::vector<std::string>& known) {
  if (names == "all") return known;
  std::vector<std::string> chosen;
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) chosen.push_back(name);
  return chosen;
}

void add_comparator_names(CLI::App& command, const std::string& what, const std::vector<std::string>& known,
                          std::string& names) {
  auto look = [known](const std::string& text) -> std::string {
    for (const std::string& name : names_chosen(text, known))
      if (std::find(known.begin(), known.end(), name) == known.end())
        return fmt::format("{} not in {{{}}}", name, fmt::join(known, ","));
    return "";
  };
  command
      .add_flag("--comparators{all}", names,
                fmt::format("{}, or by =NAMES of them: {}", what, fmt::join(known, ",")))
      ->check(CLI::Validator(look, "", "comparators"));
}

}  // namespace sluice::tool
