#include "tools/sluice/sweep.h"

#include <fmt/format.h>

#include "sluice/base/error.h"
#include "sluice/base/sizes.h"

namespace sluice::tool {

namespace {

constexpr std::size_t most_values = 1000;  // of one range

[[noreturn]] void refuse_values(const std::string& axis, const std::string& what, const std::string& mend) {
  throw error(error_kind::bad_input, "--sweep " + axis + ": " + what, mend);
}

std::uint64_t count(const std::string& axis, const std::string& word, std::uint64_t most,
                    std::uint64_t least = 1) {
  const std::uint64_t value = parse_bytes(word, "--sweep " + axis);
  if (value < least || value > most)
    refuse_values(axis, "'" + word + "' is out of range",
                  "use values from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

/// Appends the values of "A..B" or "A..B+S".
void unroll(const std::string& axis, const std::string& word, std::size_t dots, std::uint64_t most,
            std::vector<std::uint64_t>& values) {
  const std::size_t plus = word.find('+', dots);
  const std::uint64_t first = count(axis, word.substr(0, dots), most);
  const std::uint64_t last = count(axis, word.substr(dots + 2, plus - dots - 2), most);
  const std::uint64_t step = plus == std::string::npos ? 0 : count(axis, word.substr(plus + 1), most);
  if (last < first)
    refuse_values(axis, "'" + word + "' ends before it begins", "put the smaller value first");
  if (step != 0 && (last - first) / step >= most_values)
    refuse_values(axis, "'" + word + "' has more than " + std::to_string(most_values) + " values",
                  "take larger steps");
  for (std::uint64_t value = first;;) {
    values.push_back(value);
    const std::uint64_t by = step != 0 ? step : value;
    if (last - value < by) return;
    value += by;
  }
}

}  // namespace

void sweep_choice::add_to(CLI::App& command, const std::vector<std::string>& axes) {
  command
      .add_option_function<std::vector<std::string>>(
          "--sweep", [this, axes](const std::vector<std::string>& words) { take(axes, words); },
          "measure several values of an axis, as in queues, depth=16,64 or block=512..64KiB; axes: " +
              fmt::format("{}", fmt::join(axes, ",")))
      ->type_name("AXIS[=VALUES]")
      ->expected(1)
      ->take_all()
      ->delimiter(',');
}

void sweep_choice::take(const std::vector<std::string>& axes, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string axis = word.substr(0, equals);
    const bool known = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!known && equals == std::string::npos && !swept_.empty() && !swept_.back().words.empty()) {
      swept_.back().words.push_back(word);  // one more value of the axis before
      continue;
    }
    if (!known)
      throw CLI::ValidationError("--sweep", fmt::format("{} not in {{{}}}", axis, fmt::join(axes, ",")));
    if (has(axis)) throw CLI::ValidationError("--sweep", axis + " is swept twice");
    swept_.push_back({axis, {}});
    if (equals != std::string::npos) swept_.back().words.push_back(word.substr(equals + 1));
  }
}

const sweep_choice::swept* sweep_choice::find(const std::string& axis) const {
  const auto at =
      std::find_if(swept_.begin(), swept_.end(), [&](const swept& each) { return each.axis == axis; });
  return at == swept_.end() ? nullptr : &*at;
}

std::vector<std::string> sweep_choice::known_words(const std::string& axis,
                                                   const std::vector<std::string>& words,
                                                   const std::vector<std::string>& known) {
  for (const std::string& word : words)
    if (std::find(known.begin(), known.end(), word) == known.end())
      refuse_values(axis, "there is no '" + word + "'", fmt::format("use some of {}", fmt::join(known, ",")));
  return words;
}

std::vector<double> sweep_choice::shares(const std::string& axis, const std::vector<std::string>& words) {
  std::vector<double> values;
  for (const std::string& word : words) {
    values.push_back(parse_real(word, "--sweep " + axis));
    if (values.back() < 0 || values.back() > 1)
      refuse_values(axis, "'" + word + "' is no share", "use numbers from 0 to 1");
  }
  return values;
}

std::vector<std::uint64_t> sweep_choice::counts(const std::string& axis,
                                                const std::vector<std::string>& words, std::uint64_t least,
                                                std::uint64_t most) {
  std::vector<std::uint64_t> values;
  for (const std::string& word : words) {
    const std::size_t dots = word.find("..");
    if (dots == std::string::npos)
      values.push_back(count(axis, word, most, least));
    else
      unroll(axis, word, dots, most, values);
  }
  return values;
}

}  // namespace sluice::tool
